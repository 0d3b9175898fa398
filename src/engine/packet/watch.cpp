// The part of Simulator that tells an observer what its links see. Links that nobody watches never
// come here: they share one test with the links that can be paused.
#include <algorithm>

#include "engine/packet/simulator.h"

namespace weft::engine::packet {

namespace {

Instant at(Time time) {
  return Instant::at(Duration::picoseconds(time));
}

result::PacketKind shown(PacketKind kind) {
  switch (kind) {
    case PacketKind::ack:
      return result::PacketKind::ack;
    case PacketKind::nack:
      return result::PacketKind::nack;
    case PacketKind::cnp:
      return result::PacketKind::notification;
    case PacketKind::data:
      break;
  }
  return result::PacketKind::data;
}

}  // namespace

fabric::LinkId Simulator::shown_as(std::uint32_t number) const {
  const auto parts = network_.parts(number);
  const auto wire = std::find_if(parts.begin(), parts.end(), [this](fabric::LinkId link) {
    return fabric::is_network(fabric_->link_class(link).kind);
  });
  return wire == parts.end() ? parts.back() : *wire;
}

result::SeenPacket Simulator::describe(std::uint32_t number, std::uint32_t index) const {
  const Packet& packet = pool_[index];
  result::SeenPacket seen;
  seen.link = shown_as(number);
  seen.kind = shown(packet.kind);
  seen.flow = flow_numbers_[packet.flow];
  seen.sequence = packet.sequence;
  seen.wire_bytes = packet.wire_bytes;
  seen.congestion = packet.congestion;
  seen.urges_ack = packet.urges_ack;
  seen.again = packet.again;
  return seen;
}

void Simulator::join_apart(std::uint32_t number, std::uint32_t index) {
  const Link& link = links_[number];
  if (!link.watched) {
    join_gated(number, index);
    return;
  }
  result::SeenPacket seen = describe(number, index);
  const Time first = std::max(now_, link.free);
  const double sending = static_cast<double>(first - now_) * (1 << kRateBits) /
                         static_cast<double>(link.ps_per_byte_fixed);
  const Bytes queue(static_cast<std::int64_t>(sending) + (link.gated ? gates_[number].queued : 0));
  const Counters before = counters_;
  if (link.gated) {
    join_gated(number, index);
  } else {
    join_queue(number, index);
  }
  const bool marked = counters_.marks > before.marks;
  seen.congestion |= marked;
  if (counters_.drops > before.drops) {
    probe_->packet_dropped(seen, at(now_));
    return;
  }
  probe_->packet_joined(seen, at(now_), queue, marked);
  if (!link.gated) probe_->packet_sent(seen, at(first), at(link.free));
}

void Simulator::watch_sent(std::uint32_t number, std::uint32_t index, Time first) {
  probe_->packet_sent(describe(number, index), at(first), at(links_[number].free));
}

void Simulator::watch_hold(std::uint32_t number, result::Hold why, bool stop) {
  probe_->link_held(shown_as(number), at(now_), why, stop);
}

void Simulator::open_flow(std::uint32_t flow) {
  flow_numbers_.resize(senders_.size());
  flow_numbers_[flow] = flows_opened_++;
  const Sender& sender = senders_[flow];
  const Connection& connection = connections_[sender.connection];
  result::PacketFlow opened;
  opened.flow = flow_numbers_[flow];
  opened.packets = sender.total;
  opened.payload = connection.payload;
  opened.last_payload = sender.last_payload;
  const std::uint32_t path = paths_of(connection).front();
  for (const std::uint32_t* link = network_.path(path); *link != kNone; ++link) {
    const fabric::LinkId wire = shown_as(*link);
    if (!fabric::is_network(fabric_->link_class(wire).kind)) continue;
    if (!opened.from.valid()) opened.from = fabric_->from(wire);
    opened.to = fabric_->to(wire);
  }
  probe_->flow_opened(opened, at(sender.not_before));
}

}  // namespace weft::engine::packet
