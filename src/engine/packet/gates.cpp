// The part of Simulator that is about links which can be paused.
#include "engine/packet/gates.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/packet/simulator.h"
#include "flow_control/pfc.h"

namespace weft::engine::packet {

namespace {

constexpr std::int64_t kLargestFrame = 4096 + 82;  // B: what may be begun when a pause arrives

// Credits count blocks of 64 B.
std::int64_t in_blocks(std::uint32_t bytes) {
  return (std::int64_t{bytes} + 63) / 64 * 64;
}

bool is_switch(const fabric::Fabric& fabric, fabric::DeviceId device) {
  const fabric::DeviceKind kind = fabric.kind(device);
  return kind == fabric::DeviceKind::network_switch || kind == fabric::DeviceKind::gateway;
}

}  // namespace

// A link of the network gets a gate; its far end, when it is a switch, an ingress.
void Simulator::add_gate(std::uint32_t number) {
  gates_.resize(links_.size());
  ingresses_.resize(links_.size());
  const auto parts = network_.parts(number);
  const auto wire = std::find_if(parts.begin(), parts.end(), [this](fabric::LinkId link) {
    return fabric::is_network(fabric_->link_class(link).kind);
  });
  if (wire == parts.end()) return;
  links_[number].gated = true;
  if (options_.flow_control == "none") return;  // it only writes telemetry
  const fabric::DeviceId device = fabric_->to(*wire);
  if (!is_switch(*fabric_, device)) return;
  Ingress& ingress = ingresses_[number];
  const fabric::LinkClass& c = fabric_->link_class(*wire);
  // The pause crosses the wire; what it cannot stop any more is on the wire, and in the devices
  // that the link's latency covers.
  const Duration mean = Duration::picoseconds((c.latency.ps() + links_[number].latency + 1) / 2);
  const Bytes room =
      options_.headroom.value_or(flow_control::headroom(c.raw_rate, mean, Bytes(kLargestFrame)));
  ingress.headroom = room.count();
  ingress.notice = (serialization_time(flow_control::kPauseFrame, c.raw_rate) + c.latency +
                    flow_control::pause_time(flow_control::response_quanta(c.raw_rate), c.raw_rate))
                       .ps();
  ingress.buffer = buffer_of(device, room);
  if (credits_are_used()) {
    credits_.resize(links_.size());
    // A credit comes back over the wire, in a flow control packet of 8 B.
    ingress.notice = (serialization_time(Bytes(8), c.raw_rate) + c.latency).ps();
    const double loop = static_cast<double>(links_[number].latency + ingress.notice) * 1e-12;
    const auto twice = static_cast<std::int64_t>(2 * loop * c.raw_rate.bytes_per_second());
    credits_[number].capacity =
        options_.credit_buffer.value_or(std::max(Bytes(65'536), Bytes(twice))).count();
  }
  wire_of_[wire->value] = number;
  const auto back = wire_of_.find(fabric::reverse(*wire).value);
  if (back == wire_of_.end()) return;
  ingress.reverse = back->second;
  ingresses_[back->second].reverse = number;
}

std::uint32_t Simulator::buffer_of(fabric::DeviceId device, Bytes headroom) {
  const auto [at, is_new] =
      buffer_of_device_.try_emplace(device.value, static_cast<std::uint32_t>(buffers_.size()));
  if (is_new) {
    const Bytes stated = fabric_->device_class(device).buffer;
    const Bytes whole = stated.count() > 0 ? stated : options_.switch_buffer;
    const auto ports = static_cast<std::int64_t>(fabric_->out_links(device).size());
    // Headroom of every port is set aside; what is left is shared, a frame a port at least.
    buffers_.push_back(
        {std::max(whole.count() - ports * headroom.count(), ports * kLargestFrame), 0});
  }
  return at->second;
}

std::int64_t Simulator::allowed(const Ingress& ingress) const {
  const Buffer& buffer = buffers_[ingress.buffer];
  const double threshold = flow_control::dynamic_threshold(
      options_.buffer_alpha, static_cast<double>(buffer.shared), static_cast<double>(buffer.used));
  return std::max(static_cast<std::int64_t>(threshold), 2 * kLargestFrame);
}

void Simulator::join_gated(std::uint32_t number, std::uint32_t index) {
  Gate& gate = gates_[number];
  Packet& packet = pool_[index];
  Link& link = links_[number];
  if (packet.ingress != kNone && !enter_buffer(packet)) {
    drop(index);
    return;
  }
  const Time ahead = std::max<Time>(0, link.free - now_) +
                     network_.serialization(number, static_cast<std::uint32_t>(gate.queued));
  const auto queue = static_cast<std::uint64_t>(ahead) >> kQueueBits;
  // A port that waits for credit is the victim of congestion elsewhere and marks nothing.
  if (queue > link.mark_from && packet.kind == PacketKind::data && !packet.congestion &&
      !gate.short_of_credit && take_mark(link, static_cast<std::uint32_t>(queue))) {
    packet.congestion = true;
    ++counters_.marks;
  }
  if (queue > link.limit) {
    if (packet.ingress != kNone) leave_buffer(packet.ingress, packet.wire_bytes);
    drop(index);
    return;
  }
  packet.next = kNone;
  gate.queued += packet.wire_bytes;
  (gate.tail == kNone ? gate.head : pool_[gate.tail].next) = index;
  gate.tail = index;
  if (gate.sending == kNone && !gate.paused) start_or_wait(number);
}

// Counts the packet against its ingress, which may have to stop its sender. False: no room is left.
bool Simulator::enter_buffer(const Packet& packet) {
  Ingress& ingress = ingresses_[packet.ingress];
  if (ingress.buffer == kNone || credits_are_used()) return true;
  if (ingress.pausing && ingress.used + packet.wire_bytes > ingress.stop_at + ingress.headroom)
    return false;
  ingress.used += packet.wire_bytes;
  buffers_[ingress.buffer].used += packet.wire_bytes;
  if (!ingress.pausing && ingress.used >= allowed(ingress)) {
    ingress.pausing = true;
    ingress.stop_at = ingress.used;
    announce(packet.ingress, true);
  }
  return true;
}

void Simulator::leave_buffer(std::uint32_t number, std::uint32_t bytes) {
  Ingress& ingress = ingresses_[number];
  if (ingress.buffer == kNone) return;
  if (credits_are_used()) {
    return_credit(number, bytes);
    return;
  }
  ingress.used -= bytes;
  buffers_[ingress.buffer].used -= bytes;
  CHECK(ingress.used >= 0 && buffers_[ingress.buffer].used >= 0);
  // Resumes two frames below the threshold, or when empty.
  if (ingress.pausing &&
      (ingress.used == 0 || ingress.used + 2 * kLargestFrame <= allowed(ingress))) {
    ingress.pausing = false;
    announce(number, false);
  }
}

// The sender of link `number` will stop or go on when the frame has got there and been heeded. It
// waits for the packet that is leaving the other way.
void Simulator::announce(std::uint32_t number, bool stop) {
  const Ingress& ingress = ingresses_[number];
  Time when = now_ + ingress.notice;
  if (ingress.reverse != kNone) when += std::max<Time>(0, links_[ingress.reverse].free - now_);
  Gate& gate = gates_[number];
  when = gate.last_announcement = std::max(when, gate.last_announcement);
  CHECK(gate.announcements < 64);
  gate.announced |= static_cast<std::uint64_t>(stop) << gate.announcements++;
  counters_.pauses += stop ? 1 : 0;
  if (links_[number].watched)
    probe_->pause_sent(shown_as(number), Instant::at(Duration::picoseconds(when - ingress.notice)),
                       stop);
  queue_.push(when, kPause << kKindShift | number);
}

void Simulator::heed_pause(std::uint32_t number) {
  Gate& gate = gates_[number];
  if (credits_are_used()) {
    credits_[number].wake_set = false;
    if (gate.sending == kNone && gate.head != kNone) start_or_wait(number);
    return;
  }
  const bool stop = (gate.announced & 1) != 0;
  gate.announced >>= 1;
  --gate.announcements;
  if (stop == gate.paused) return;
  gate.paused = stop;
  if (links_[number].watched) watch_hold(number, result::Hold::pause, stop);
  if (stop) {
    gate.paused_since = now_;
    ++gate.pauses;
    return;
  }
  gate.paused_for += now_ - gate.paused_since;
  if (gate.sending == kNone && gate.head != kNone) start_or_wait(number);
}

// With credits the packet at the head may have to wait for some.
void Simulator::start_or_wait(std::uint32_t number) {
  if (!credits_are_used() || ingresses_[number].buffer == kNone) {
    start_sending(number);
    return;
  }
  Credits& credits = credits_[number];
  while (!credits.returning.empty() && credits.returning.front().when <= now_) {
    credits.outstanding -= credits.returning.front().bytes;
    credits.returning.pop_front();
  }
  CHECK(credits.outstanding >= 0);
  const std::int64_t need = in_blocks(pool_[gates_[number].head].wire_bytes);
  if (credits.outstanding + need <= credits.capacity) {
    credits.outstanding += need;
    if (links_[number].watched && gates_[number].short_of_credit)
      watch_hold(number, result::Hold::credit, false);
    gates_[number].short_of_credit = false;
    start_sending(number);
    return;
  }
  ++counters_.credit_waits;
  if (links_[number].watched && !gates_[number].short_of_credit)
    watch_hold(number, result::Hold::credit, true);
  gates_[number].short_of_credit = true;
  credits.starved = credits.returning.empty();
  if (!credits.starved && !credits.wake_set) {
    credits.wake_set = true;
    queue_.push(credits.returning.front().when, kPause << kKindShift | number);
  }
}

void Simulator::return_credit(std::uint32_t number, std::uint32_t bytes) {
  Credits& credits = credits_[number];
  const Time when = now_ + ingresses_[number].notice;
  credits.returning.push_back({when, in_blocks(bytes)});
  if (!credits.starved) return;
  credits.starved = false;
  credits.wake_set = true;
  queue_.push(when, kPause << kKindShift | number);
}

void Simulator::start_sending(std::uint32_t number) {
  Gate& gate = gates_[number];
  Link& link = links_[number];
  const std::uint32_t index = gate.head;
  Packet& packet = pool_[index];
  gate.head = packet.next;
  if (gate.head == kNone) gate.tail = kNone;
  gate.queued -= packet.wire_bytes;
  gate.sending = packet.wire_bytes;
  gate.sending_from = packet.ingress;
  if (telemetry_.wanted() && packet.ingress != kNone && packet.kind == PacketKind::data)
    telemetry_.write(index, {number, now_, link.bytes, gate.queued, 8e12 / ps_per_byte(link)});
  link.free = now_;
  put_on_wire(number, index);
  if (link.watched) watch_sent(number, index, now_);
  queue_.push(link.free, kGate << kKindShift | number);
  if (!gate.nic_waits) return;
  gate.nic_waits = false;
  queue_.push(now_, kInjector << kKindShift | number);
}

void Simulator::sending_done(std::uint32_t number) {
  Gate& gate = gates_[number];
  const std::uint32_t bytes = gate.sending;
  gate.sending = kNone;
  if (gate.sending_from != kNone) leave_buffer(gate.sending_from, bytes);
  if (!gate.paused && gate.head != kNone) start_or_wait(number);
}

// What the links in of a switch hold is what its buffer holds. Of the credits of a link no more is
// out than it has, and all that is on its way back is part of it. Nothing is left when all flows
// have ended.
void Simulator::check_conserved() const {
  std::vector<std::int64_t> used(buffers_.size(), 0);
  for (const Ingress& ingress : ingresses_) {
    CHECK(ingress.used >= 0);
    if (ingress.buffer != kNone) used[ingress.buffer] += ingress.used;
  }
  for (std::size_t i = 0; i < used.size(); ++i) {
    CHECK(used[i] == buffers_[i].used);
    CHECK(pool_.used() > 0 || used[i] == 0);
  }
  for (const Credits& credits : credits_) {
    std::int64_t returning = 0;
    for (const Credits::Return& back : credits.returning) returning += back.bytes;
    CHECK(credits.outstanding <= credits.capacity && returning <= credits.outstanding);
    CHECK(pool_.used() > 0 || returning == credits.outstanding);
  }
}

// From the first gate that holds packets back, along who waits for whom.
std::string Simulator::wait_chain() const {
  std::string text;
  std::vector<bool> seen(gates_.size(), false);
  std::uint32_t at = kNone;
  for (std::uint32_t l = 0; l < gates_.size() && at == kNone; ++l)
    if (gates_[l].sending == kNone && gates_[l].head != kNone) at = l;
  while (at != kNone) {
    const std::string name = fabric_->link_name(network_.parts(at).back());
    text += text.empty() ? name : fmt::format(" waits for {}", name);
    if (seen[at]) break;
    seen[at] = true;
    std::uint32_t next = kNone;
    for (std::uint32_t l = 0; l < gates_.size() && next == kNone; ++l) {
      if (gates_[l].sending != kNone) continue;
      for (std::uint32_t p = gates_[l].head; p != kNone && next == kNone; p = pool_[p].next)
        if (pool_[p].ingress == at) next = l;
    }
    at = next;
  }
  return text;
}

}  // namespace weft::engine::packet
