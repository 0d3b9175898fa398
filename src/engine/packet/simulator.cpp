#include "engine/packet/simulator.h"

#include <algorithm>

#include "base/random.h"

namespace weft::engine::packet {

namespace {

// How far ahead of the event at hand a link, its first packet and what that packet meets next are
// fetched. Found by measuring (bench/packet_scale.cpp): a load from memory takes about four events.
constexpr std::size_t kFetchLink = 9, kFetchPacket = 6, kFetchNext = 3;
// A NIC fetches up to this many packets ahead of its transmitter, and again when one is left.
constexpr std::uint32_t kAheadPackets = 5, kRefillPackets = 1;

}  // namespace

Simulator::Simulator(const fabric::Fabric& fabric, const PacketOptions& options)
    : fabric_(&fabric), options_(options), network_(fabric), links_(network_.links()) {}

std::uint32_t Simulator::add_connection(const Connection& connection) {
  connections_.push_back(connection);
  if (injectors_.size() < links_.size()) prepare_links();
  return static_cast<std::uint32_t>(connections_.size() - 1);
}

// Links that switches send on mark and drop.
void Simulator::prepare_links() {
  for (auto number = static_cast<std::uint32_t>(injectors_.size()); number < links_.size();
       ++number) {
    const fabric::DeviceKind kind = fabric_->kind(fabric_->from(network_.parts(number).front()));
    if (kind != fabric::DeviceKind::network_switch && kind != fabric::DeviceKind::gateway) continue;
    const auto as_queue = [&](const std::optional<Bytes>& bytes) {
      if (!bytes) return kNone;
      const auto units =
          static_cast<std::uint64_t>(bytes->count()) * links_[number].ps_per_byte_fixed >>
          (kRateBits + kQueueBits);
      return static_cast<std::uint32_t>(std::min<std::uint64_t>(units, kNone));
    };
    links_[number].mark_from = as_queue(options_.mark_from);
    links_[number].mark_all = as_queue(options_.mark_all);
    links_[number].limit = as_queue(options_.queue_limit);
  }
  injectors_.resize(links_.size());
}

std::uint32_t Simulator::add_stripes(std::span<const std::uint32_t> paths) {
  const auto begin = static_cast<std::uint32_t>(stripe_paths_.size());
  stripe_paths_.insert(stripe_paths_.end(), paths.begin(), paths.end());
  return begin;
}

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
  const Connection& connection = connections_[spec.connection];
  const std::int64_t packets = (spec.bytes + connection.payload - 1) / connection.payload;
  CHECK(packets < kNone);
  Sender& sender = senders_[flow] = {};
  sender.total = static_cast<std::uint32_t>(packets);
  sender.released = std::min(spec.released, sender.total);
  sender.window = connection.ack_path == kNone ? kNone : connection.window;
  sender.connection = spec.connection;
  sender.last_payload = static_cast<std::uint32_t>(spec.bytes - (packets - 1) * connection.payload);
  sender.not_before = std::max(now_, spec.start);
  Receiver& receiver = receivers_[flow] = {};
  receiver.total = sender.total;
  receiver.ack_path = connection.ack_path;
  receiver.tag = spec.tag;
  receiver.report_every = spec.report_every == 0 ? kNone : spec.report_every;
  receiver.report_from = std::min(receiver.report_every, receiver.total);
  ++unfinished_;
  sender.wake_set = true;
  queue_.push(sender.not_before, kFlow << kKindShift | flow);
  return flow;
}

void Simulator::release(std::uint32_t flow, std::uint32_t packets) {
  Sender& sender = senders_[flow];
  packets = std::min(packets, sender.total);
  if (packets <= sender.released) return;
  sender.released = packets;
  pump(flow);
}

void Simulator::set_timer(Time when, std::uint32_t tag) {
  std::uint32_t timer = static_cast<std::uint32_t>(timer_tags_.size());
  if (free_timers_.empty()) {
    timer_tags_.push_back(tag);
  } else {
    timer = free_timers_.back();
    free_timers_.pop_back();
    timer_tags_[timer] = tag;
  }
  queue_.push(std::max(when, now_), kTimer << kKindShift | timer);
}

void Simulator::run(Client& client) {
  client_ = &client;
  EventQueue::Event event;
  while (queue_.pop(event)) {
    CHECK(event.when >= now_);
    now_ = event.when;
    ++counters_.events;
    prefetch_ahead();
    const std::uint32_t index = event.entity & kIndexMask;
    switch (event.entity >> kKindShift) {
      case kLink:
        arrive(index);
        break;
      case kInjector:
        pull(index);
        break;
      case kFlow:
        flow_due(index);
        break;
      case kRetransmit:
        retransmission_due(index);
        break;
      default: {
        const std::uint32_t tag = timer_tags_[index];
        free_timers_.push_back(index);
        client_->timer(tag);
      }
    }
  }
}

inline void Simulator::prefetch_ahead() {
  const std::uint32_t far = queue_.peek(kFetchLink);
  if (far < links_.size()) __builtin_prefetch(&links_[far], 1);
  const std::uint32_t middle = queue_.peek(kFetchPacket);
  if (middle < links_.size() && links_[middle].head != kNone) pool_.prefetch(links_[middle].head);
  const std::uint32_t near = queue_.peek(kFetchNext);
  if (near >= links_.size() || links_[near].head == kNone) return;
  const Packet& packet = pool_[links_[near].head];
  if (packet.next != kNone) pool_.prefetch(packet.next);
  if (packet.link_next != kNone) {
    __builtin_prefetch(&links_[packet.link_next], 1);
  } else if (packet.kind == PacketKind::data) {
    __builtin_prefetch(&receivers_[packet.flow], 1);
  } else {
    __builtin_prefetch(&senders_[packet.flow], 1);
  }
}

inline void Simulator::arrive(std::uint32_t number) {
  Link& link = links_[number];
  const std::uint32_t index = link.head;
  Packet& packet = pool_[index];
  link.head = packet.next;
  if (packet.next != kNone) {
    queue_.push(pool_[packet.next].arrival, kLink << kKindShift | number);
  } else {
    link.tail = kNone;
  }
  ++counters_.packet_hops;
  if (packet.link_next != kNone) [[likely]] {
    packet.ingress = number;
    join(packet.link_next, index);
  } else {
    deliver(index);
  }
}

// The packet takes its place in the link's queue: from here on its arrival is known.
inline void Simulator::join(std::uint32_t number, std::uint32_t index) {
  Link& link = links_[number];
  Packet& packet = pool_[index];
  Time start = now_;
  if (link.free > now_) {
    start = link.free;
    const auto queue = static_cast<std::uint64_t>(start - now_) >> kQueueBits;
    if (queue > link.mark_from && packet.kind == PacketKind::data && !packet.congestion &&
        take_mark(link, static_cast<std::uint32_t>(queue))) {
      packet.congestion = true;
      ++counters_.marks;
    }
    if (queue > link.limit) [[unlikely]] {
      drop(index);
      return;
    }
  }
  const std::uint64_t fixed = packet.wire_bytes * link.ps_per_byte_fixed + link.fraction;
  link.fraction = static_cast<std::uint32_t>(fixed) & ((1u << kRateBits) - 1);
  link.free = start + static_cast<Time>(fixed >> kRateBits);
  ++link.packets;
  link.bytes += packet.wire_bytes;
  packet.arrival = link.free + link.latency;
  packet.link_next = network_.path_entry(++packet.path);
  packet.next = kNone;
  if (link.tail == kNone) {
    link.head = index;
    queue_.push(packet.arrival, kLink << kKindShift | number);
  } else {
    pool_[link.tail].next = index;
  }
  link.tail = index;
}

// Random early detection on the queue that the packet finds; a stream of random numbers per link.
bool Simulator::take_mark(const Link& link, std::uint32_t queue) const {
  if (queue >= link.mark_all) return true;
  const double share = static_cast<double>(queue - link.mark_from) /
                       static_cast<double>(link.mark_all - link.mark_from);
  const auto number = static_cast<std::uint64_t>(&link - links_.data());
  const std::uint64_t draw = mix64(hash_combine(options_.seed, number) + link.packets);
  return static_cast<double>(draw >> 11) * 0x1p-53 < share * options_.mark_probability;
}

void Simulator::drop(std::uint32_t index) {
  ++counters_.drops;
  const std::uint32_t flow = pool_[index].flow;
  pool_.give_back(index);
  --receivers_[flow].in_flight;
  free_if_over(flow);
}

inline void Simulator::deliver(std::uint32_t index) {
  const Packet packet = pool_[index];
  pool_.give_back(index);
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
      break;
  }
  free_if_over(packet.flow);
}

void Simulator::receive_data(const Packet& packet) {
  Receiver& receiver = receivers_[packet.flow];
  if (packet.sequence != receiver.expected) [[unlikely]] {
    if (packet.sequence < receiver.expected) {
      answer(packet, PacketKind::ack);  // a duplicate: its acknowledgement may have been lost
    } else if (!receiver.nack_sent) {
      receiver.nack_sent = true;
      answer(packet, PacketKind::nack);
    }
    return;
  }
  receiver.nack_sent = false;
  ++receiver.expected;
  ++receiver.received;
  receiver.marked += packet.congestion ? 1 : 0;
  const bool last = receiver.expected == receiver.total;
  if (receiver.ack_path != kNone) {
    if (++receiver.since_ack >= static_cast<std::uint32_t>(options_.ack_every) || last ||
        packet.urges_ack) {
      answer(packet, PacketKind::ack);
      receiver.since_ack = receiver.marked = 0;
    }
  } else {
    senders_[packet.flow].acknowledged = senders_[packet.flow].received = receiver.expected;
  }
  if (receiver.expected >= receiver.report_from) report(packet.flow);
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
  packet.wire_bytes = static_cast<std::uint32_t>(options_.ack_size.count());
  packet.kind = kind;
  packet.again = data.again;
  ++receiver.in_flight;
  ++(kind == PacketKind::nack ? counters_.nacks : counters_.acks);
  join(network_.path_entry(packet.path), index);
}

void Simulator::receive_ack(const Packet& packet) {
  Sender& sender = senders_[packet.flow];
  if (packet.sequence <= sender.acknowledged) return;
  sender.acknowledged = sender.received = packet.sequence;
  sender.next = std::max(sender.next, packet.sequence);
  sender.deadline = now_ + options_.retransmission_timeout.ps();
  pump(packet.flow);
}

// Go back to the packet that is missing.
void Simulator::receive_nack(const Packet& packet) {
  Sender& sender = senders_[packet.flow];
  if (packet.sequence < sender.acknowledged) return;
  sender.acknowledged = sender.received = sender.next = packet.sequence;
  sender.deadline = now_ + options_.retransmission_timeout.ps();
  pump(packet.flow);
}

inline bool Simulator::can_send(const Sender& sender) const {
  return sender.next < sender.released && sender.next - sender.received < sender.window;
}

inline std::uint32_t Simulator::first_link(const Sender& sender) const {
  const Connection& connection = connections_[sender.connection];
  if (connection.stripes == 1) return network_.path_entry(connection.path);
  return network_.path_entry(stripe_paths_[connection.stripe_begin + sender.stripe]);
}

inline Time Simulator::backlog(std::uint32_t link) const {
  return links_[link].free - now_;
}

// Sends what the window allows, as far as the NIC takes it.
void Simulator::pump(std::uint32_t flow) {
  Sender& sender = senders_[flow];
  while (!sender.ready && can_send(sender)) {
    if (now_ < sender.not_before) {
      if (!sender.wake_set) queue_.push(sender.not_before, kFlow << kKindShift | flow);
      sender.wake_set = true;
      return;
    }
    const std::uint32_t link = first_link(sender);
    const Connection& connection = connections_[sender.connection];
    const Time limit =
        network_.serialization(link, kAheadPackets * (connection.payload + connection.overhead));
    if (injectors_[link].head != kNone || backlog(link) >= limit) {
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
  const Connection& connection = connections_[sender.connection];
  const Time refill =
      network_.serialization(link, kRefillPackets * (connection.payload + connection.overhead));
  queue_.push(std::max(now_, links_[link].free - refill), kInjector << kKindShift | link);
}

// The NIC takes a packet of each ready flow in turn until it is as far ahead as it may be.
void Simulator::pull(std::uint32_t link) {
  Injector& injector = injectors_[link];
  injector.due = false;
  while (injector.head != kNone) {
    const std::uint32_t flow = injector.head;
    Sender& sender = senders_[flow];
    const Connection& connection = connections_[sender.connection];
    const std::uint32_t full = connection.payload + connection.overhead;
    if (backlog(link) >= network_.serialization(link, kAheadPackets * full)) {
      injector.due = true;
      queue_.push(links_[link].free - network_.serialization(link, kRefillPackets * full),
                  kInjector << kKindShift | link);
      return;
    }
    injector.head = sender.ready_next;
    if (injector.head == kNone) injector.tail = kNone;
    sender.ready = false;
    if (!can_send(sender) || first_link(sender) != link || now_ < sender.not_before) {
      pump(flow);
      free_if_over(flow);
      continue;
    }
    send_one(flow);
    if (can_send(sender)) pump_behind(flow, link);
  }
}

// After its turn: behind the other ready flows of the same link, or where it can go on.
inline void Simulator::pump_behind(std::uint32_t flow, std::uint32_t link) {
  Sender& sender = senders_[flow];
  if (first_link(sender) != link || now_ < sender.not_before) {
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

void Simulator::send_one(std::uint32_t flow) {
  Sender& sender = senders_[flow];
  const Connection& connection = connections_[sender.connection];
  const std::uint32_t index = pool_.take();
  Packet& packet = pool_[index];
  packet = {};
  packet.sent = now_;
  packet.path = connection.stripes == 1 ? connection.path
                                        : stripe_paths_[connection.stripe_begin + sender.stripe];
  packet.flow = flow;
  packet.sequence = sender.next++;
  const bool last = sender.next == sender.total;
  packet.wire_bytes = (last ? sender.last_payload : connection.payload) + connection.overhead;
  // What is released only later makes the receiver's count wait; it must not hold the window.
  packet.urges_ack = sender.next == sender.released;
  if (sender.next <= sender.highest) {
    packet.again = true;
    ++counters_.retransmitted;
  } else {
    sender.highest = sender.next;
  }
  if (connection.stripes > 1 && ++sender.stripe == connection.stripes) sender.stripe = 0;
  if (connection.pace > 0) sender.not_before = now_ + connection.pace;
  ++receivers_[flow].in_flight;
  ++counters_.sent;
  join(network_.path_entry(packet.path), index);
  if (options_.queue_limit) arm(flow);
}

void Simulator::arm(std::uint32_t flow) {
  Sender& sender = senders_[flow];
  if (sender.timer_set) return;
  sender.timer_set = true;
  sender.deadline = now_ + options_.retransmission_timeout.ps();
  queue_.push(sender.deadline, kRetransmit << kKindShift | flow);
}

// Start or pacing. The slot may have another flow by now, so look what is true.
void Simulator::flow_due(std::uint32_t flow) {
  if (now_ >= senders_[flow].not_before) senders_[flow].wake_set = false;
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
    sender.next = sender.received = sender.acknowledged;
    sender.deadline = now_ + options_.retransmission_timeout.ps();
  }
  queue_.push(sender.deadline, kRetransmit << kKindShift | flow);
  pump(flow);
}

inline void Simulator::free_if_over(std::uint32_t flow) {
  const Receiver& receiver = receivers_[flow];
  if (!receiver.done || receiver.in_flight > 0) return;
  Sender& sender = senders_[flow];
  if (sender.acknowledged < sender.total || sender.ready || sender.timer_set) return;
  sender.released = 0;
  receivers_[flow].done = false;
  free_flows_.push_back(flow);
}

}  // namespace weft::engine::packet
