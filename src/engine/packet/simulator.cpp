#include "engine/packet/simulator.h"

#include <algorithm>

#include "base/random.h"

namespace weft::engine::packet {

namespace {

// How far ahead of the event at hand a link, its first packet and what that packet meets next are
// fetched. Found by measuring (bench/packet_scale.cpp): a load from memory takes about four events.
constexpr std::size_t kFetchLink = 32, kFetchPacket = 20, kFetchNext = 10;

}  // namespace

Simulator::Simulator(const fabric::Fabric& fabric, const PacketOptions& options,
                     result::Probe* probe)
    : fabric_(&fabric),
      options_(options),
      probe_(probe),
      network_(fabric),
      links_(network_.links()) {
  lossy_ =
      options.queue_limit.has_value() || options.flow_control != "none" || options.link_loss > 0;
  with_credits_ = options.flow_control == "credit";
  selective_on_ = options.selective_repeat;
  ack_every_ = static_cast<std::uint32_t>(options.ack_every);
  if (options.congestion == "none") return;
  const congestion::Control* control = congestion::find_control(options.congestion);
  CHECK(control != nullptr);  // looked up where the user wrote it
  control_ = congestion::configured(*control, options.congestion_settings);
  if (control_->wants_telemetry()) {
    telemetry_.want();
    ack_every_ = 1;
  }
  if (const auto gap = control_->notification_gap()) notification_gap_ = gap->ps();
}

std::uint32_t Simulator::add_connection(const Connection& connection) {
  connections_.push_back(connection);
  if (injectors_.size() < links_.size()) prepare_links();
  return static_cast<std::uint32_t>(connections_.size() - 1);
}

// Links that switches send on mark and drop; links of a network that pauses have gates.
void Simulator::prepare_links() {
  for (auto number = static_cast<std::uint32_t>(injectors_.size()); number < links_.size();
       ++number) {
    const fabric::LinkId first = network_.parts(number).front();
    const fabric::DeviceKind kind = fabric_->kind(fabric_->from(first));
    if (options_.flow_control != "none" || telemetry_.wanted()) add_gate(number);
    if (kind == fabric::DeviceKind::network_switch || kind == fabric::DeviceKind::gateway)
      set_thresholds(links_[number], fabric_->link_class(first).raw_rate);
    const auto parts = network_.parts(number);
    links_[number].loses =
        options_.link_loss > 0 && std::any_of(parts.begin(), parts.end(), [this](auto part) {
          return fabric::is_network(fabric_->link_class(part).kind);
        });
    Link& link = links_[number];
    link.watched = probe_ != nullptr && probe_->watches(shown_as(number));
    link.apart = link.gated || link.watched;
  }
  if (options_.link_loss > 0) arrivals_.resize(links_.size());
  injectors_.resize(links_.size());
}

void Simulator::set_thresholds(Link& link, BitRate rate) const {
  const auto as_queue = [&](const std::optional<Bytes>& bytes) {
    if (!bytes) return kNone;
    const auto units = static_cast<std::uint64_t>(bytes->count()) * link.ps_per_byte_fixed >>
                       (kRateBits + kQueueBits);
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(units, kNone));
  };
  std::optional<Bytes> from = options_.mark_from, all = options_.mark_all;
  if (options_.mark_by_rate && !from) {
    // Kmin as the HPCC authors set it: 4 kB a Gb/s up to 100 Gb/s, 300 kB at 200, 800 kB at 400;
    // Kmax is four times that.
    const double gbps = rate.gbps();
    const double kilobytes = gbps <= 100 ? 4 * gbps : gbps <= 200 ? 1.5 * gbps : 2 * gbps;
    from = Bytes(static_cast<std::int64_t>(kilobytes * 1000));
    all = 4 * *from;
  }
  if (options_.mark_threshold) {
    const double share = 1 - *options_.mark_threshold / 16.0;
    const auto buffer = static_cast<double>(options_.credit_buffer.value_or(Bytes(65'536)).count());
    from = all = Bytes(static_cast<std::int64_t>(share * buffer));
  }
  link.mark_from = as_queue(from);
  link.mark_all = as_queue(all);
  link.limit = as_queue(options_.queue_limit);
}

std::uint32_t Simulator::add_stripes(std::span<const std::uint32_t> paths) {
  const auto begin = static_cast<std::uint32_t>(stripe_paths_.size());
  stripe_paths_.insert(stripe_paths_.end(), paths.begin(), paths.end());
  return begin;
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
#ifndef NDEBUG
    // Each change of a buffer or of credits checks itself; this, that they add up.
    if (counters_.events % 1024 == 0) check_conserved();
#endif
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
      case kSent:
        client_->flow_sent(receivers_[index].tag);
        break;
      case kGate:
        sending_done(index);
        break;
      case kPause:
        heed_pause(index);
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
  check_conserved();
}

inline void Simulator::prefetch_ahead() {
  const std::uint32_t far = queue_.peek(kFetchLink);
  if (far < links_.size()) __builtin_prefetch(&links_[far], 1);
  const std::uint32_t middle = queue_.peek(kFetchPacket);
  if (middle < links_.size() && links_[middle].head != kNone) pool_.prefetch(links_[middle].head);
  const std::uint32_t near = queue_.peek(kFetchNext);
  if (near >= links_.size() || links_[near].head == kNone) return;
  const Packet& packet = pool_[links_[near].head];
  if (packet.link_next < kFirstChoice) {
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
    queue_.push(packet.next_arrival, kLink << kKindShift | number);
  } else {
    link.tail = kNone;
  }
  ++counters_.packet_hops;
  if (link.loses && lose(number, index)) [[unlikely]]
    return;
  if (packet.link_next < kFirstChoice) [[likely]] {
    packet.ingress = number;
    join(packet.link_next, index);
  } else if (packet.link_next == kNone) {
    deliver(index);
  } else {
    packet.ingress = number;
    join(choose(packet), index);
  }
}

// Adaptive routing in the switch: the way on whose queue is shortest now. Where several are, the
// packet's number decides, so that they are taken in turn.
std::uint32_t Simulator::choose(Packet& packet) const {
  const std::span<const std::uint32_t> ways = network_.choices(packet.link_next);
  const std::size_t start = mix64(hash_combine(packet.flow, packet.sequence)) % ways.size();
  Time least = kNever;
  std::uint32_t best = 0;
  for (std::size_t i = 0; i < ways.size(); ++i) {
    const std::uint32_t way = ways[(start + i) % ways.size()];
    const Time queue = std::max<Time>(0, backlog(network_.path_entry(way)));
    if (queue < least || i == 0) least = queue, best = way;
  }
  packet.path = best;
  return network_.path_entry(best);
}

void Simulator::join(std::uint32_t number, std::uint32_t index) {
  if (links_[number].apart) [[unlikely]] {
    join_apart(number, index);
    return;
  }
  join_queue(number, index);
}

// The packet takes its place in the link's queue: from here on its arrival is known.
void Simulator::join_queue(std::uint32_t number, std::uint32_t index) {
  Link& link = links_[number];
  Packet& packet = pool_[index];
  if (link.free > now_) {
    const auto queue = static_cast<std::uint64_t>(link.free - now_) >> kQueueBits;
    if (queue > link.limit) [[unlikely]] {
      drop(index);
      return;
    }
    if (queue > link.mark_from && packet.kind == PacketKind::data && !packet.congestion &&
        take_mark(link, static_cast<std::uint32_t>(queue))) {
      packet.congestion = true;
      ++counters_.marks;
    }
  } else {
    link.free = now_;
  }
  put_on_wire(number, index);
}

// Sent when the transmitter is free, which is when all before it have left.
void Simulator::put_on_wire(std::uint32_t number, std::uint32_t index) {
  Link& link = links_[number];
  Packet& packet = pool_[index];
  const std::uint64_t fixed = packet.wire_bytes * link.ps_per_byte_fixed + link.fraction;
  link.fraction = static_cast<std::uint32_t>(fixed) & ((1u << kRateBits) - 1);
  link.free += static_cast<Time>(fixed >> kRateBits);
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
    pool_[link.tail].next_arrival = packet.arrival;
  }
  link.tail = index;
}

// Random early detection on the queue that the packet finds; a stream of random numbers per link.
bool Simulator::take_mark(const Link& link, std::uint32_t queue) const {
  if (queue >= link.mark_all && options_.marking_rate == 0) return true;
  const auto number = static_cast<std::uint64_t>(&link - links_.data());
  const std::uint64_t draw = mix64(hash_combine(options_.seed, number) + link.packets);
  const double uniform = static_cast<double>(draw >> 11) * 0x1p-53;
  if (queue >= link.mark_all) return uniform < 1.0 / (1 + options_.marking_rate);
  const double share = static_cast<double>(queue - link.mark_from) /
                       static_cast<double>(link.mark_all - link.mark_from);
  return uniform < share * options_.mark_probability;
}

void Simulator::drop(std::uint32_t index) {
  ++counters_.drops;
  const std::uint32_t flow = pool_[index].flow;
  pool_.give_back(index);
  --receivers_[flow].in_flight;
  free_if_over(flow);
}

// A bit error on the wire. The receiver of a link with credits tells the sender in its next flow
// control packet how much has come, so that what was lost does not count against it for ever.
bool Simulator::lose(std::uint32_t number, std::uint32_t index) {
  const std::uint64_t draw =
      mix64(hash_combine(hash_combine(options_.seed, number), ~arrivals_[number]++));
  if (static_cast<double>(draw >> 11) * 0x1p-53 >= options_.link_loss) return false;
  ++counters_.losses;
  if (credits_are_used() && ingresses_[number].buffer != kNone)
    return_credit(number, pool_[index].wire_bytes);
  drop(index);
  return true;
}

}  // namespace weft::engine::packet
