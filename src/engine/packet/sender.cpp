// The sending side of Simulator: flows, windows, NICs that take packets of their flows in turn.
#include <algorithm>

#include "base/random.h"
#include "engine/packet/simulator.h"

namespace weft::engine::packet {

namespace {

// A NIC fetches up to this many packets ahead of its transmitter, and again when one is left.
constexpr std::uint32_t kAheadPackets = 5, kRefillPackets = 1;
// Timeouts in a row before a sender gives up: the retry count is a three-bit field.
constexpr int kRetries = 7;

}  // namespace

std::uint32_t Simulator::start_flow(const FlowSpec& spec) {
  CHECK(spec.bytes > 0);
  std::uint32_t flow = static_cast<std::uint32_t>(senders_.size());
  if (free_flows_.empty()) {
    CHECK(flow < kIndexMask);
    senders_.emplace_back();
    receivers_.emplace_back();
  } else {
    flow = free_flows_.back();
    free_flows_.pop_back();
  }
  Connection& connection = connections_[spec.connection];
  const std::int64_t packets = (spec.bytes + connection.payload - 1) / connection.payload;
  CHECK(packets < kNone);
  Sender& sender = senders_[flow] = {};
  sender.total = static_cast<std::uint32_t>(packets);
  sender.released = std::min(spec.released, sender.total);
  sender.window = connection.ack_path == kNone ? kNone : connection.window;
  sender.connection = spec.connection;
  // Where the flow before it ends: one-packet flows would all take the first way otherwise.
  sender.stripe = connection.next_stripe;
  connection.next_stripe =
      static_cast<std::uint32_t>((connection.next_stripe + packets) % connection.stripes);
  sender.tell_sent = spec.tell_sent;
  sender.last_payload = static_cast<std::uint32_t>(spec.bytes - (packets - 1) * connection.payload);
  sender.not_before = std::max(now_, spec.start);
  if (control_ != nullptr && connection.ack_path != kNone) start_control(flow, connection);
  if (selective_on_) start_selective(flow, connection);
  Receiver& receiver = receivers_[flow] = {};
  receiver.total = sender.total;
  receiver.ack_path = connection.ack_path;
  receiver.tag = spec.tag;
  receiver.report_every = spec.report_every == 0 ? kNone : spec.report_every;
  receiver.report_from = std::min(receiver.report_every, receiver.total);
  ++unfinished_;
  if (probe_ != nullptr) open_flow(flow);
  sender.wake_set = true;
  queue_.push(sender.not_before, kFlow << kKindShift | flow);
  return flow;
}

void Simulator::start_control(std::uint32_t flow, const Connection& connection) {
  if (controlled_.size() < senders_.size()) controlled_.resize(senders_.size());
  congestion::Sender& own = controlled_[flow] = {};
  own.line_rate = connection.line_rate;
  own.packet_bytes = connection.payload + connection.overhead;
  own.full_window = connection.window;
  own.base_rtt = connection.base_rtt;
  control_->start(own);
  if (telemetry_.wanted()) telemetry_.forget(flow);
  senders_[flow].window = own.window;
}

// What the control says after an acknowledgement. Its receiver waits for ack_every packets, so a
// window of fewer would stop for good.
void Simulator::obey_control(const Packet& ack, std::uint32_t packets) {
  Sender& sender = senders_[ack.flow];
  congestion::Sender& own = controlled_[ack.flow];
  congestion::Ack what{now_, sender.acknowledged, sender.next, packets, ack.marked, {}, {}};
  if (telemetry_.wanted()) {
    what.hops = telemetry_.arrived();
    what.hops_before = telemetry_.last(ack.flow);
  }
  control_->acknowledge(own, what);
  if (telemetry_.wanted()) telemetry_.remember(ack.flow);
  sender.window = std::max(own.window, ack_every_);
}

void Simulator::receive_notification(const Packet& packet) {
  if (control_ == nullptr || senders_[packet.flow].acknowledged == senders_[packet.flow].total)
    return;
  control_->notify(controlled_[packet.flow], now_);
}

void Simulator::release(std::uint32_t flow, std::uint32_t packets) {
  Sender& sender = senders_[flow];
  packets = std::min(packets, sender.total);
  if (packets <= sender.released) return;
  sender.released = packets;
  pump(flow);
}

void Simulator::receive_ack(const Packet& packet) {
  Sender& sender = senders_[packet.flow];
  if (packet.sequence < sender.acknowledged) return;
  if (packet.sequence > sender.acknowledged) sender.retries = 0;
  const std::uint32_t had = sender.received;
  if (is_selective(packet.flow)) advance_selective(packet.flow, packet.sequence);
  sender.acknowledged = packet.sequence;
  sender.next = std::max(sender.next, packet.sequence);
  // After going back the receiver may have more than has been sent again. A sender that repeats
  // selectively is bound by what was acknowledged in order.
  const std::uint32_t received =
      is_selective(packet.flow) ? packet.sequence : std::min(packet.received, sender.next);
  const std::uint32_t packets = received > had ? received - had : 0;
  sender.received = received;
  if (control_ != nullptr) obey_control(packet, packets);
  sender.deadline = now_ + time_to_repeat(packet.flow);
  pump(packet.flow);
}

// Go back to the packet that is missing.
void Simulator::receive_nack(const Packet& packet) {
  Sender& sender = senders_[packet.flow];
  if (packet.sequence < sender.acknowledged) return;
  if (is_selective(packet.flow)) {
    receive_selective_nack(packet);
    return;
  }
  sender.acknowledged = sender.received = sender.next = packet.sequence;
  sender.deadline = now_ + time_to_repeat(packet.flow);
  pump(packet.flow);
}

inline bool Simulator::can_send(std::uint32_t flow) const {
  const Sender& sender = senders_[flow];
  if (sender.next < sender.released && sender.next - sender.received < sender.window) return true;
  return is_selective(flow) && has_hole(flow);
}

inline std::uint32_t Simulator::path_of(const Sender& sender) const {
  const Connection& connection = connections_[sender.connection];
  if (connection.stripes == 1) return connection.path;
  return stripe_paths_[connection.stripe_begin + sender.stripe];
}

inline std::uint32_t Simulator::injection_link(const Sender& sender) const {
  return network_.path_entry(path_of(sender) + connections_[sender.connection].nic_offset);
}

// Time until the link has sent all that it has; long while it is paused.
Time Simulator::backlog(std::uint32_t link) const {
  const Time sending = links_[link].free - now_;
  if (!links_[link].gated) return sending;
  const Gate& gate = gates_[link];
  if (gate.paused && gate.head != kNone) return kNever;
  return std::max<Time>(0, sending) +
         network_.serialization(link, static_cast<std::uint32_t>(gate.queued));
}

// When the NIC takes the sender's next packet; now or before: at once. It fetches so many ahead of
// its transmitter, and what lies between it and the GPU has no more of them waiting either.
inline Time Simulator::room_from(const Sender& sender, std::uint32_t link) const {
  const Connection& connection = connections_[sender.connection];
  const std::uint32_t full = connection.payload + connection.overhead;
  const Time waiting = backlog(link);
  Time when = now_;
  if (waiting >= network_.serialization(link, kAheadPackets * full) + connection.nic_lead) {
    if (waiting == kNever) return kNever;
    when = links_[link].free - network_.serialization(link, kRefillPackets * full) -
           connection.nic_lead;
    // Of a gated link with a queue `free` speaks of the packet being sent only.
    when = std::max(when, now_ + 1);
  }
  if (connection.nic_offset == 0) return when;
  const std::uint32_t first = network_.path_entry(path_of(sender));
  if (backlog(first) >= network_.serialization(first, kAheadPackets * full))
    when =
        std::max(when, links_[first].free - network_.serialization(first, kRefillPackets * full));
  return when;
}

// Sends what the window allows, as far as the NIC takes it.
void Simulator::pump(std::uint32_t flow) {
  Sender& sender = senders_[flow];
  while (!sender.ready && can_send(flow)) {
    if (now_ < sender.not_before) {
      if (!sender.wake_set) queue_.push(sender.not_before, kFlow << kKindShift | flow);
      sender.wake_set = true;
      return;
    }
    const std::uint32_t link = injection_link(sender);
    if (injectors_[link].head != kNone || room_from(sender, link) > now_) {
      make_ready(flow, link);
      return;
    }
    send_one(flow);
  }
}

void Simulator::make_ready(std::uint32_t flow, std::uint32_t link) {
  Injector& injector = injectors_[link];
  Sender& sender = senders_[flow];
  sender.ready = true;
  sender.ready_next = kNone;
  if (injector.head == kNone) {
    injector.head = flow;
  } else {
    senders_[injector.tail].ready_next = flow;
  }
  injector.tail = flow;
  if (injector.due) return;
  injector.due = true;
  if (links_[link].gated && gates_[link].head != kNone) {
    gates_[link].nic_waits = true;
    return;
  }
  const Connection& connection = connections_[sender.connection];
  const Time refill =
      network_.serialization(link, kRefillPackets * (connection.payload + connection.overhead)) +
      connection.nic_lead;
  const Time due = std::max({now_, links_[link].free - refill, room_from(sender, link)});
  queue_.push(due, kInjector << kKindShift | link);
}

// The NIC takes a packet of each ready flow in turn until it is as far ahead as it may be.
void Simulator::pull(std::uint32_t link) {
  Injector& injector = injectors_[link];
  while (injector.head != kNone) {
    const std::uint32_t flow = injector.head;
    Sender& sender = senders_[flow];
    const Time when = room_from(sender, link);
    if (when > now_) {
      if (links_[link].gated && gates_[link].head != kNone) {
        gates_[link].nic_waits = true;
        return;
      }
      queue_.push(when, kInjector << kKindShift | link);
      return;
    }
    injector.head = sender.ready_next;
    if (injector.head == kNone) injector.tail = kNone;
    sender.ready = false;
    if (!can_send(flow) || injection_link(sender) != link || now_ < sender.not_before) {
      pump(flow);
      free_if_over(flow);
      continue;
    }
    send_one(flow);
    if (can_send(flow)) pump_behind(flow, link);
  }
  injector.due = false;
}

// After its turn: behind the other ready flows of the same link, or where it can go on.
inline void Simulator::pump_behind(std::uint32_t flow, std::uint32_t link) {
  Sender& sender = senders_[flow];
  if (injection_link(sender) != link || now_ < sender.not_before) {
    pump(flow);
    return;
  }
  Injector& injector = injectors_[link];
  sender.ready = true;
  sender.ready_next = kNone;
  if (injector.head == kNone) {
    injector.head = flow;
  } else {
    senders_[injector.tail].ready_next = flow;
  }
  injector.tail = flow;
}

inline std::uint32_t Simulator::path_now(const Sender& sender, const Connection& connection) const {
  if (connection.stripes > 1) return stripe_paths_[connection.stripe_begin + sender.stripe];
  return connection.tree == kNone ? connection.path : connection.tree;
}

// A flow that has been idle for the gap takes one of its ways anew.
void Simulator::look_for_flowlet(std::uint32_t flow, const Connection& connection) {
  if (last_sent_.size() < senders_.size()) last_sent_.resize(senders_.size());
  Sender& sender = senders_[flow];
  if (sender.highest > 0 && now_ - last_sent_[flow] >= options_.flowlet_gap.ps()) {
    const std::uint64_t draw = mix64(hash_combine(hash_combine(options_.seed, flow), sender.next));
    sender.stripe = static_cast<std::uint32_t>(draw % connection.stripes);
  }
  last_sent_[flow] = now_;
}

void Simulator::send_one(std::uint32_t flow) {
  Sender& sender = senders_[flow];
  const Connection& connection = connections_[sender.connection];
  const std::uint32_t index = pool_.take();
  Packet& packet = pool_[index];
  packet = {};
  packet.sent = now_;
  if (connection.flowlets) look_for_flowlet(flow, connection);
  packet.path = path_now(sender, connection);
  packet.flow = flow;
  packet.sequence = is_selective(flow) ? take_selective(flow) : sender.next++;
  const std::uint32_t after = packet.sequence + 1;
  const bool last = after == sender.total;
  packet.wire_bytes = (last ? sender.last_payload : connection.payload) + connection.overhead;
  // What is released only later makes the receiver's count wait; it must not hold the window.
  packet.urges_ack = after == sender.released;
  if (after <= sender.highest) {
    packet.again = true;
    packet.urges_ack |= is_selective(flow);
    ++counters_.retransmitted;
  } else {
    sender.highest = after;
    if (last && sender.tell_sent)
      tell_when_sent(flow, connection.tree == kNone ? packet.path : connection.path);
  }
  if (connection.stripes > 1 && !connection.flowlets && ++sender.stripe == connection.stripes)
    sender.stripe = 0;
  if (connection.pace > 0) sender.not_before = now_ + connection.pace;
  if (control_ != nullptr && connection.ack_path != kNone) {
    congestion::Sender& own = controlled_[flow];
    control_->before_send(own, now_, packet.wire_bytes);
    if (own.rate > 0 && own.rate < own.line_rate)
      sender.not_before = now_ + static_cast<Time>(packet.wire_bytes * 8e12 / own.rate);
  }
  if (telemetry_.wanted()) telemetry_.clear(index);
  ++receivers_[flow].in_flight;
  ++counters_.sent;
  join(network_.path_entry(packet.path), index);
  if (lossy_ && connection.ack_path != kNone) arm(flow);
}

// The flow has left when the queues that its last packet finds on its way have drained.
void Simulator::tell_when_sent(std::uint32_t flow, std::uint32_t path) {
  const Time leaves = std::max(now_, links_[network_.path_entry(path)].free);
  queue_.push(leaves, kSent << kKindShift | flow);
}

void Simulator::arm(std::uint32_t flow) {
  Sender& sender = senders_[flow];
  if (sender.timer_set) return;
  sender.timer_set = true;
  sender.deadline = now_ + time_to_repeat(flow);
  queue_.push(sender.deadline, kRetransmit << kKindShift | flow);
}

// Start or pacing. The slot may have another flow by now, so look what is true.
void Simulator::flow_due(std::uint32_t flow) {
  // An acknowledgement at this very instant may have sent a packet and moved not_before on: then
  // the flow must be woken again.
  senders_[flow].wake_set = false;
  pump(flow);
}

void Simulator::retransmission_due(std::uint32_t flow) {
  Sender& sender = senders_[flow];
  if (sender.acknowledged == sender.total) {
    sender.timer_set = false;
    free_if_over(flow);
    return;
  }
  if (now_ >= sender.deadline) {
    ++counters_.timeouts;
    if (++sender.retries > kRetries) {  // the queue pair goes into error
      ++counters_.given_up;
      return;
    }
    if (is_selective(flow)) {
      repeat_selective(flow);
    } else {
      sender.next = sender.received = sender.acknowledged;
    }
    sender.deadline = now_ + time_to_repeat(flow);
  }
  queue_.push(sender.deadline, kRetransmit << kKindShift | flow);
  pump(flow);
}

void Simulator::free_if_over(std::uint32_t flow) {
  const Receiver& receiver = receivers_[flow];
  if (!receiver.done || receiver.in_flight > 0) return;
  Sender& sender = senders_[flow];
  if (sender.acknowledged < sender.total || sender.ready || sender.timer_set) return;
  sender.released = 0;
  receivers_[flow].done = false;
  free_flows_.push_back(flow);
}

}  // namespace weft::engine::packet
