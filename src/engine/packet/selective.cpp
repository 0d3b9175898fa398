// The part of Simulator that repeats only what was lost.
#include "engine/packet/selective.h"

#include <algorithm>

#include "engine/packet/simulator.h"

namespace weft::engine::packet {

// Where packets take several ways, one that overtook others shows no loss: those flows, and what is
// not acknowledged at all, stay without.
void Simulator::start_selective(std::uint32_t flow, const Connection& connection) {
  if (selective_.size() < senders_.size()) selective_.resize(senders_.size());
  selective_[flow] = {};
  if (connection.ack_path != kNone && !connection.overtakes)
    selective_[flow].start(connection.window);
}

// Few packets in flight may bring no answer that shows a loss, so the wait is shorter then.
Time Simulator::time_to_repeat(std::uint32_t flow) const {
  if (!is_selective(flow)) return options_.retransmission_timeout.ps();
  const Sender& sender = senders_[flow];
  return (sender.next - sender.acknowledged < options_.few_in_flight ? options_.timeout_low
                                                                     : options_.timeout_high)
      .ps();
}

// All below `packet` have arrived.
void Simulator::advance_selective(std::uint32_t flow, std::uint32_t packet) {
  Sender& sender = senders_[flow];
  Selective& own = selective_[flow];
  for (std::uint32_t p = sender.acknowledged; p < packet; ++p) own.forget(p);
  if (packet > sender.acknowledged) sender.retries = 0;
  sender.acknowledged = std::max(sender.acknowledged, packet);
  sender.next = std::max(sender.next, sender.acknowledged);
  sender.received = sender.acknowledged;
  own.hole = std::max(own.hole, sender.acknowledged);
  if (own.recovering && sender.acknowledged >= own.recover_until) own.recovering = false;
}

// A packet came although one before it is missing: what is missing below it is sent again, once.
void Simulator::receive_selective_nack(const Packet& packet) {
  if (packet.sequence < senders_[packet.flow].acknowledged) return;
  advance_selective(packet.flow, packet.sequence);
  Sender& sender = senders_[packet.flow];
  Selective& own = selective_[packet.flow];
  if (packet.received >= sender.acknowledged) own.mark(packet.received);
  sender.retries = 0;  // something arrives
  own.known = std::max(own.known, packet.received);
  if (!own.recovering) enter_recovery(packet.flow);
  sender.deadline = now_ + time_to_repeat(packet.flow);
  pump(packet.flow);
}

void Simulator::enter_recovery(std::uint32_t flow) {
  Selective& own = selective_[flow];
  own.recovering = true;
  own.hole = senders_[flow].acknowledged;
  own.recover_until = senders_[flow].next;
}

// After a timeout the first missing packet goes again, and what is missing below known ones.
void Simulator::repeat_selective(std::uint32_t flow) {
  enter_recovery(flow);
  selective_[flow].known = std::max(selective_[flow].known, senders_[flow].acknowledged + 1);
}

bool Simulator::has_hole(std::uint32_t flow) const {
  const Selective& own = selective_[flow];
  if (!own.recovering) return false;
  std::uint32_t hole = own.hole;
  while (hole < own.known && own.arrived(hole)) ++hole;
  return hole < own.known;
}

// The packet to be sent now: one that is missing, or the next new one.
std::uint32_t Simulator::take_selective(std::uint32_t flow) {
  Selective& own = selective_[flow];
  if (!has_hole(flow)) return senders_[flow].next++;
  while (own.arrived(own.hole)) ++own.hole;
  return own.hole++;
}

}  // namespace weft::engine::packet
