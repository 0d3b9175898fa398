#include "engine/packet/collective_run.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/check.h"

namespace weft::engine::packet {

using collective::kSwitchPlane;

namespace {

// Messages that others pass on report after this many bytes: NCCL's slice of a chunk is of this
// order, and a few packets are enough to hide the latency of a hop.
constexpr std::uint32_t kSliceBytes = 8192;
// A piece has four packets at least, on average over the messages, and a collective no more than 64
// pieces, nor so many that they take more memory than the packets do.
constexpr std::int64_t kPieceBytes = 16'384;
constexpr std::int64_t kMostPieces = 64, kMostStates = std::int64_t{1} << 21;

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
      tag_(tag) {
  Duration least = fluid_.latency;
  if (fluid_.cap && fluid_.cap->bps() > 0)
    least += Duration::from_seconds(size.to_double() / fluid_.cap->bytes_per_second());
  earliest_end_ = ground.simulator->now() + least.ps();
  fluid_.edges = {};
  choose_pieces();
  states_.resize(graph_.messages().size() * pieces_);
  left_ = piece_count();
}

void CollectiveRun::choose_pieces() {
  const auto messages = graph_.messages();
  if (!graph_.waits_for_whole() || messages.empty()) return;
  const auto count = static_cast<std::int64_t>(messages.size());
  std::int64_t bytes = 0;
  for (const Message& message : messages) bytes += message.bytes;
  const std::int64_t most = std::min(kMostPieces, kMostStates / count);
  pieces_ = static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(bytes / count / kPieceBytes, 1, std::max<std::int64_t>(1, most)));
}

// What may begin when `piece` has left: the next message of its phase, or the phase again with a
// later piece, so many on as it takes to fill the way; and after the first piece the next message
// of its lane.
template <typename Visit>
void CollectiveRun::visit_next(PieceId piece, const Visit& visit) const {
  const Message& message = graph_.messages()[piece / pieces_];
  const std::uint32_t number = piece % pieces_;
  if (message.next_on_way != kNoMessage) visit(id(message.next_on_way, number));
  const std::uint32_t lead = hops_[message.crosses ? 1 : 0].lead;
  if (message.next_piece != kNoMessage && number + lead < pieces_)
    visit(id(message.next_piece, number + lead));
  if (message.next_in_lane != kNoMessage && number == 0) visit(id(message.next_in_lane, 0));
}

void CollectiveRun::count_waits() {
  for (PieceId piece = 0; piece < piece_count(); ++piece) {
    states_[piece].waits_for += static_cast<std::uint32_t>(graph_.before(piece / pieces_).size());
    visit_next(piece, [this](PieceId next) { ++states_[next].waits_for; });
  }
}

bool CollectiveRun::start() {
  if (graph_.needs_network_reduction()) {
    refusal_ = "the packet engine has no switches that reduce in the network (SHARP); flow has";
    return false;
  }
  if (!measure_hops()) return false;
  count_waits();
  for (PieceId piece = 0; piece < piece_count(); ++piece)
    if (states_[piece].waits_for == 0) ready_.push_back(piece);
  find_startup();
  return begin_ready();
}

// Times of the two kinds of hop, inside a node and between nodes.
bool CollectiveRun::measure_hops() {
  const auto messages = graph_.messages();
  for (const bool crosses : {false, true}) {
    const auto sample = std::find_if(messages.begin(), messages.end(),
                                     [&](const Message& m) { return m.crosses == crosses; });
    if (sample == messages.end()) continue;
    const Connected* way = connect(*sample);
    if (way == nullptr) return false;
    const Connector& connector = *ground_.connector;
    HopTimes& hop = hops_[crosses ? 1 : 0];
    hop.crossing = static_cast<double>(connector.crossing_time(*way, sample->bytes));
    const auto busy = static_cast<double>(connector.sending_time(*way, wire_bytes(*sample, *way)));
    hop.per_byte = busy / static_cast<double>(sample->bytes);
    hop.shown = 1 - std::min(1.0, busy / hop.crossing);
    const auto beside = std::count_if(messages.begin(), messages.end(), [&](const Message& m) {
      return m.from == sample->from && m.crosses == crosses && m.next_piece != kNoMessage;
    });
    hop.lead = static_cast<std::uint32_t>(
        std::clamp(std::ceil(hop.crossing / (busy / pieces_ * static_cast<double>(beside))), 1.0,
                   static_cast<double>(kMostPieces)));
  }
  return true;
}

// The model states a latency. What the longest chain of messages costs by itself counts as a part
// of it; the rest is paid before the first message. A message that waits for a whole piece costs a
// crossing and the time that the piece is sent. One that follows another slice by slice costs a
// crossing and a slice when nothing goes before it on its way; else the hop hides behind what does,
// as far as that is longer.
void CollectiveRun::find_startup() {
  const auto messages = graph_.messages();
  std::vector<std::uint32_t> left(messages.size());
  std::vector<double> starts(messages.size(), 0);
  std::vector<bool> behind(messages.size(), false);
  std::vector<MessageId> ready;
  for (MessageId m = 0; m < messages.size(); ++m) {
    left[m] = states_[id(m, 0)].waits_for;
    if (left[m] == 0) ready.push_back(m);
    if (messages[m].next_on_way != kNoMessage) behind[messages[m].next_on_way] = true;
  }
  double longest = 0;
  for (std::size_t i = 0; i < ready.size(); ++i) {
    const MessageId m = ready[i];
    const HopTimes& hop = hops_[messages[m].crosses ? 1 : 0];
    const double whole = static_cast<double>(messages[m].bytes) / pieces_;
    const double slice = std::min(whole, double{kSliceBytes});
    longest = std::max(longest, starts[m] + hop.crossing * hop.shown);
    const auto reach = [&](MessageId next, double time) {
      starts[next] = std::max(starts[next], starts[m] + time);
      if (--left[next] == 0) ready.push_back(next);
    };
    for (const Dependency& after : graph_.after(m)) {
      const double waits = hop.crossing + (after.follows ? slice : whole) * hop.per_byte;
      const bool hides = after.follows && behind[after.message];
      reach(after.message, hides ? hop.crossing * hop.shown : waits);
    }
    for (const MessageId next : {messages[m].next_on_way, messages[m].next_in_lane})
      if (next != kNoMessage) reach(next, 0);
  }
  CHECK(ready.size() == messages.size());  // no message waits for itself
  first_start_ = ground_.simulator->now() +
                 std::max<Time>(0, fluid_.latency.ps() - static_cast<Time>(longest));
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

bool CollectiveRun::begin_ready() {
  std::vector<PieceId> now;
  while (!ready_.empty()) {
    now.clear();
    now.swap(ready_);
    for (const PieceId piece : now)
      if (!begin(piece)) return false;
  }
  return true;
}

bool CollectiveRun::begin(PieceId piece) {
  const MessageId id = piece / pieces_;
  const Message& message = graph_.messages()[id];
  const Connected* way = connect(message);
  if (way == nullptr) {
    refusal_ = ground_.connector->refusal();
    return false;
  }
  Simulator& simulator = *ground_.simulator;
  State& state = states_[piece];
  state.begun = true;
  const std::uint32_t payload = simulator.connection(way->connection).payload;
  const std::int64_t bytes = wire_bytes(message, *way);
  const std::int64_t packets = (bytes + payload - 1) / payload;
  // Pieces end between packets, so that there is no more of them than of the whole.
  const std::int64_t number = piece % pieces_;
  const std::int64_t from = packets * number / pieces_, to = packets * (number + 1) / pieces_;
  state.total = static_cast<std::uint32_t>(to - from);
  if (state.total == 0) {  // of a message with fewer packets than pieces
    visit_next(piece, [this](PieceId next) { satisfy(next); });
    arrived(piece, true, true);
    return true;
  }
  FlowSpec spec;
  spec.connection = way->connection;
  spec.bytes = std::min(bytes, to * payload) - from * payload;
  spec.tag = tag_ + piece;
  spec.start = std::max(simulator.now(), first_start_);
  visit_next(piece, [&spec](PieceId) { spec.tell_sent = true; });
  const auto after = graph_.after(id);
  if (std::any_of(after.begin(), after.end(), [](const Dependency& d) { return d.follows; }))
    spec.report_every = std::max(1u, kSliceBytes / payload);
  spec.released = released(piece);
  last_connection_ = way->connection;
  state.flow = simulator.start_flow(spec);
  return true;
}

// Packets that may leave: the share that has come in of what it passes on.
std::uint32_t CollectiveRun::released(PieceId piece) const {
  const std::uint64_t total = states_[piece].total;
  std::uint64_t least = total;
  for (const Dependency& d : graph_.before(piece / pieces_)) {
    const State& before = states_[id(d.message, piece % pieces_)];
    if (!d.follows || before.done) continue;
    least = std::min(least, total * before.received / std::max(1u, before.total));
  }
  return static_cast<std::uint32_t>(least);
}

void CollectiveRun::satisfy(PieceId piece) {
  CHECK(states_[piece].waits_for > 0);
  if (--states_[piece].waits_for == 0) ready_.push_back(piece);
}

bool CollectiveRun::progress(PieceId piece, std::uint32_t packets, bool done) {
  State& state = states_[piece];
  const bool first = state.received == 0;
  state.received = packets;
  arrived(piece, first, done);
  return begin_ready();
}

void CollectiveRun::arrived(PieceId piece, bool first, bool done) {
  states_[piece].done = done;
  if (done) --left_;
  for (const Dependency& d : graph_.after(piece / pieces_)) {
    const PieceId next = id(d.message, piece % pieces_);
    if (d.follows && states_[next].begun) {
      if (!states_[next].done) ground_.simulator->release(states_[next].flow, released(next));
    } else if (d.follows ? first : done) {
      satisfy(next);
    }
  }
}

bool CollectiveRun::sent(PieceId piece) {
  visit_next(piece, [this](PieceId next) { satisfy(next); });
  return begin_ready();
}

}  // namespace weft::engine::packet
