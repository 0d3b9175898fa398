// What the packet engine tells an observer, packet by packet, and what it counts over a whole run.
// A link here is one of the fabric; where the engine runs a chain of links that nothing else shares
// as one, the chain goes by its link of the network, or by its last link inside a server.
#pragma once

#include <cstdint>

#include "fabric/fabric.h"
#include "work/work.h"

namespace weft::result {

// Totals of a run; every packet counts once, however many links it crosses.
struct PacketCounters {
  std::uint64_t sent = 0;           // data packets, sent again included
  std::uint64_t retransmitted = 0;  // of those
  std::uint64_t acks = 0, nacks = 0;
  std::uint64_t notifications = 0;  // congestion notification packets (CNP)
  std::uint64_t marks = 0;          // data packets that a queue marked (ECN, FECN)
  std::uint64_t drops = 0;
  std::uint64_t timeouts = 0;
  std::uint64_t pauses = 0;        // PFC frames that stop a link
  std::uint64_t credit_waits = 0;  // times that a packet found too few credits
  std::uint64_t peak_packets = 0;  // in flight at once
};

// A flow of packets: a transfer, or a message of a collective, on one queue pair.
struct PacketFlow {
  std::uint32_t flow = 0;     // counted from 0 as flows begin
  fabric::DeviceId from, to;  // NICs; invalid when it stays inside a server
  std::uint32_t packets = 0;
  std::uint32_t payload = 0, last_payload = 0;  // bytes of a full packet, and of the last one
};

enum class PacketKind : std::uint8_t { data, ack, nack, notification };

struct SeenPacket {
  fabric::LinkId link;
  PacketKind kind = PacketKind::data;
  std::uint32_t flow = 0;
  // Data: its number in the flow, from 0. The others, which travel the other way: the one expected.
  std::uint32_t sequence = 0;
  std::uint32_t wire_bytes = 0;
  bool congestion = false;  // ECN CE or FECN is set
  bool urges_ack = false;   // asks to be acknowledged at once
  bool again = false;       // data: retransmitted
};

enum class Hold : std::uint8_t { pause, credit };

}  // namespace weft::result
