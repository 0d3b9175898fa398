#include "engine/packet/packet_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "base/errors.h"

namespace weft::engine::packet {

PacketRun::PacketRun(const Setup& setup, result::Probe* probe)
    : setup_(&setup),
      probe_(probe),
      graph_(setup.work),
      simulator_(*setup.fabric, setup.packet, probe),
      connector_(setup, simulator_),
      expander_(setup),
      ops_(setup.work.ops.size()),
      next_tag_(static_cast<std::uint32_t>(ops_.size())) {}

result::Result PacketRun::run() {
  for (const work::OpId op : graph_.first()) schedule(op, 0);
  simulator_.run(*this);
  if (ended_ < ops_.size()) report_standstill();
  return finish();
}

// Nothing is left to happen, and something has not arrived: links wait for one another in a circle,
// or senders have given up.
void PacketRun::report_standstill() const {
  const std::string chain = simulator_.wait_chain();
  constexpr std::size_t kNamed = 5;
  std::string named;
  std::size_t found = 0;
  for (std::size_t i = 0; i < ops_.size(); ++i) {
    if (ops_[i].over || ++found > kNamed) continue;
    const std::string& label = setup_->work.ops[i].label;
    named += fmt::format("{}op {}{}", found == 1 ? "" : ", ", i,
                         label.empty() ? "" : fmt::format(" ({})", label));
  }
  const std::string never = fmt::format("{} of {} ops never end: {}{}", ops_.size() - ended_,
                                        ops_.size(), named, found > kNamed ? ", ..." : "");
  if (!chain.empty())
    throw InputError({"<work>"}, fmt::format("deadlock: {}; {}", never, chain),
                     "use routes without cycles of buffers (up_down), or a network that may lose");
  throw InputError(
      {"<work>"},
      fmt::format("{}: {} senders gave up after 7 timeouts of {}", never,
                  simulator_.counters().given_up, to_text(setup_->packet.retransmission_timeout)),
      "lose less: longer queues, a smaller window, or a lossless network");
}

void PacketRun::schedule(work::OpId op, Time when) {
  const Time earliest = setup_->work.ops[op.index()].earliest.since_start().ps();
  simulator_.set_timer(std::max(when, earliest), op.value);
}

// A timer is the start of its op, or the end of one that takes a known time.
void PacketRun::timer(std::uint32_t tag) {
  const work::OpId op(std::size_t{tag});
  if (ops_[tag].started) {
    end(op);
  } else {
    start(op);
  }
}

void PacketRun::start(work::OpId op) {
  OpState& state = ops_[op.index()];
  state.started = true;
  state.start = simulator_.now();
  if (probe_ != nullptr)
    probe_->op_started(op, Instant::at(Duration::picoseconds(simulator_.now())));
  const auto& what = setup_->work.ops[op.index()].what;
  if (const auto* compute = std::get_if<work::Compute>(&what)) {
    simulator_.set_timer(simulator_.now() + compute->time.ps(), op.value);
  } else if (const auto* transfer = std::get_if<work::Transfer>(&what)) {
    start_transfer(op, *transfer);
  } else {
    start_collective(op, std::get<work::CollectiveOp>(what));
  }
}

fabric::DeviceId PacketRun::gpu_of(work::RankId rank) const {
  const auto gpus = setup_->fabric->of_kind(fabric::DeviceKind::gpu);
  const std::uint32_t ordinal = setup_->work.rank_gpu[rank.index()];
  if (ordinal >= gpus.size())
    throw InputError({"<work>"},
                     fmt::format("rank {} is placed on GPU {}, but the fabric has {} GPUs",
                                 rank.value, ordinal, gpus.size()),
                     "place fewer ranks or enlarge the cluster");
  return gpus[ordinal];
}

void PacketRun::refuse(work::OpId op, const std::string& why) const {
  const std::string& label = setup_->work.ops[op.index()].label;
  throw InputError({"<work>"},
                   fmt::format("op {}{} cannot run: {}", op.value,
                               label.empty() ? "" : fmt::format(" ({})", label), why),
                   "weft path shows the ways between two devices");
}

void PacketRun::start_transfer(work::OpId op, const work::Transfer& transfer) {
  OpState& state = ops_[op.index()];
  Ends ends;
  ends.from = state.from = gpu_of(transfer.from);
  ends.to = state.to = gpu_of(transfer.to);
  ends.via = setup_->options.via;
  if (ends.from == ends.to) {  // already there
    simulator_.set_timer(simulator_.now(), op.value);
    return;
  }
  const Connected* connected = connector_.connect(ends);
  if (connected == nullptr) refuse(op, connector_.refusal());
  // Several queue pairs take ways of their own; inside a server there is one.
  const int asked = std::max(1, setup_->options.queue_pairs);
  const std::int64_t pairs = connected->crosses_network ? asked : 1;
  state.pairs = pairs;
  for (std::int64_t pair = 0; pair < pairs; ++pair) {
    ends.entropy = static_cast<std::uint32_t>(pair);
    connected = connector_.connect(ends);
    state.connection = connected->connection;
    const Time startup = simulator_.connection(state.connection).startup;
    FlowSpec spec;
    spec.connection = state.connection;
    spec.bytes = transfer.size.count() / pairs + (pair < transfer.size.count() % pairs ? 1 : 0);
    spec.tag = op.value;
    spec.start = simulator_.now() + startup;
    if (spec.bytes == 0) continue;
    ++state.flows_left;
    simulator_.start_flow(spec);
  }
  if (state.flows_left == 0) {
    const Time latency = connected->latency.ps();
    simulator_.set_timer(simulator_.now() + latency, op.value);
  }
}

void PacketRun::start_collective(work::OpId op, const work::CollectiveOp& collective) {
  const Expander::Chosen chosen = expander_.choose(op, collective);
  OpState& state = ops_[op.index()];
  state.ran.algorithm = chosen.algorithm->name();
  state.ran.protocol = collective::to_text(chosen.request.protocol);
  state.ran.channels = chosen.channels;
  const CollectiveRun::Ground ground{setup_, &simulator_, &connector_};
  auto run = std::make_unique<CollectiveRun>(ground, chosen, collective.size, next_tag_);
  if (run->piece_count() == 0 && !run->refuses()) {
    simulator_.set_timer(run->earliest_end(), op.value);
    return;
  }
  const std::uint32_t tag = next_tag_;
  CHECK(run->piece_count() < kNone - tag);
  next_tag_ += run->piece_count();
  CollectiveRun& started = *run;
  collectives_.emplace(tag, Active{op, std::move(run)});
  if (!started.start()) refuse(op, started.refusal());
}

void PacketRun::end_collective(std::uint32_t first_tag) {
  const auto active = collectives_.find(first_tag);
  OpState& state = ops_[active->second.op.index()];
  state.connection = active->second.run->last_connection();
  simulator_.set_timer(active->second.run->earliest_end(), active->second.op.value);
  collectives_.erase(active);
  if (collectives_.empty()) next_tag_ = static_cast<std::uint32_t>(ops_.size());
}

void PacketRun::flow_progress(std::uint32_t tag, std::uint32_t packets, bool done) {
  if (tag < ops_.size()) {
    if (done && --ops_[tag].flows_left == 0) end(work::OpId(std::size_t{tag}));
    return;
  }
  const auto& [first, active] = *std::prev(collectives_.upper_bound(tag));
  if (!active.run->progress(tag - first, packets, done)) refuse(active.op, active.run->refusal());
  if (done && probe_ != nullptr) report_progress();
  if (active.run->over()) end_collective(first);
}

void PacketRun::flow_sent(std::uint32_t tag) {
  const auto& [first, active] = *std::prev(collectives_.upper_bound(tag));
  if (!active.run->sent(tag - first)) refuse(active.op, active.run->refusal());
}

void PacketRun::end(work::OpId op) {
  ops_[op.index()].end = simulator_.now();
  ops_[op.index()].over = true;
  ++ended_;
  if (probe_ != nullptr) {
    probe_->op_ended(op, Instant::at(Duration::picoseconds(simulator_.now())));
    report_progress();
  }
  std::vector<work::OpId> ready;
  graph_.ended(op, ready);
  for (const work::OpId next : ready) schedule(next, simulator_.now());
}

// By ops; one that is a collective counts by its messages that have arrived.
void PacketRun::report_progress() {
  auto done = static_cast<double>(ended_);
  for (const auto& [tag, active] : collectives_) done += active.run->share_done();
  done /= static_cast<double>(ops_.size());
  const auto parts = static_cast<std::size_t>(done * kProgressParts);
  if (parts <= reported_parts_) return;
  reported_parts_ = parts;
  probe_->progress(done, Instant::at(Duration::picoseconds(simulator_.now())));
}

result::Result PacketRun::finish() {
  result::Result result;
  result.engine.name = "packet";
  result.engine.events = simulator_.counters().events;
  result.engine.packet_hops = simulator_.counters().packet_hops;
  for (const OpState& op : ops_) {
    result::OpSpan span = op.ran;
    span.start = Instant::at(Duration::picoseconds(op.start));
    span.end = Instant::at(Duration::picoseconds(op.end));
    result.completion = std::max(result.completion, span.end.since_start());
    result.ops.push_back(span);
  }
  result.packets = count_packets();
  fill_links(result);
  if (setup_->options.record_flows) fill_flows(result);
  name_bottleneck(result);
  return result;
}

result::PacketCounters PacketRun::count_packets() const {
  const Counters& c = simulator_.counters();
  result::PacketCounters out;
  out.sent = c.sent;
  out.retransmitted = c.retransmitted;
  out.acks = c.acks;
  out.nacks = c.nacks;
  out.notifications = c.notifications;
  out.marks = c.marks;
  out.drops = c.drops;
  out.timeouts = c.timeouts;
  out.pauses = c.pauses;
  out.credit_waits = c.credit_waits;
  out.peak_packets = simulator_.peak_packets();
  return out;
}

void PacketRun::fill_links(result::Result& result) {
  std::vector<double> bytes(setup_->fabric->link_count());
  Network& network = simulator_.network();
  for (std::uint32_t l = 0; l < network.link_count(); ++l) {
    for (const fabric::LinkId link : network.parts(l))
      bytes[link.index()] += static_cast<double>(network.links()[l].bytes);
  }
  const double seconds = result.completion.to_seconds();
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] == 0) continue;
    const fabric::LinkId link(i);
    const double rate = setup_->fabric->link_class(link).raw_rate.bytes_per_second();
    result.links.push_back({link, bytes[i], seconds > 0 ? bytes[i] / (rate * seconds) : 0});
  }
}

void PacketRun::fill_flows(result::Result& result) const {
  for (std::size_t i = 0; i < ops_.size(); ++i) {
    const auto* transfer = std::get_if<work::Transfer>(&setup_->work.ops[i].what);
    if (transfer == nullptr) continue;
    Duration alone;
    if (ops_[i].connection != kNone)
      alone = Duration::picoseconds(
          connector_.time_alone(ops_[i].connection, transfer->size.count() / ops_[i].pairs));
    result.flows.push_back({work::OpId(i), ops_[i].from, ops_[i].to, transfer->size,
                            Instant::at(Duration::picoseconds(ops_[i].start)),
                            Instant::at(Duration::picoseconds(ops_[i].end)), alone});
  }
}

void PacketRun::name_bottleneck(result::Result& result) {
  const auto last = std::max_element(
      ops_.begin(), ops_.end(), [](const OpState& a, const OpState& b) { return a.end < b.end; });
  if (last == ops_.end() || result.completion.ps() == 0) return;
  result::Bottleneck& out = result.bottleneck;
  if (last->connection == kNone) {
    out.name = "compute";
    out.share =
        static_cast<double>(last->end - last->start) / static_cast<double>(result.completion.ps());
    out.sentence = fmt::format("the last op computes for {:.0f} % of the time", out.share * 100);
    return;
  }
  Network& network = simulator_.network();
  const std::uint32_t path = simulator_.connection(last->connection).path;
  for (const std::uint32_t* at = network.path(path); *at != kNone; ++at) {
    const Link& link = network.links()[*at];
    const double busy = static_cast<double>(link.bytes) *
                        static_cast<double>(link.ps_per_byte_fixed >> 4) /
                        static_cast<double>(1 << (kRateBits - 4));
    const double share = busy / static_cast<double>(result.completion.ps());
    if (share <= out.share) continue;
    out.share = share;
    const auto parts = network.parts(*at);
    out.link = *std::min_element(parts.begin(), parts.end(), [this](auto a, auto b) {
      return setup_->fabric->link_class(a).raw_rate < setup_->fabric->link_class(b).raw_rate;
    });
  }
  if (!out.link.valid()) {  // nothing to move: what took time lies in no link
    out.name = "latency";
    out.sentence = "the last op moves nothing and takes its latency";
    return;
  }
  out.name = setup_->fabric->link_name(out.link);
  out.sentence =
      fmt::format("{} sends for {:.0f} % of the time, longest on the way of what ends last",
                  out.name, out.share * 100);
}

}  // namespace weft::engine::packet
