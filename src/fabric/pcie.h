// PCI Express in closed form: what lanes and generation give, what packet headers and link-layer
// packets take, and how far outstanding reads can fill the link. Model and limits:
// docs/models/pcie.md. Only what the standard fixes is here (coding, header sizes); the size
// limits a platform chooses are arguments. Leaves out: retimers, error recovery, power states.
// Source: PCI Express Base Specification 5.0 (chapters 2 to 4) and 6.0 (flit mode).
#pragma once

#include "base/units.h"
#include "fabric/classes.h"

namespace weft::fabric {

inline constexpr int kMaxPcieGeneration = 7;
inline constexpr int kMaxPcieLanes = 16;

// What firmware sets on a platform. All sizes are powers of two from 128 to 4096 bytes.
struct PcieOptions {
  Bytes max_payload{256};       // MPS: payload of one write packet
  Bytes max_read_request{512};  // MRRS: payload one read request asks for
  Bytes completion{256};        // payload of one read completion, at most max_payload
  Duration latency = Duration::nanoseconds(25);  // both PHYs and the trace, one way
};
// What servers of that generation usually run: 256 B up to generation 4, 512 B from 5 on.
PcieOptions usual_pcie_options(int generation);

// One direction after line coding, all lanes: generation 5 x16 is 63.015 GB/s. For flit mode
// (generation 6 on) the rate of the bytes that packets may use, 236 of every 256.
BitRate pcie_rate(int generation, int lanes);

// Share of the rate taken by ACK, credit and skip symbols: 8/AckLimit + 8/UpdateFC + 4/1538, with
// both limits from the specification's table by width and payload. 0 in flit mode, where they have
// their own bytes in every flit.
double pcie_link_layer_tax(int generation, int lanes, Bytes max_payload);

// Wire bytes that `payload` bytes take.
Bytes pcie_write_wire_bytes(Bytes payload, const Framing& framing);
struct PcieReadBytes {
  Bytes requests;     // requester to completer
  Bytes completions;  // completer to requester
};
PcieReadBytes pcie_read_wire_bytes(Bytes payload, const Framing& framing);

// Payload rate of an endless stream, link-layer tax included.
BitRate pcie_write_rate(const LinkClass& link);
BitRate pcie_read_rate(const LinkClass& link);
// `tags` reads of `request` bytes in flight, each `round_trip` long: the link can be faster.
BitRate pcie_tag_limited_rate(int tags, Bytes request, Duration round_trip);

// REQUIRES 1 <= generation <= 7 and lanes one of 1, 2, 4, 8, 12, 16.
LinkClass pcie_link_class(int generation, int lanes, const PcieOptions& options);
LinkClass pcie_link_class(int generation, int lanes);  // with usual_pcie_options

}  // namespace weft::fabric
