#include "engine/path_table.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/check.h"

namespace weft::engine {

namespace {

constexpr std::uint32_t kNone = 0xffffffffu;
constexpr double kUnlimited = std::numeric_limits<double>::infinity();

std::optional<std::uint32_t> port_of(const fabric::Fabric& fabric, fabric::LinkId link) {
  const auto links = fabric.out_links(fabric.from(link));
  for (std::uint32_t port = 0; port < links.size(); ++port)
    if (links[port] == link) return port;
  return std::nullopt;
}

// Share of NVLink's payload rate that the mover reaches; 1 where all that is spent is on the wire.
double mover_efficiency(const fabric::LinkClass& link, fabric::Mover mover,
                        const fabric::PathCosts& costs) {
  if (link.kind != fabric::LinkKind::nvlink && link.kind != fabric::LinkKind::xgmi) return 1;
  if (mover == fabric::Mover::sm) return fabric::sm_nvlink_efficiency(costs, link.generation);
  if (mover == fabric::Mover::copy_engine)
    return fabric::copy_engine_nvlink_efficiency(costs, link.generation);
  return 1;
}

// The least of the legs' own caps, or of the path's bandwidth when that lies below every hop and
// cap (a staging pipeline short of buffers).
void set_cap(const fabric::DataPath& path, PathPattern& pattern) {
  pattern.cap = kUnlimited;
  double narrowest = kUnlimited;
  for (const fabric::Leg& leg : path.legs) {
    for (const fabric::Hop& hop : leg.hops)
      narrowest = std::min(narrowest, hop.effective.bytes_per_second());
    if (leg.cap && leg.cap->bytes_per_second() < pattern.cap) {
      pattern.cap = leg.cap->bytes_per_second();
      pattern.cap_reason = leg.cap_reason;
    }
  }
  const double bandwidth = path.bandwidth.bytes_per_second();
  if (bandwidth > 0 && bandwidth < std::min(narrowest, pattern.cap) * (1 - 1e-6)) {
    pattern.cap = bandwidth;
    pattern.cap_reason = path.limit;
  }
}

}  // namespace

double framing_factor(const fabric::LinkClass& link) {
  const fabric::Framing& framing = link.framing;
  if (framing.max_payload.count() == 0) return 1;
  return 1 + framing.overhead.to_double() / framing.max_payload.to_double();
}

Duration PathPattern::fill_time(Bytes size) const {
  if (sample.chunk.count() == 0 || sample.bandwidth.bps() == 0) return {};
  const Duration steady =
      Duration::from_seconds(size.to_double() / sample.bandwidth.bytes_per_second());
  return std::max(Duration(), sample.time(size) - sample.latency - steady);
}

PathTable::PathTable(const fabric::Fabric& fabric, const routing::Routes& routes,
                     fabric::PathCosts costs)
    : fabric_(&fabric),
      routes_(&routes),
      costs_(std::move(costs)),
      server_shape_(fabric.server_count(), kNone) {}

bool PathTable::same_shape(fabric::ServerId a, fabric::ServerId b) const {
  const auto left = fabric_->devices_of(a);
  const auto right = fabric_->devices_of(b);
  if (left.last - left.first != right.last - right.first) return false;
  for (std::uint32_t i = 0; i < left.last - left.first; ++i) {
    const fabric::DeviceId x(std::size_t{left.first} + i);
    const fabric::DeviceId y(std::size_t{right.first} + i);
    const fabric::DeviceInfo& p = fabric_->info(x);
    const fabric::DeviceInfo& q = fabric_->info(y);
    const auto from_x = fabric_->out_links(x);
    const auto from_y = fabric_->out_links(y);
    if (p.device_class != q.device_class || p.numa != q.numa || p.acs_redirect != q.acs_redirect ||
        from_x.size() != from_y.size())
      return false;
    for (std::size_t port = 0; port < from_x.size(); ++port) {
      const fabric::DeviceId to_x = fabric_->to(from_x[port]);
      const fabric::DeviceId to_y = fabric_->to(from_y[port]);
      const bool inner_x = fabric_->info(to_x).server == a;
      const bool inner_y = fabric_->info(to_y).server == b;
      if (fabric_->link_class_id(from_x[port]) != fabric_->link_class_id(from_y[port]) ||
          inner_x != inner_y || (inner_x && to_x.value - left.first != to_y.value - right.first))
        return false;
    }
  }
  return true;
}

std::uint32_t PathTable::shape_of(fabric::ServerId server) {
  std::uint32_t& shape = server_shape_[server.index()];
  if (shape != kNone) return shape;
  for (std::uint32_t i = 0; i < shapes_.size() && shape == kNone; ++i)
    if (same_shape(shapes_[i], server)) shape = i;
  if (shape == kNone) {
    shape = static_cast<std::uint32_t>(shapes_.size());
    shapes_.push_back(server);
  }
  return shape;
}

std::uint32_t PathTable::base_of(fabric::DeviceId device) const {
  const fabric::ServerId server = fabric_->info(device).server;
  return server.valid() ? fabric_->devices_of(server).first : 0;
}

PathTable::Key PathTable::key_of(const Connection& c) {
  const auto shape = [this](fabric::DeviceId device) {
    const fabric::ServerId server = fabric_->info(device).server;
    return server.valid() ? shape_of(server) : kNone;
  };
  const auto place = [this](std::optional<fabric::DeviceId> device) {
    return device ? device->value - base_of(*device) : kNone;
  };
  const bool same_server = fabric_->info(c.source).server == fabric_->info(c.destination).server;
  const auto ways = (static_cast<std::uint32_t>(c.via) << 8) |
                    (static_cast<std::uint32_t>(c.mover) << 1) | (same_server ? 1u : 0u);
  return {shape(c.source),
          place(c.source),
          shape(c.destination),
          place(c.destination),
          place(c.source_nic),
          place(c.destination_nic),
          ways};
}

bool PathTable::resolve(const Connection& connection, Resolved& out) {
  const Key key = key_of(connection);
  const auto known = patterns_.find(key);
  if (known != patterns_.end() && known->second.shareable &&
      stamp(known->second, connection, out)) {
    out.pattern = &known->second;
    return true;
  }
  if (const auto refused = refusals_.find(key); refused != refusals_.end()) {
    refusal_ = refused->second;
    return false;
  }
  return query(connection, key, out);
}

bool PathTable::stamp(const PathPattern& pattern, const Connection& connection, Resolved& out) {
  out.shares.clear();
  out.latency = pattern.local_latency;
  return stamp_local(pattern.before, connection, out) &&
         (!pattern.crosses_network || stamp_network(pattern, connection, out)) &&
         stamp_local(pattern.after, connection, out);
}

bool PathTable::stamp_local(const std::vector<PathPattern::LocalHop>& hops,
                            const Connection& connection, Resolved& out) const {
  const std::uint32_t source = base_of(connection.source);
  const std::uint32_t destination = base_of(connection.destination);
  fabric::DeviceId end;  // of the hop before
  for (const PathPattern::LocalHop& hop : hops) {
    const fabric::DeviceId device(std::size_t{hop.at_destination ? destination : source} +
                                  hop.device);
    const auto links = fabric_->out_links(device);
    if (hop.port >= links.size()) return false;
    const fabric::LinkId link = hop.reversed ? fabric::reverse(links[hop.port]) : links[hop.port];
    if (hop.joined && fabric_->from(link) != end) return false;
    end = fabric_->to(link);
    emit(link, hop, out.shares);
  }
  return true;
}

bool PathTable::stamp_network(const PathPattern& pattern, const Connection& connection,
                              Resolved& out) {
  const fabric::DeviceId from_nic(std::size_t{base_of(connection.source)} + pattern.source_nic);
  const fabric::DeviceId to_nic(std::size_t{base_of(connection.destination)} +
                                pattern.destination_nic);
  spread_.clear();
  if (routes_->spreads()) {
    if (!routes_->spread(from_nic, to_nic, connection.entropy, spread_)) return false;
  } else {
    route_.clear();
    if (!routes_->path(from_nic, to_nic, connection.entropy, route_)) return false;
    for (const fabric::LinkId link : route_) spread_.push_back({link, 1});
  }
  for (const auto& [link, fraction] : spread_) {
    const auto cost = network_cost(pattern, link);
    if (!cost) return false;
    out.shares.push_back({link, cost->spent * fraction, cost->spent * fraction});
    out.latency += fraction == 1 ? cost->latency : cost->latency.scaled(fraction);
  }
  return true;
}

// What the pattern has learned of links of this class. A spread meets classes that the one path
// which was learned from did not: packets of a connection cost every network link the same bytes.
std::optional<PathPattern::NetworkHop> PathTable::network_cost(const PathPattern& pattern,
                                                               fabric::LinkId link) const {
  const auto link_class = fabric_->link_class_id(link);
  const fabric::DeviceId far = fabric_->to(link);
  const auto far_class = fabric_->info(far).device_class;
  for (const PathPattern::NetworkHop& hop : pattern.network) {
    if (hop.link_class == link_class && hop.far_class == far_class) return hop;
  }
  if (!routes_->spreads() || pattern.network.empty()) return std::nullopt;
  const Duration latency =
      fabric_->link_class(link).latency + fabric::forwarding_time(*fabric_, costs_, link);
  return PathPattern::NetworkHop{link_class, far_class, pattern.network.front().spent, latency};
}

PathPattern::LocalHop PathTable::cost_of(const fabric::Hop& hop, fabric::Mover mover) const {
  PathPattern::LocalHop cost;
  cost.spent = hop.wire_per_byte;
  cost.wire = hop.wire_per_byte * mover_efficiency(fabric_->link_class(hop.link), mover, costs_);
  cost.reverse = hop.reverse_wire_per_byte;
  return cost;
}

void PathTable::emit(fabric::LinkId link, const PathPattern::LocalHop& cost,
                     std::vector<LinkShare>& shares) const {
  shares.push_back({link, cost.spent, cost.wire});
  if (cost.reverse > 0) shares.push_back({fabric::reverse(link), cost.reverse, cost.reverse});
}

// The links of the path that the pattern was learned from, in order; its network links are spread
// where the routing policy says so.
void PathTable::fill_from_sample(const PathPattern& pattern, const Connection& c, Resolved& out) {
  const bool spreads = pattern.crosses_network && routes_->spreads();
  bool in_network = false;
  out.shares.clear();
  out.latency = spreads ? pattern.local_latency : pattern.sample.latency;
  for (const fabric::Leg& leg : pattern.sample.legs) {
    for (const fabric::Hop& hop : leg.hops) {
      if (!spreads || !fabric::is_network(fabric_->link_class(hop.link).kind)) {
        emit(hop.link, cost_of(hop, leg.mover), out.shares);
      } else if (!std::exchange(in_network, true)) {
        CHECK(stamp_network(pattern, c, out));
      }
    }
  }
}

bool PathTable::query(const Connection& c, const Key& key, Resolved& out) {
  const fabric::NetworkRoute route =
      [this](fabric::DeviceId from, fabric::DeviceId to, std::uint64_t entropy,
             std::vector<fabric::LinkId>& links) { routes_->path(from, to, entropy, links); };
  fabric::PathAnswer answer = fabric::find_data_path(
      *fabric_, costs_, route,
      {c.source, c.destination, c.via, c.mover, c.source_nic, c.destination_nic, c.entropy});
  if (!answer.path) {
    refusal_ = answer.refusal;
    if (fabric_->info(c.source).server == fabric_->info(c.destination).server)
      refusals_.emplace(key, refusal_);
    return false;
  }
  PathPattern pattern = learn(c, std::move(*answer.path));
  fill_from_sample(pattern, c, out);
  const auto known = patterns_.find(key);
  if (known == patterns_.end()) {
    out.pattern = &patterns_.emplace(key, std::move(pattern)).first->second;
    return true;
  }
  // The stamp did not fit: serve this pair alone, but learn network links not met before.
  for (const PathPattern::NetworkHop& hop : pattern.network) {
    auto& hops = known->second.network;
    if (std::none_of(hops.begin(), hops.end(), [&](const PathPattern::NetworkHop& other) {
          return other.link_class == hop.link_class && other.far_class == hop.far_class;
        }))
      hops.push_back(hop);
  }
  one_off_ = std::move(pattern);
  out.pattern = &one_off_;
  return true;
}

PathPattern PathTable::learn(const Connection& connection, fabric::DataPath path) const {
  PathPattern pattern;
  pattern.local_latency = path.latency;
  set_cap(path, pattern);
  for (const fabric::Leg& leg : path.legs) {
    for (const fabric::Hop& hop : leg.hops) {
      if (!fabric::is_network(fabric_->link_class(hop.link).kind)) {
        learn_local(connection, hop, leg.mover,
                    pattern.crosses_network ? pattern.after : pattern.before, pattern);
        continue;
      }
      if (!pattern.crosses_network)
        pattern.source_nic = fabric_->from(hop.link).value - base_of(connection.source);
      pattern.crosses_network = true;
      pattern.destination_nic = fabric_->to(hop.link).value - base_of(connection.destination);
      pattern.local_latency -= hop.latency;
      pattern.network.push_back({fabric_->link_class_id(hop.link),
                                 fabric_->info(fabric_->to(hop.link)).device_class,
                                 hop.wire_per_byte, hop.latency});
    }
  }
  pattern.sample = std::move(path);
  return pattern;
}

void PathTable::learn_local(const Connection& connection, const fabric::Hop& hop,
                            fabric::Mover mover, std::vector<PathPattern::LocalHop>& hops,
                            PathPattern& pattern) const {
  const fabric::ServerId source = fabric_->info(connection.source).server;
  const fabric::ServerId destination = fabric_->info(connection.destination).server;
  PathPattern::LocalHop local = cost_of(hop, mover);
  fabric::DeviceId end = fabric_->from(hop.link);
  fabric::ServerId server = fabric_->info(end).server;
  if (!server.valid() || (server != source && server != destination)) {
    local.reversed = true;
    end = fabric_->to(hop.link);
    server = fabric_->info(end).server;
  }
  const auto port = port_of(*fabric_, local.reversed ? fabric::reverse(hop.link) : hop.link);
  if (!server.valid() || (server != source && server != destination) || !port) {
    pattern.shareable = false;
    return;
  }
  local.at_destination = server != source;
  local.device = end.value - base_of(end);
  local.port = *port;
  if (!hops.empty()) {
    // Recover the link before, to know whether this one starts where it ended.
    const PathPattern::LocalHop& last = hops.back();
    const fabric::DeviceId device(
        std::size_t{base_of(last.at_destination ? connection.destination : connection.source)} +
        last.device);
    const fabric::LinkId out = fabric_->out_links(device)[last.port];
    const fabric::LinkId link = last.reversed ? fabric::reverse(out) : out;
    local.joined = fabric_->to(link) == fabric_->from(hop.link);
  }
  hops.push_back(local);
}

}  // namespace weft::engine
