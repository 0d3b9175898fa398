#include "engine/packet/collective_run.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace weft::engine::packet {

using collective::kSwitchPlane;

namespace {

// Messages that others pass on report after this many bytes: NCCL's slice of a chunk is of this
// order, and a few packets are enough to hide the latency of a hop.
constexpr std::uint32_t kSliceBytes = 32'768;

bool is_memory_link(fabric::LinkKind kind) {
  return kind == fabric::LinkKind::nvlink || kind == fabric::LinkKind::xgmi;
}

}  // namespace

CollectiveRun::CollectiveRun(const Ground& ground, const Expander::Chosen& chosen, Bytes size,
                             std::uint32_t tag)
    : ground_(ground),
      plan_(chosen.plan),
      fluid_(chosen.algorithm->fluid(chosen.request, *chosen.plan, ground.setup->constants)),
      graph_(*chosen.algorithm, chosen.request, *chosen.plan, fluid_),
      states_(graph_.messages().size()),
      tag_(tag),
      left_(static_cast<std::uint32_t>(states_.size())) {
  Duration least = fluid_.latency;
  if (fluid_.cap && fluid_.cap->bps() > 0)
    least += Duration::from_seconds(size.to_double() / fluid_.cap->bytes_per_second());
  earliest_end_ = ground.simulator->now() + least.ps();
  fluid_.edges = {};
  const auto messages = graph_.messages();
  for (MessageId m = 0; m < messages.size(); ++m) {
    states_[m].waits_for += static_cast<std::uint32_t>(graph_.before(m).size());
    for (const MessageId next : {messages[m].next_on_way, messages[m].next_in_lane})
      if (next != kNoMessage) ++states_[next].waits_for;
  }
}

bool CollectiveRun::start() {
  if (graph_.needs_network_reduction()) {
    refusal_ = "the packet engine has no switches that reduce in the network (SHARP); flow has";
    return false;
  }
  std::vector<MessageId> first;
  for (MessageId m = 0; m < states_.size(); ++m)
    if (states_[m].waits_for == 0) first.push_back(m);
  started_ = ground_.simulator->now();
  if (!spread_latency()) return false;
  for (const MessageId m : first)
    if (!begin(m)) return false;
  return true;
}

// What the model's latency leaves after wires and store-and-forward is shared by the steps of the
// longest chain: its first message, and every one that passes on what came before. A hop's latency
// that is shorter than a message hides behind the message before, so that much is paid as well.
bool CollectiveRun::spread_latency() {
  const auto messages = graph_.messages();
  Time natural[2] = {0, 0};
  double hidden = 0;  // of the crossing of the widest kind of hop that the collective has
  for (const bool crosses : {false, true}) {
    const auto sample = std::find_if(messages.begin(), messages.end(),
                                     [&](const Message& m) { return m.crosses == crosses; });
    if (sample == messages.end()) continue;
    const Connected* way = connect(*sample);
    if (way == nullptr) return false;
    const Time crossing = ground_.connector->crossing_time(*way, sample->bytes);
    natural[crosses ? 1 : 0] = crossing;
    const Time busy = ground_.connector->sending_time(*way, wire_bytes(*sample, *way));
    hidden = std::min(1.0, static_cast<double>(busy) / static_cast<double>(crossing));
  }
  std::vector<std::uint32_t> left(messages.size()), depth(messages.size(), 1);
  std::vector<Time> starts(messages.size(), 0);
  std::vector<MessageId> ready;
  for (MessageId m = 0; m < messages.size(); ++m) {
    left[m] = states_[m].waits_for;
    if (left[m] == 0) ready.push_back(m);
  }
  std::uint32_t deepest = 0;
  Time longest = 0;
  for (std::size_t i = 0; i < ready.size(); ++i) {
    const MessageId m = ready[i];
    const Time end = starts[m] + natural[messages[m].crosses ? 1 : 0];
    deepest = std::max(deepest, depth[m]);
    longest = std::max(longest, end);
    const auto reach = [&](MessageId next, Time when) {
      depth[next] = std::max(depth[next], depth[m] + (messages[next].chained ? 1 : 0));
      starts[next] = std::max(starts[next], when);
      if (--left[next] == 0) ready.push_back(next);
    };
    for (const Dependency& after : graph_.after(m)) reach(after.message, end);
    for (const MessageId next : {messages[m].next_on_way, messages[m].next_in_lane})
      if (next != kNoMessage) reach(next, starts[m]);
  }
  CHECK(ready.size() == messages.size());  // no message waits for itself
  const auto seen = static_cast<Time>(static_cast<double>(longest) * (1 - hidden));
  if (deepest > 0) message_latency_ = std::max<Time>(0, fluid_.latency.ps() - seen) / deepest;
  return true;
}

const Connected* CollectiveRun::connect(const Message& message) {
  Connector& connector = *ground_.connector;
  const auto& gpus = plan_->group.gpus;
  if (message.to == kSwitchPlane) return connector.connect_to_switches(gpus[message.from], true);
  if (message.from == kSwitchPlane) return connector.connect_to_switches(gpus[message.to], false);
  Ends ends;
  ends.from = gpus[message.from];
  ends.to = gpus[message.to];
  ends.mover = fabric::Mover::sm;
  ends.entropy = std::uint32_t{message.channel} << 16;  // as the other engines number them
  if (message.crosses && message.from_nic.valid()) {
    ends.from_nic = message.from_nic;
    ends.to_nic = message.to_nic;
    ends.via = ground_.setup->options.via;
    return connector.connect(ends);
  }
  if (!message.crosses) ends.entropy = 0;
  ends.via = fabric::Via::nvlink;
  const Connected* way = connector.connect(ends);
  if (way != nullptr) return way;
  ends.via = fabric::Via::automatic;
  return connector.connect(ends);
}

// What the message takes of its links: overhead of the protocol and lost efficiency included.
// NVLink and xGMI carry collectives at NCCL's effective rate, which is below what a copy reaches.
std::int64_t CollectiveRun::wire_bytes(const Message& message, const Connected& way) const {
  double factor = way.crosses_network ? fluid_.network_wire_factor : fluid_.wire_factor;
  const fabric::LinkClass& link = ground_.setup->fabric->link_class(way.first);
  if (is_memory_link(link.kind)) {
    const double effective = collective::nccl_link_gb_per_s(link, plan_->compute_capability);
    if (effective > 0) factor *= link.raw_rate.gb_per_s() / effective / way.spent;
  }
  return std::max<std::int64_t>(1, std::llround(static_cast<double>(message.bytes) * factor));
}

bool CollectiveRun::begin(MessageId id) {
  const Message& message = graph_.messages()[id];
  const Connected* way = connect(message);
  if (way == nullptr) {
    refusal_ = ground_.connector->refusal();
    return false;
  }
  Simulator& simulator = *ground_.simulator;
  State& state = states_[id];
  state.begun = true;
  FlowSpec spec;
  spec.connection = way->connection;
  spec.bytes = wire_bytes(message, *way);
  spec.tag = tag_ + id;
  spec.start = message.chained ? simulator.now() + message_latency_
                               : std::max(simulator.now(), started_ + message_latency_);
  spec.tell_sent = message.next_on_way != kNoMessage || message.next_in_lane != kNoMessage;
  const std::uint32_t payload = simulator.connection(way->connection).payload;
  const auto after = graph_.after(id);
  if (std::any_of(after.begin(), after.end(), [](const Dependency& d) { return d.follows; }))
    spec.report_every = std::max(1u, kSliceBytes / payload);
  state.total = static_cast<std::uint32_t>((spec.bytes + payload - 1) / payload);
  spec.released = released(id);
  last_connection_ = way->connection;
  state.flow = simulator.start_flow(spec);
  return true;
}

// Packets that may leave: the share that has come in of what it passes on.
std::uint32_t CollectiveRun::released(MessageId id) const {
  const std::uint64_t total = states_[id].total;
  std::uint64_t least = total;
  for (const Dependency& d : graph_.before(id)) {
    const State& before = states_[d.message];
    if (!d.follows || before.done) continue;
    least = std::min(least, total * before.received / std::max(1u, before.total));
  }
  return static_cast<std::uint32_t>(least);
}

bool CollectiveRun::satisfy(MessageId message) {
  CHECK(states_[message].waits_for > 0);
  return --states_[message].waits_for > 0 || begin(message);
}

bool CollectiveRun::progress(MessageId id, std::uint32_t packets, bool done) {
  State& state = states_[id];
  const bool first = state.received == 0;
  state.received = packets;
  state.done = done;
  if (done) --left_;
  for (const Dependency& d : graph_.after(id)) {
    if (d.follows && states_[d.message].begun) {
      if (!states_[d.message].done)
        ground_.simulator->release(states_[d.message].flow, released(d.message));
    } else if (d.follows ? first : done) {
      if (!satisfy(d.message)) return false;
    }
  }
  return true;
}

bool CollectiveRun::sent(MessageId id) {
  const Message& message = graph_.messages()[id];
  for (const MessageId next : {message.next_on_way, message.next_in_lane})
    if (next != kNoMessage && !satisfy(next)) return false;
  return true;
}

}  // namespace weft::engine::packet
