// What can be set about the packet engine, as plain data. Defaults are those of the RoCEv2 stack on
// Ethernet switches; sources stand at each value and in docs/models/packet_engine.md.
#pragma once

#include <optional>

#include "base/units.h"

namespace weft::engine {

struct PacketOptions {
  std::uint64_t seed = 1;
  // Bytes a sender may have unacknowledged, in bandwidth-delay products of its path without queues.
  double window = 2.0;
  int ack_every = 4;   // packets; the last of a message is acknowledged at once
  Bytes ack_size{86};  // on the wire, preamble and gap included: RoCEv2 ACK
  // RED: marks from mark_from on with a probability that grows to mark_probability at mark_all.
  // Given for 100 Gb/s and scaled with the rate of the link. Absent: no marks.
  std::optional<Bytes> mark_from, mark_all;
  double mark_probability = 0.2;
  std::optional<Bytes> queue_limit;  // of each switch port; absent: none, nothing is dropped
  Duration retransmission_timeout = Duration::milliseconds(4);
};

}  // namespace weft::engine
