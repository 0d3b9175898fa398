#include "engine/flow/flow_run.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace weft::engine {

namespace {

constexpr std::uint32_t kNone = 0xffffffffu;

}  // namespace

FlowRun::FlowRun(const Setup& setup, result::Probe* probe)
    : setup_(&setup),
      probe_(probe),
      expander_(setup),
      outcome_(setup, expander_),
      graph_(setup.work),
      ops_(setup.work.ops.size()),
      constraint_of_link_(setup.fabric->link_count(), kNone) {}

bool FlowRun::later(const Event& a, const Event& b) {
  if (a.when != b.when) return a.when > b.when;
  return a.op > b.op;
}

void FlowRun::schedule(Instant when, work::OpId op, Step step) {
  events_.push_back({when, op.value, step});
  std::push_heap(events_.begin(), events_.end(), later);
}

result::Result FlowRun::run() {
  for (std::size_t i = 0; i < ops_.size(); ++i) {
    ops_[i].waits_for = graph_.dependency_count(work::OpId(i));
    if (ops_[i].waits_for == 0)
      schedule(std::max(Instant(), setup_->work.ops[i].earliest), work::OpId(i), Step::start);
  }
  while (!events_.empty() || !completions_.empty()) {
    now_ = events_.empty() ? completions_.front_time() : events_.front().when;
    if (!completions_.empty()) now_ = std::min(now_, completions_.front_time());
    CHECK(now_ < Instant::never());  // flows that cannot move: no link of a fabric has rate 0
    process_instant();
    if (dirty_) solve();
  }
  CHECK(ended_ == ops_.size());
  result::Result result = outcome_.finish("flow");
  result.engine.events = event_count_;
  result.engine.rate_solves = solve_count_;
  return result;
}

// Everything that happens now, including what it sets off at once.
void FlowRun::process_instant() {
  while (true) {
    if (!events_.empty() && events_.front().when == now_) {
      const Event event = events_.front();
      std::pop_heap(events_.begin(), events_.end(), later);
      events_.pop_back();
      process(event);
    } else if (!completions_.empty() && completions_.front_time() == now_) {
      complete(completions_.front());
    } else {
      return;
    }
    ++event_count_;
  }
}

void FlowRun::process(const Event& event) {
  const work::OpId op(std::size_t{event.op});
  switch (event.step) {
    case Step::start:
      start(op);
      break;
    case Step::begin_fluid:
      begin_fluid(op);
      break;
    case Step::end:
      end(op);
      break;
  }
}

void FlowRun::start(work::OpId op) {
  outcome_.times(op).start = now_;
  if (probe_ != nullptr) probe_->op_started(op, now_);
  const work::Op& what = setup_->work.ops[op.index()];
  if (const auto* compute = std::get_if<work::Compute>(&what.what)) {
    schedule(now_ + compute->time, op, Step::end);
    return;
  }
  const Duration latency = expander_.expand(op).latency;
  if (latency > Duration())
    schedule(now_ + latency, op, Step::begin_fluid);
  else
    begin_fluid(op);
}

void FlowRun::begin_fluid(work::OpId op) {
  outcome_.times(op).fluid = now_;
  const Expansion& expansion = expander_.expand(op);
  outcome_.carry(op, expansion);
  OpState& state = ops_[op.index()];
  state.cap = kNoCap;
  if (expansion.flows.size() > 1 && expansion.cap != Expansion::kUnlimited)
    state.cap = take_cap(expansion.cap);
  for (const Expansion::Flow& flow : expansion.flows)
    if (flow.bytes > 0) add_flow(op, expansion, flow);
  if (state.flows_left == 0) end(op);
}

void FlowRun::add_flow(work::OpId op, const Expansion& expansion, const Expansion::Flow& flow) {
  MaxMin::Limits limits{flow.weight, MaxMin::kUnlimited};
  uses_.clear();
  for (std::uint32_t i = flow.begin; i < flow.end; ++i)
    uses_.push_back({constraint_of(expansion.shares[i].link), expansion.shares[i].spent});
  OpState& state = ops_[op.index()];
  if (state.cap != kNoCap)
    uses_.push_back({ConstraintId(std::size_t{state.cap}), 1});
  else
    limits.cap = expansion.cap;
  const VariableId variable = solver_.add_variable(limits, uses_);
  if (variable.index() >= flows_.size()) flows_.resize(variable.index() + 1);
  Flow& added = flows_[variable.index()];
  added = {};
  added.op = op;
  added.remaining = flow.bytes;
  added.since = added.cause_since = now_;
  completions_.set(variable.value, Instant::never());
  ++state.flows_left;
  dirty_ = true;
}

void FlowRun::complete(std::uint32_t number) {
  Flow& flow = flows_[number];
  if (flow.rate != MaxMin::kUnlimited) {
    // The completion was rounded to a picosecond; what that leaves is less than one's worth.
    const double left = flow.remaining - flow.rate * (now_ - flow.since).to_seconds();
    CHECK(std::abs(left) <= flow.rate * 1e-12 + 1e-6 * (1 + flow.remaining));
  }
  note_delay(flow);
  completions_.erase(number);
  solver_.remove_variable(VariableId(std::size_t{number}));
  dirty_ = true;
  OpState& state = ops_[flow.op.index()];
  if (--state.flows_left > 0) return;
  outcome_.set_delays(flow.op, flow.delays);
  if (state.cap != kNoCap) free_caps_.push_back(state.cap);
  end(flow.op);
}

void FlowRun::end(work::OpId op) {
  Outcome::Times& times = outcome_.times(op);
  times.end = now_;
  if (std::holds_alternative<work::Compute>(setup_->work.ops[op.index()].what)) times.fluid = now_;
  ++ended_;
  if (probe_ != nullptr) {
    probe_->op_ended(op, now_);
    const std::size_t percent = ended_ * 100 / ops_.size();
    if (percent > reported_percent_) {
      reported_percent_ = percent;
      probe_->progress(static_cast<double>(ended_) / static_cast<double>(ops_.size()), now_);
    }
  }
  for (work::OpId waiting : graph_.waiting_for(op)) {
    if (--ops_[waiting.index()].waits_for > 0) continue;
    schedule(std::max(now_, setup_->work.ops[waiting.index()].earliest), waiting, Step::start);
  }
}

void FlowRun::solve() {
  dirty_ = false;
  ++solve_count_;
  for (VariableId variable : solver_.solve()) update(variable);
  check_capacities();
}

void FlowRun::update(VariableId variable) {
  Flow& flow = flows_[variable.index()];
  const DelayCause cause = cause_of(variable);
  if (cause != flow.cause) {
    note_delay(flow);
    flow.cause = cause;
  }
  const double rate = solver_.rate(variable);
  if (rate == flow.rate) return;
  flow.remaining = std::max(0.0, flow.remaining - flow.rate * (now_ - flow.since).to_seconds());
  flow.since = now_;
  flow.rate = rate;
  Instant completion = Instant::never();
  if (rate == MaxMin::kUnlimited)
    completion = now_;
  else if (rate > 0)
    completion = now_ + Duration::from_seconds(flow.remaining / rate);
  completions_.set(variable.value, completion);
  if (probe_ != nullptr && rate != MaxMin::kUnlimited)
    probe_->flow_rate(flow.op.value, now_, BitRate::from_gigabytes_per_second(rate * 1e-9));
}

void FlowRun::note_delay(Flow& flow) {
  flow.delays = outcome_.add_delay(flow.delays, flow.cause, now_ - flow.cause_since);
  flow.cause_since = now_;
}

DelayCause FlowRun::cause_of(VariableId variable) const {
  const auto constraint = solver_.bottleneck(variable);
  if (!constraint || !link_of_constraint_[constraint->index()].valid())
    return {DelayCause::Kind::cap, {}};
  return {DelayCause::Kind::link, link_of_constraint_[constraint->index()]};
}

// In debug builds: no solve may load a link beyond its rate.
void FlowRun::check_capacities() const {
#ifndef NDEBUG
  for (std::uint32_t c : solver_.touched_constraints()) {
    const ConstraintId constraint{std::size_t{c}};
    CHECK(solver_.load(constraint) <= solver_.capacity(constraint) * (1 + 1e-9));
  }
#endif
}

ConstraintId FlowRun::constraint_of(fabric::LinkId link) {
  std::uint32_t& constraint = constraint_of_link_[link.index()];
  if (constraint == kNone) {
    constraint =
        solver_.add_constraint(setup_->fabric->link_class(link).raw_rate.bytes_per_second()).value;
    link_of_constraint_.push_back(link);
  }
  return ConstraintId(std::size_t{constraint});
}

std::uint32_t FlowRun::take_cap(double capacity) {
  if (!free_caps_.empty()) {
    const std::uint32_t cap = free_caps_.back();
    free_caps_.pop_back();
    solver_.set_capacity(ConstraintId(std::size_t{cap}), capacity);
    return cap;
  }
  link_of_constraint_.push_back({});
  return solver_.add_constraint(capacity).value;
}

}  // namespace weft::engine
