#include "fabric/pcie.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/check.h"

namespace weft::fabric {

namespace {

// First generation in flit mode (PCIe Base Spec 6.0, section 4.2.3).
constexpr int kFirstFlitGeneration = 6;

// Bytes around every packet outside flit mode: start token with sequence number 4, LCRC 4.
constexpr int kPacketFraming = 8;
// Headers: a write or read request with a 64-bit address, and a completion with data.
constexpr int kRequestHeader = 16;
constexpr int kCompletionHeader = 12;
// Flit mode: no framing per packet; a completion needs one 4 B orthogonal header word.
constexpr int kFlitCompletionHeader = 16;

struct Speed {
  std::int64_t mega_transfers;  // per second and lane, one bit each
  int payload, coded;           // line coding: payload of coded
};
Speed speed_of(int generation) {
  static constexpr std::array<Speed, kMaxPcieGeneration> kSpeeds = {{{2'500, 8, 10},
                                                                     {5'000, 8, 10},
                                                                     {8'000, 128, 130},
                                                                     {16'000, 128, 130},
                                                                     {32'000, 128, 130},
                                                                     {64'000, 236, 256},
                                                                     {128'000, 236, 256}}};
  CHECK(generation >= 1 && generation <= kMaxPcieGeneration);
  return kSpeeds[static_cast<std::size_t>(generation - 1)];
}

bool is_width(int lanes) {
  return lanes == 1 || lanes == 2 || lanes == 4 || lanes == 8 || lanes == 12 || lanes == 16;
}

// Symbols between two acknowledgements, for payloads of 128, 256, 512 and 1024 bytes and more
// (PCIe Base Spec, "Ack Transmission Latency Limit"; values as used by Neugebauer et al.,
// "Understanding PCIe performance for end host networking", SIGCOMM 2018). Widths in between take
// the row of the next narrower one that is given.
double ack_limit(int lanes, Bytes max_payload) {
  static constexpr std::array<double, 4> kX1 = {333, 512, 655, 1167};
  static constexpr std::array<double, 4> kX4 = {169, 214, 250, 378};
  static constexpr std::array<double, 4> kX8 = {163, 203, 182, 246};
  static constexpr std::array<double, 4> kX16 = {144, 168, 182, 246};
  const std::int64_t size = max_payload.count();
  const std::size_t column = size >= 1024 ? 3 : size >= 512 ? 2 : size >= 256 ? 1 : 0;
  if (lanes >= 16) return kX16[column];
  if (lanes >= 8) return kX8[column];
  return lanes >= 4 ? kX4[column] : kX1[column];
}

BitRate taxed(const LinkClass& link, Bytes payload, Bytes overhead) {
  const double efficiency = payload.to_double() / (payload + overhead).to_double();
  return link.raw_rate.scaled(efficiency * (1 - link.framing.link_layer_tax));
}

}  // namespace

PcieOptions usual_pcie_options(int generation) {
  PcieOptions options;
  if (generation >= 5) {
    options.max_payload = Bytes(512);
    options.completion = Bytes(512);
  }
  return options;
}

BitRate pcie_rate(int generation, int lanes) {
  CHECK(is_width(lanes));
  const Speed speed = speed_of(generation);
  const BitRate wire = BitRate::bits_per_second(speed.mega_transfers * 1'000'000 * lanes);
  return wire.scaled(static_cast<double>(speed.payload) / speed.coded);
}

double pcie_link_layer_tax(int generation, int lanes, Bytes max_payload) {
  if (generation >= kFirstFlitGeneration) return 0;
  // An ACK and an UpdateFC packet are 8 B each; a skip ordered set is 4 B every 1538.
  return 16 / ack_limit(lanes, max_payload) + 4.0 / 1538;
}

Bytes pcie_write_wire_bytes(Bytes payload, const Framing& framing) {
  return payload + framing.overhead * payload.pieces_of(framing.max_payload);
}

PcieReadBytes pcie_read_wire_bytes(Bytes payload, const Framing& framing) {
  return {framing.request_overhead * payload.pieces_of(framing.read_request),
          payload + framing.read_overhead * payload.pieces_of(framing.read_max_payload)};
}

BitRate pcie_write_rate(const LinkClass& link) {
  return taxed(link, link.framing.max_payload, link.framing.overhead);
}

BitRate pcie_read_rate(const LinkClass& link) {
  return taxed(link, link.framing.read_max_payload, link.framing.read_overhead);
}

BitRate pcie_tag_limited_rate(int tags, Bytes request, Duration round_trip) {
  CHECK(round_trip.ps() > 0);
  const double bytes_in_flight = tags * request.to_double();
  return BitRate::from_gigabytes_per_second(bytes_in_flight / round_trip.to_nanoseconds());
}

LinkClass pcie_link_class(int generation, int lanes, const PcieOptions& options) {
  const bool flit = generation >= kFirstFlitGeneration;
  const int framing = flit ? 0 : kPacketFraming;
  LinkClass link;
  link.kind = LinkKind::pcie;
  link.name = fmt::format("pcie{} x{}", generation, lanes);
  link.raw_rate = pcie_rate(generation, lanes);
  link.latency = options.latency;
  link.generation = generation;
  link.width = lanes;
  link.flow_control = FlowControl::credit;
  link.framing.max_payload = options.max_payload;
  link.framing.overhead = Bytes(kRequestHeader + framing);
  link.framing.read_max_payload = std::min(options.max_payload, options.completion);
  link.framing.read_overhead = Bytes(flit ? kFlitCompletionHeader : kCompletionHeader + framing);
  link.framing.read_request = options.max_read_request;
  link.framing.request_overhead = Bytes(kRequestHeader + framing);
  link.framing.link_layer_tax = pcie_link_layer_tax(generation, lanes, options.max_payload);
  return link;
}

LinkClass pcie_link_class(int generation, int lanes) {
  return pcie_link_class(generation, lanes, usual_pcie_options(generation));
}

}  // namespace weft::fabric
