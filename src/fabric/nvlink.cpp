#include "fabric/nvlink.h"

#include <fmt/format.h>

#include <array>

#include "base/check.h"

namespace weft::fabric {

namespace {

constexpr int kHeaderFlit = 16;
constexpr int kMaxDataFlits = 16 * 16;

// Gb/s of one link and direction. Stated: the architecture papers (20, 25, 25, 25, 50 GB/s; the
// sixth generation as announced). Wire: lanes x symbol rate, as nvidia-smi shows it, and for the
// sixth the fifth's ratio. Up to A100 the stated figure is the wire's own; from H100 on it is the
// payload's.
struct Rates {
  double stated_gbps, wire_gbps;
};
Rates rates_of(int generation) {
  static constexpr std::array<Rates, kMaxNvlinkGeneration> kRates = {
      {{160, 160}, {200, 206.25}, {200, 200}, {200, 212.5}, {400, 425}, {400, 425}}};
  CHECK(generation >= 1 && generation <= kMaxNvlinkGeneration);
  return kRates[static_cast<std::size_t>(generation - 1)];
}

}  // namespace

BitRate nvlink_wire_rate(int generation) {
  return BitRate::from_gigabits_per_second(rates_of(generation).wire_gbps);
}

BitRate nvlink_stated_rate(int generation) {
  return BitRate::from_gigabits_per_second(rates_of(generation).stated_gbps);
}

BitRate nvlink_payload_rate(int generation) {
  constexpr double kEfficiency = static_cast<double>(kMaxDataFlits) / (kMaxDataFlits + kHeaderFlit);
  return nvlink_wire_rate(generation).scaled(kEfficiency);
}

LinkClass nvlink_link_class(int generation, int links) {
  LinkClass one;
  one.kind = LinkKind::nvlink;
  one.raw_rate = nvlink_wire_rate(generation);
  one.latency = Duration::nanoseconds(25);  // PHY and trace; see docs/models/nvlink.md
  one.framing.max_payload = Bytes(kMaxDataFlits);
  one.framing.overhead = Bytes(kHeaderFlit);
  one.framing.read_max_payload = Bytes(kMaxDataFlits);
  one.framing.read_overhead = Bytes(kHeaderFlit);
  one.flow_control = FlowControl::credit;
  one.generation = generation;
  one.name = fmt::format("nvlink{}", generation);
  return bundled(one, links);
}

LinkClass bundled(const LinkClass& one, int links) {
  CHECK(links >= 1);
  LinkClass all = one;
  all.raw_rate = one.raw_rate * links;
  all.peer_rate = one.peer_rate * links;
  all.buffer = one.buffer * links;
  all.width = one.width * links;
  all.name = fmt::format("{} x{}", one.name, all.width);
  return all;
}

LinkClass inter_socket_link_class(const LinkClass& one, int links, BitRate peer_rate) {
  LinkClass all = bundled(one, links);
  all.kind = LinkKind::inter_socket;
  all.peer_rate = peer_rate;
  return all;
}

}  // namespace weft::fabric
