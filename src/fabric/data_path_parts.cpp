#include "fabric/data_path_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/check.h"
#include "fabric/path_class.h"

namespace weft::fabric {

namespace {

struct Loss {
  bool tell = true;  // in words
  double wire_per_byte = 1;
  double reverse_wire_per_byte = 0;
  std::string words;

  template <typename Why>
  void multiply(double efficiency, Why why) {
    if (efficiency == 1) return;
    wire_per_byte /= efficiency;
    if (!tell) return;
    if (!words.empty()) words += ", ";
    words += why();
  }
};

Loss framing_loss(const Framing& framing, bool read, bool tell) {
  Loss loss;
  loss.tell = tell;
  if (framing.max_payload.count() == 0) return loss;
  const Bytes payload = read ? framing.read_max_payload : framing.max_payload;
  const Bytes overhead = read ? framing.read_overhead : framing.overhead;
  loss.wire_per_byte = (payload + overhead).to_double() / payload.to_double();
  if (tell)
    loss.words = fmt::format("{} B on each {} B {}", overhead.count(), payload.count(),
                             read ? "completion" : "write");
  const double tax = framing.link_layer_tax;
  loss.multiply(1 - tax,
                [&] { return fmt::format("{:.1f} % acknowledgements and credits", 100 * tax); });
  if (read && framing.read_request.count() > 0) {
    loss.reverse_wire_per_byte =
        framing.request_overhead.to_double() / framing.read_request.to_double() / (1 - tax);
  }
  return loss;
}

// What the mover leaves unused of a link.
void mover_loss(Loss& loss, const LinkClass& link, const LinkUse& use, const PathCosts& costs) {
  const bool sm = use.mover == Mover::sm;
  if (link.kind == LinkKind::nvlink || link.kind == LinkKind::xgmi) {
    const double efficiency = sm ? sm_nvlink_efficiency(costs, link.generation)
                                 : copy_engine_nvlink_efficiency(costs, link.generation);
    loss.multiply(efficiency, [&] {
      return fmt::format("{} reach {:.1f} %", sm ? "SMs" : "copy engines", 100 * efficiency);
    });
  }
  if (link.kind == LinkKind::c2c) {
    const double efficiency = use.read ? costs.c2c_read_efficiency : costs.c2c_write_efficiency;
    loss.multiply(efficiency,
                  [&] { return fmt::format("copies reach {:.1f} %", 100 * efficiency); });
  }
  if (link.kind == LinkKind::pcie && use.mover == Mover::copy_engine) {
    const double efficiency = costs.copy_engine_pcie_efficiency;
    loss.multiply(efficiency,
                  [&] { return fmt::format("copy engines reach {:.1f} %", 100 * efficiency); });
  }
}

}  // namespace

PathAnswer refuse(std::string why) {
  return {std::nullopt, std::move(why)};
}

DeviceId host_memory_of(const Fabric& fabric, DeviceId device) {
  if (fabric.kind(device) == DeviceKind::cpu) return device;
  DeviceId nearest;
  std::size_t shortest = SIZE_MAX;
  for (const DeviceId cpu : fabric.of_kind(DeviceKind::cpu, fabric.info(device).server)) {
    const auto chain = inner_route(fabric, device, cpu, {.use_nvlink = true, .acs = false});
    if (!chain.empty() && chain.size() < shortest) {
      shortest = chain.size();
      nearest = cpu;
    }
  }
  return nearest;
}

PathBuilder::PathBuilder(const Fabric& fabric, const PathCosts& costs, const PathQuery& query,
                         Via via)
    : fabric_(fabric), costs_(costs), words_(query.words) {
  path_.source = query.source;
  path_.destination = query.destination;
  path_.via = via;
}

void PathBuilder::begin_leg(Mover mover, std::string what, Duration overhead) {
  Leg leg;
  leg.mover = mover;
  leg.what = std::move(what);
  leg.overhead = overhead;
  path_.legs.push_back(std::move(leg));
}

void PathBuilder::add_part(std::string name, Duration time) {
  if (time.ps() == 0) return;
  path_.parts.push_back({words_ ? std::move(name) : std::string(), time});
}

void PathBuilder::cap_leg(BitRate rate, std::string reason) {
  Leg& leg = path_.legs.back();
  if (leg.cap && *leg.cap <= rate) return;
  leg.cap = rate;
  leg.cap_reason = std::move(reason);
}

// What the device at the far end of `into` adds; zero when it does not forward. A class that states
// no latency takes the constant of its kind.
Duration forwarding_time(const Fabric& fabric, const PathCosts& costs, LinkId into) {
  const DeviceClass& device = fabric.device_class(fabric.to(into));
  if (device.forwarding_latency.ps() > 0) return device.forwarding_latency;
  if (is_card_slot(device)) return {};
  switch (device.kind) {
    case DeviceKind::pcie_switch:
      return costs.pcie_switch_forwarding;
    case DeviceKind::host_bridge:
      return costs.host_bridge_forwarding;
    case DeviceKind::nvswitch:
      return costs.nvswitch_forwarding;
    case DeviceKind::network_switch:
    case DeviceKind::gateway:
      return fabric.link_class(into).kind == LinkKind::infiniband
                 ? costs.infiniband_switch_forwarding
                 : costs.ethernet_switch_forwarding;
    default:
      return {};
  }
}

Hop PathBuilder::make_hop(LinkId link, const LinkUse& use, bool after_bridge) const {
  const LinkClass& c = fabric_.link_class(link);
  Loss loss = framing_loss(c.framing, use.read, words_);
  mover_loss(loss, c, use, costs_);
  if (c.kind == LinkKind::pcie && use.peer && after_bridge) {
    loss.multiply(costs_.intel_peer_split,
                  [] { return "the host bridge splits peer packets into 64 B"; });
  }
  if (c.kind == LinkKind::inter_socket && use.peer && c.peer_rate.bps() > 0) {
    const double left = c.peer_rate.gbps() / c.raw_rate.gbps();
    loss.multiply(std::min(left, 1.0), [&] {
      return fmt::format("peer traffic gets {} of it", to_text_bytes(c.peer_rate));
    });
  }
  Hop hop;
  hop.link = link;
  hop.raw = c.raw_rate;
  hop.wire_per_byte = loss.wire_per_byte * use.share;
  hop.reverse_wire_per_byte = loss.reverse_wire_per_byte * use.share;
  hop.effective = c.raw_rate.scaled(1 / hop.wire_per_byte);
  hop.latency = c.latency;
  if (c.kind == LinkKind::inter_socket && c.latency.ps() == 0) {
    hop.latency = costs_.remote_numa_extra;
  }
  hop.lost_to = std::move(loss.words);
  hop.stripe = use.stripe;
  return hop;
}

void PathBuilder::add_links(std::span<const LinkId> links, const LinkUse& use) {
  bool after_bridge = false;
  for (std::size_t i = 0; i < links.size(); ++i) {
    Hop hop = make_hop(links[i], use, after_bridge);
    const Duration through = i + 1 < links.size() ? forwarding(links[i]) : Duration();
    if (use.stripe == 0) {  // parallel chains run at once: the first one's latency counts
      add_part(text([&] { return fabric_.link_name(links[i]); }), hop.latency);
      add_part(
          text([&] { return fmt::format("{} forwarding", fabric_.name(fabric_.to(links[i]))); }),
          through);
    }
    hop.latency += through;
    path_.legs.back().hops.push_back(std::move(hop));
    const DeviceClass& head = fabric_.device_class(fabric_.to(links[i]));
    if (head.kind == DeviceKind::host_bridge && head.splits_p2p_tlps) after_bridge = true;
  }
}

Duration PathBuilder::crossing_time(std::span<const LinkId> links) const {
  Duration total;
  for (std::size_t i = 0; i < links.size(); ++i) {
    total += make_hop(links[i], {}, false).latency;
    if (i + 1 < links.size()) total += forwarding(links[i]);
  }
  return total;
}

void PathBuilder::add_crossing(std::string name, std::span<const LinkId> links) {
  add_part(std::move(name), crossing_time(links));
}

void PathBuilder::add_read(std::span<const LinkId> links, LinkUse use, std::string memory,
                           Duration access) {
  use.read = true;
  const Duration one_way = crossing_time(links);
  add_part("read request", one_way);
  add_part(std::move(memory), access);
  add_links(links, use);
  // Reads in flight: the smallest request on the way times the tags, over one round trip.
  Bytes request;
  for (const LinkId link : links) {
    const Bytes here = fabric_.link_class(link).framing.read_request;
    if (here.count() > 0 && (request.count() == 0 || here < request)) request = here;
  }
  const Duration round_trip = one_way + one_way + access;
  if (request.count() == 0 || round_trip.ps() == 0) return;
  const double bytes = costs_.pcie_read_tags * request.to_double();
  const BitRate bound = BitRate::from_gigabytes_per_second(bytes / round_trip.to_nanoseconds());
  if (bound < path_.legs.back().rate()) {
    cap_leg(bound, text([&] {
              return fmt::format("{} reads of {} B in flight over {}", costs_.pcie_read_tags,
                                 request.count(), to_text(round_trip));
            }));
  }
}

void PathBuilder::add_network(std::span<const LinkId> links, Bytes payload, Bytes overhead) {
  for (std::size_t i = 0; i < links.size(); ++i) {
    const LinkClass& c = fabric_.link_class(links[i]);
    Hop hop;
    hop.link = links[i];
    hop.raw = c.raw_rate;
    hop.wire_per_byte = (payload + overhead).to_double() / payload.to_double();
    hop.effective = c.raw_rate.scaled(1 / hop.wire_per_byte);
    hop.lost_to = text(
        [&] { return fmt::format("{} B on each {} B packet", overhead.count(), payload.count()); });
    const Duration through = i + 1 < links.size() ? forwarding(links[i]) : Duration();
    hop.latency = c.latency + through;
    add_part(text([&] { return fabric_.link_name(links[i]); }), c.latency);
    add_part(text([&] { return fmt::format("{} switching", fabric_.name(fabric_.to(links[i]))); }),
             through);
    path_.legs.back().hops.push_back(std::move(hop));
  }
}

namespace {

// Raw-rate bytes per payload byte that directed links carry for all legs together. Paths are short:
// a list searched from its front.
class LinkLoads {
 public:
  explicit LinkLoads(std::span<const Leg> legs) {
    std::size_t hops = 0;
    for (const Leg& leg : legs) hops += leg.hops.size();
    loads_.reserve(2 * hops);
    for (const Leg& leg : legs) {
      for (const Hop& hop : leg.hops) {
        of(hop.link) += hop.wire_per_byte;
        if (hop.reverse_wire_per_byte > 0) of(reverse(hop.link)) += hop.reverse_wire_per_byte;
      }
    }
  }
  double& of(LinkId link) {
    for (auto& [known, load] : loads_) {
      if (known == link) return load;
    }
    return loads_.emplace_back(link, 0.0).second;
  }

 private:
  std::vector<std::pair<LinkId, double>> loads_;
};

struct Narrowest {
  LinkId link;
  BitRate rate = BitRate::bits_per_second(INT64_MAX);
};
Narrowest narrowest_link(std::span<const Leg> legs) {
  LinkLoads loads(legs);
  Narrowest narrowest;
  for (const Leg& leg : legs) {
    for (const Hop& hop : leg.hops) {
      const BitRate rate = std::min(hop.effective, hop.raw.scaled(1 / loads.of(hop.link)));
      if (rate < narrowest.rate) narrowest = {hop.link, rate};
    }
  }
  return narrowest;
}

Duration transfer_time(Bytes size, BitRate rate) {
  if (rate.bps() == INT64_MAX) return {};
  return Duration::from_seconds(size.to_double() / rate.bytes_per_second());
}

}  // namespace

BitRate Leg::rate() const {
  const BitRate links = narrowest_link({this, 1}).rate;
  return cap ? std::min(links, *cap) : links;
}

// Chunks through the legs as a flow shop: `whole` equal chunks and one smaller last one. Where legs
// share a link, the link's own time per chunk can be the bottleneck.
Duration DataPath::time(Bytes n) const {
  Duration fixed = latency;
  for (const Leg& leg : legs) fixed -= leg.overhead;
  const Bytes piece = chunk.count() > 0 && chunk < n ? chunk : n;
  const std::int64_t chunks = n.count() > 0 ? n.pieces_of(piece) : 1;
  const Bytes last = n - piece * (chunks - 1);

  Duration first_through, slowest, done;  // after the whole chunks: F of each leg in turn
  Duration whole_serial, last_serial;
  for (const Leg& leg : legs) {
    const BitRate rate = leg.rate();
    const Duration whole = transfer_time(piece, rate) + leg.overhead;
    const Duration ending = transfer_time(last, rate) + leg.overhead;
    first_through += whole;
    slowest = std::max(slowest, whole);
    whole_serial += whole;
    last_serial += ending;
    const Duration before = chunks > 1 ? first_through + slowest * (chunks - 2) : Duration();
    done = std::max(before, done) + ending;
  }
  if (slots == 1) return fixed + whole_serial * (chunks - 1) + last_serial;
  const Duration shared = transfer_time(piece, narrowest_link(legs).rate);
  return fixed + std::max(done, last_serial + shared * (chunks - 1));
}

void PathBuilder::find_limit() {
  DataPath& p = path_;
  const Narrowest links = narrowest_link(p.legs);
  p.bandwidth = links.rate;
  p.narrowest = links.link;
  if (words_ && links.link.valid()) {
    p.limit = fmt::format("{} at {}", fabric_.link_name(links.link),
                          to_text_bytes(fabric_.link_class(links.link).raw_rate));
  }
  for (const Leg& leg : p.legs) {
    BitRate rate = leg.rate();
    const bool capped = leg.cap && *leg.cap <= rate;
    std::string why = text([&] {
      return capped ? leg.cap_reason
                    : fmt::format("{} at {}", fabric_.link_name(narrowest_link({&leg, 1}).link),
                                  to_text_bytes(rate));
    });
    if (p.chunk.count() > 0 && leg.overhead.ps() > 0) {
      const Duration each = transfer_time(p.chunk, rate) + leg.overhead;
      rate = BitRate::from_gigabytes_per_second(p.chunk.to_double() / each.to_nanoseconds());
      why += text([&] {
        return fmt::format(" and {} for each {} chunk", to_text(leg.overhead), to_text(p.chunk));
      });
    }
    if (rate >= p.bandwidth) continue;
    p.bandwidth = rate;
    p.narrowest = capped ? LinkId() : narrowest_link({&leg, 1}).link;
    p.limit = std::move(why);
  }
}

PathAnswer PathBuilder::finish() {
  find_limit();
  for (const LatencyPart& part : path_.parts) path_.latency += part.time;
  CHECK(path_.bandwidth.bps() > 0);
  return {std::move(path_), {}};
}

}  // namespace weft::fabric
