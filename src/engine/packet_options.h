// What can be set about the packet engine, as plain data. Defaults are those of the RoCEv2 stack on
// Ethernet switches; sources stand at each value and in docs/models/packet_engine.md.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/units.h"

namespace weft::engine {

struct PacketOptions {
  std::uint64_t seed = 1;
  // Bytes a sender may have unacknowledged, in bandwidth-delay products of its path without queues.
  double window = 2.0;
  int ack_every = 4;   // packets; the last of a message is acknowledged at once
  Bytes ack_size{86};  // on the wire, preamble and gap included: RoCEv2 ACK
  // RED: marks from mark_from on with a probability that grows to mark_probability at mark_all.
  // In bytes of queue. Absent: no marks, unless by rate.
  std::optional<Bytes> mark_from, mark_all;
  bool mark_by_rate = false;  // thresholds by the rate of the port (docs/models/switch.md)
  double mark_probability = 0.2;
  // "pfc": links of the network pause instead of losing. "credit": a link sends only what the
  // switch behind it has room for. "none": queues are bounded by queue_limit, or not at all.
  std::string flow_control = "none";
  double buffer_alpha = 0.125;      // of the dynamic threshold at which an ingress pauses
  Bytes switch_buffer{64'000'000};  // of switches whose class states none
  std::optional<Bytes> headroom;    // of an ingress; absent: what rate and wire ask for
  // Of a switch for each link in, with credits; absent: 64 KiB, or twice what the credit loop
  // holds.
  std::optional<Bytes> credit_buffer;
  std::string congestion = "none";                    // weft::congestion, by name
  std::map<std::string, double> congestion_settings;  // its parameters, by name; absent: defaults
  // InfiniBand's marks: a port marks above 1 - T / 16 of a link's credit buffer, and one packet of
  // marking_rate + 1, unless it is short of credit itself. 15 marks soonest. Absent: as above.
  std::optional<int> mark_threshold;
  int marking_rate = 0;
  Bytes notification_size{98};       // CNP on the wire: 78 B frame + 20 B
  std::optional<Bytes> queue_limit;  // of each switch port; absent: none, nothing is dropped
  // Of every packet on every link of the network: bit errors that the frame check sequence finds.
  double link_loss = 0;
  Duration retransmission_timeout = Duration::milliseconds(4);
  // Repeat only what was lost (IRN) instead of going back to it; its two timeouts are the paper's.
  bool selective_repeat = false;
  Duration timeout_low = Duration::microseconds(100);  // with few_in_flight packets or fewer
  Duration timeout_high = Duration::microseconds(320);
  std::uint32_t few_in_flight = 3;
  // A flow that was idle for this long may take another way (flowlets); for Policy::flowlet.
  Duration flowlet_gap = Duration::microseconds(100);
};

}  // namespace weft::engine
