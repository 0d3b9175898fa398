// A flow while it is alive: what its sender and its receiver know, a cache line each, and the
// connection it uses. Slots are used again when a flow is over and nothing of it is in flight.
#pragma once

#include <cstdint>

#include "engine/packet/packet.h"

namespace weft::engine::packet {

// What all flows between two ends over one set of ways have in common.
struct Connection {
  std::uint32_t path = 0;      // of data; with several stripes the first of them
  std::uint32_t ack_path = 0;  // the way back; kNone: nothing is acknowledged (inside servers)
  std::uint32_t stripe_begin = 0, stripes = 1;  // of stripe_path
  std::uint32_t next_stripe = 0;                // of the next flow's first packet
  std::uint32_t tree = kNone;                   // switches choose along it; kNone: they do not
  bool overtakes = false;                       // packets may; the receiver keeps early ones
  bool flowlets = false;                        // another stripe after a pause, not each packet
  // Where the sender's NIC takes packets in turn: the place of its cable on the path, 0 when
  // nothing lies between it and the GPU; and how long before a packet is there that it must be
  // asked for.
  std::uint32_t nic_offset = 0;
  Time nic_lead = 0;
  std::uint32_t payload = 4096;  // bytes of a full packet
  std::uint32_t overhead = 0;    // wire bytes around it
  std::uint32_t window = 1;      // packets that may be unacknowledged
  double line_rate = 0;          // bit/s on the wire, of its narrowest link
  Time base_rtt = 0;
  Time startup = 0;  // before the first packet leaves: software, DMA set-up
  Time pace = 0;     // least time between packets: a core, a staging pipeline; 0: none
};

struct alignas(64) Sender {
  std::uint32_t next = 0;          // packet to be sent next
  std::uint32_t acknowledged = 0;  // all below have arrived
  std::uint32_t received = 0;      // packets that the receiver said it has
  std::uint32_t released = 0;      // packets below this may be sent: what they depend on is here
  std::uint32_t total = 0;
  std::uint32_t window = 1;   // packets
  std::uint32_t highest = 0;  // next, before any going back
  std::uint32_t connection = 0;
  std::uint32_t last_payload = 0;    // bytes of the last packet
  std::uint32_t stripe = 0;          // for the next packet
  std::uint32_t ready_next = kNone;  // in the list of its injector
  bool ready : 1 = false;            // in that list
  bool wake_set : 1 = false;         // due again at not_before
  bool timer_set : 1 = false;
  std::uint8_t retries = 0;  // timeouts since something was acknowledged
  bool tell_sent : 1 = false;
  Time not_before = 0;     // pacing
  Time deadline = kNever;  // retransmission
};
static_assert(sizeof(Sender) == 64);

struct alignas(64) Receiver {
  std::uint32_t expected = 0;  // packets below have arrived
  std::uint32_t received = 0;  // counting those that came early
  std::uint32_t early = 0;     // of those: above one that is missing
  std::uint32_t since_ack = 0;
  std::uint32_t marked = 0;  // of those
  std::uint32_t total = 0;
  std::uint32_t ack_path = 0;
  std::uint32_t in_flight = 0;    // packets of the flow, of any kind and direction
  std::uint32_t tag = 0;          // the client's
  std::uint32_t report_from = 0;  // tell the client when `expected` reaches this
  std::uint32_t report_every = 0;
  Time next_notification = 0;  // of congestion: not before this
  bool nack_sent = false;
  bool done = false;
};
static_assert(sizeof(Receiver) == 64);

}  // namespace weft::engine::packet
