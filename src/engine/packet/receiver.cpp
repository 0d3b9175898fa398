// The receiving side of Simulator.
#include <algorithm>

#include "engine/packet/simulator.h"

namespace weft::engine::packet {

void Simulator::deliver(std::uint32_t index) {
  const Packet packet = pool_[index];
  pool_.give_back(index);
  if (telemetry_.wanted()) telemetry_.arrive(index);
  --receivers_[packet.flow].in_flight;
  switch (packet.kind) {
    case PacketKind::data:
      receive_data(packet);
      break;
    case PacketKind::ack:
      receive_ack(packet);
      break;
    case PacketKind::nack:
      receive_nack(packet);
      break;
    case PacketKind::cnp:
      receive_notification(packet);
      break;
  }
  free_if_over(packet.flow);
}

void Simulator::receive_data(const Packet& packet) {
  Receiver& receiver = receivers_[packet.flow];
  if (packet.sequence != receiver.expected && !take_early(packet)) return;
  if (packet.sequence == receiver.expected) {
    receiver.nack_sent = false;
    ++receiver.expected;
    if (receiver.early > 0) join_early(packet.flow);
  }
  ++receiver.received;
  if (packet.congestion) {
    ++receiver.marked;
    if (receiver.ack_path != kNone && now_ >= receiver.next_notification &&
        notification_gap_ != kNever) {
      receiver.next_notification = now_ + notification_gap_;
      answer(packet, PacketKind::cnp);
    }
  }
  if (receiver.ack_path != kNone) {
    if (++receiver.since_ack >= ack_every_ || receiver.received == receiver.total ||
        packet.urges_ack) {
      answer(packet, PacketKind::ack);
      receiver.since_ack = receiver.marked = 0;
    }
  } else {
    senders_[packet.flow].acknowledged = senders_[packet.flow].received = receiver.expected;
  }
  if (receiver.expected >= receiver.report_from) report(packet.flow);
}

// A packet that is not the one expected: false when the receiver has no use for it. Where packets
// take several ways they overtake one another, and what comes early is kept.
bool Simulator::take_early(const Packet& packet) {
  Receiver& receiver = receivers_[packet.flow];
  if (packet.sequence < receiver.expected) {
    answer(packet, PacketKind::ack);  // a duplicate: its acknowledgement may have been lost
    return false;
  }
  const bool selective = is_selective(packet.flow);
  if (!selective && !connections_[senders_[packet.flow].connection].overtakes) {
    if (!receiver.nack_sent) {
      receiver.nack_sent = true;
      answer(packet, PacketKind::nack);
    }
    return false;
  }
  if (early_.size() <= packet.flow) early_.resize(senders_.size());
  std::vector<std::uint32_t>& early = early_[packet.flow];
  const auto at = std::lower_bound(early.begin(), early.end(), packet.sequence, std::greater<>());
  if (at != early.end() && *at == packet.sequence) return false;
  early.insert(at, packet.sequence);
  ++receiver.early;
  if (selective) answer(packet, PacketKind::nack);
  return true;
}

// What had come early follows the packet that was missing. Kept in falling order.
void Simulator::join_early(std::uint32_t flow) {
  Receiver& receiver = receivers_[flow];
  std::vector<std::uint32_t>& early = early_[flow];
  while (!early.empty() && early.back() == receiver.expected) {
    early.pop_back();
    ++receiver.expected;
    --receiver.early;
  }
}

void Simulator::report(std::uint32_t flow) {
  Receiver& receiver = receivers_[flow];
  const bool done = receiver.expected == receiver.total;
  receiver.report_from =
      done ? kNone
           : std::min(receiver.total,
                      receiver.expected + std::min(receiver.report_every, receiver.total));
  if (done) --unfinished_;
  receiver.done = done;
  client_->flow_progress(receiver.tag, receiver.expected, done);
}

void Simulator::answer(const Packet& data, PacketKind kind) {
  Receiver& receiver = receivers_[data.flow];
  const std::uint32_t index = pool_.take();
  Packet& packet = pool_[index];
  packet = {};
  packet.sent = data.sent;
  packet.path = receiver.ack_path;
  packet.flow = data.flow;
  packet.sequence = receiver.expected;
  packet.received = kind == PacketKind::nack ? data.sequence : receiver.received;
  packet.marked = receiver.marked;
  const Bytes size = kind == PacketKind::cnp ? options_.notification_size : options_.ack_size;
  packet.wire_bytes = static_cast<std::uint32_t>(size.count());
  if (telemetry_.wanted()) {
    telemetry_.echo(index);
    packet.wire_bytes += Telemetry::kHeaderBytes;
  }
  packet.kind = kind;
  packet.again = data.again;
  ++receiver.in_flight;
  ++(kind == PacketKind::nack  ? counters_.nacks
     : kind == PacketKind::cnp ? counters_.notifications
                               : counters_.acks);
  join(network_.path_entry(packet.path), index);
}

}  // namespace weft::engine::packet
