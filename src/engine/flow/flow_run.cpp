#include "engine/flow/flow_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/check.h"
#include "base/errors.h"

namespace weft::engine {

namespace {

// Room made at the start; more is made when it is needed.
constexpr std::size_t kLinksPerOp = 8;
constexpr std::size_t kFlowsAtOnce = 4096;

}  // namespace

FlowRun::FlowRun(const Setup& setup, result::Probe* probe)
    : setup_(&setup),
      probe_(probe),
      expander_(setup),
      outcome_(setup, expander_),
      graph_(setup.work),
      ops_(setup.work.ops.size()),
      constraint_of_link_(setup.fabric->link_count(), kNone) {
  // Most transfers use about eight links that few others use.
  const std::size_t links = std::min(setup.fabric->link_count(), kLinksPerOp * ops_.size());
  const std::size_t flows = std::min(ops_.size(), kFlowsAtOnce);
  solver_.expect(links, flows);
  finishing_.expect(links + 1, flows);
  link_of_constraint_.reserve(links);
  finishing_.set_level(kCapGroup, 1, Instant());
}

bool FlowRun::later(const Event& a, const Event& b) {
  if (a.when != b.when) return a.when > b.when;
  const bool change_a = a.step == Step::link_change;
  const bool change_b = b.step == Step::link_change;
  if (change_a != change_b) return change_b;
  return a.op > b.op;
}

void FlowRun::schedule(Instant when, work::OpId op, Step step) {
  if (step != Step::link_change) ++pending_;
  events_.push_back({when, op.value, step});
  std::push_heap(events_.begin(), events_.end(), later);
}

result::Result FlowRun::run() {
  for (const work::OpId op : graph_.first())
    schedule(std::max(Instant(), setup_->work.ops[op.index()].earliest), op, Step::start);
  for (std::size_t i = 0; i < setup_->link_changes.size(); ++i)
    schedule(setup_->link_changes[i].when, work::OpId(i), Step::link_change);
  while (pending_ > 0 || !finishing_.empty()) {
    now_ = events_.empty() ? finishing_.front_time() : events_.front().when;
    if (!finishing_.empty()) now_ = std::min(now_, finishing_.front_time());
    if (now_ == Instant::never()) refuse_stuck();
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
    } else if (!finishing_.empty() && finishing_.front_time() == now_) {
      complete(finishing_.front());
    } else {
      return;
    }
    ++event_count_;
  }
}

void FlowRun::process(const Event& event) {
  const work::OpId op(std::size_t{event.op});
  if (event.step != Step::link_change) --pending_;
  switch (event.step) {
    case Step::link_change:
      change_link(setup_->link_changes[event.op]);
      break;
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
  const Expansion& expansion = expander_.expand(op);
  const Duration latency = expansion.latency;
  outcome_.carry(op, expansion);
  define_flows(op, expansion);
  if (latency > Duration())
    schedule(now_ + latency, op, Step::begin_fluid);
  else
    begin_fluid(op);
}

void FlowRun::define_flows(work::OpId op, const Expansion& expansion) {
  OpState& state = ops_[op.index()];
  state.first_flow = kNone;
  state.cap = kNone;
  if (expansion.flows.size() > 1 && expansion.cap != Expansion::kUnlimited)
    state.cap = take_cap(expansion.cap);
  for (std::size_t i = expansion.flows.size(); i-- > 0;)
    if (expansion.flows[i].bytes > 0) define_flow(op, expansion, expansion.flows[i]);
}

void FlowRun::define_flow(work::OpId op, const Expansion& expansion, const Expansion::Flow& flow) {
  MaxMin::Limits limits{flow.weight, MaxMin::kUnlimited};
  uses_.clear();
  for (std::uint32_t i = flow.begin; i < flow.end; ++i)
    uses_.push_back({constraint_of(expansion.shares[i].link), expansion.shares[i].spent});
  OpState& state = ops_[op.index()];
  if (state.cap != kNone)
    uses_.push_back({ConstraintId(std::size_t{state.cap}), 1});
  else
    limits.cap = expansion.cap;
  const VariableId variable = solver_.define_variable(limits, uses_);
  if (variable.index() >= flows_.size()) {
    flows_.resize(variable.index() + 1);
    bytes_.resize(variable.index() + 1);
  }
  flows_[variable.index()] = {op.value, state.first_flow, {}};
  bytes_[variable.index()] = flow.bytes;
  state.first_flow = variable.value;
}

void FlowRun::begin_fluid(work::OpId op) {
  outcome_.times(op).fluid = now_;
  OpState& state = ops_[op.index()];
  std::uint32_t next = kNone;
  for (std::uint32_t flow = state.first_flow; flow != kNone; flow = next) {
    next = flows_[flow].list;
    flows_[flow].list = Outcome::kEmptyList;
    flows_[flow].cause_since = now_;
    solver_.activate(VariableId(std::size_t{flow}));
    ++state.flows_left;
    dirty_ = true;
  }
  if (state.flows_left == 0) end(op);
}

void FlowRun::complete(std::uint32_t flow) {
  note_delay(flow);
  finishing_.remove(flow, now_);
  solver_.remove_variable(VariableId(std::size_t{flow}));
  dirty_ = true;
  const work::OpId op(std::size_t{flows_[flow].op});
  OpState& state = ops_[op.index()];
  if (--state.flows_left > 0) {
    outcome_.drop_delays(flows_[flow].list);
    return;
  }
  outcome_.set_delays(op, flows_[flow].list);
  if (state.cap != kNone) free_caps_.push_back(state.cap);
  end(op);
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
  std::vector<work::OpId> ready;
  graph_.ended(op, ready);
  for (const work::OpId next : ready)
    schedule(std::max(now_, setup_->work.ops[next.index()].earliest), next, Step::start);
}

void FlowRun::change_link(const LinkChange& change) {
  if (link_factor_.empty()) link_factor_.assign(setup_->fabric->link_count(), 1);
  link_factor_[change.link.index()] = change.factor;
  const std::uint32_t constraint = constraint_of_link_[change.link.index()];
  if (constraint == kNone) return;
  solver_.set_capacity(ConstraintId(std::size_t{constraint}), rate_of(change.link));
  dirty_ = true;
}

// Nothing will happen any more, but flows have bytes left: their links are down for good.
void FlowRun::refuse_stuck() {
  const std::uint32_t flow = finishing_.front();
  const DelayCause cause = cause_of(flow);
  const std::string& label = setup_->work.ops[flows_[flow].op].label;
  throw InputError({"<work>"},
                   fmt::format("op {}{} never ends: {} stays down", flows_[flow].op,
                               label.empty() ? "" : " (" + label + ")",
                               cause.link.valid() ? setup_->fabric->link_name(cause.link)
                                                  : std::string("its cap")),
                   "let the link come up again, or end the ops before it goes down");
}

void FlowRun::solve() {
  dirty_ = false;
  ++solve_count_;
  solver_.solve();
  regroup();
  if (probe_ != nullptr) report_rates();
  check_capacities();
}

// Takes flows with a new bottleneck out of their old groups at the old levels, then sets the new
// levels, then puts them into their new groups.
void FlowRun::regroup() {
  left_.clear();
  for (VariableId variable : solver_.moved()) {
    const std::uint32_t flow = variable.value;
    if (!finishing_.contains(flow)) {
      left_.push_back(bytes_[flow] / solver_.weight(variable));
      continue;
    }
    note_delay(flow);
    const bool capped = finishing_.group_of(flow) == kCapGroup;
    const double work = finishing_.remove(flow, now_);
    left_.push_back(capped ? work * level_at_cap(variable) : work);
  }
  for (ConstraintId constraint : solver_.relevelled()) {
    const double level = solver_.level(constraint);
    finishing_.set_level(constraint.value + 1, level == MaxMin::kUnlimited ? 0 : level, now_);
  }
  for (std::size_t i = 0; i < left_.size(); ++i) {
    const VariableId variable = solver_.moved()[i];
    const auto bottleneck = solver_.bottleneck(variable);
    if (bottleneck)
      finishing_.insert(variable.value, bottleneck->value + 1, left_[i], now_);
    else
      finishing_.insert(variable.value, kCapGroup, left_[i] / level_at_cap(variable), now_);
  }
}

// Level of a variable that its cap holds down; without links and cap it has no limit.
double FlowRun::level_at_cap(VariableId variable) const {
  return solver_.cap(variable) / solver_.weight(variable);
}

void FlowRun::report_rates() {
  const auto report = [this](std::uint32_t flow) {
    const double rate = solver_.rate(VariableId(std::size_t{flow}));
    if (rate != MaxMin::kUnlimited)
      probe_->flow_rate(flows_[flow].op, now_, BitRate::from_gigabytes_per_second(rate * 1e-9));
  };
  for (VariableId variable : solver_.moved()) report(variable.value);
  for (ConstraintId constraint : solver_.relevelled())
    for (std::uint32_t flow : solver_.held_by(constraint)) report(flow);
}

void FlowRun::note_delay(std::uint32_t flow) {
  Flow& f = flows_[flow];
  f.list = outcome_.add_delay(f.list, cause_of(flow), now_ - f.cause_since);
  f.cause_since = now_;
}

DelayCause FlowRun::cause_of(std::uint32_t flow) const {
  const std::uint32_t group = finishing_.group_of(flow);
  if (group == kCapGroup || !link_of_constraint_[group - 1].valid())
    return {DelayCause::Kind::cap, {}};
  return {DelayCause::Kind::link, link_of_constraint_[group - 1]};
}

// In debug builds: no solve may load a link beyond its rate.
void FlowRun::check_capacities() const {
#ifndef NDEBUG
  for (ConstraintId constraint : solver_.relevelled())
    CHECK(solver_.load(constraint) <= solver_.capacity(constraint) * (1 + 1e-9));
#endif
}

ConstraintId FlowRun::constraint_of(fabric::LinkId link) {
  std::uint32_t& constraint = constraint_of_link_[link.index()];
  if (constraint == kNone) {
    constraint = solver_.add_constraint(rate_of(link)).value;
    link_of_constraint_.push_back(link);
  }
  return ConstraintId(std::size_t{constraint});
}

double FlowRun::rate_of(fabric::LinkId link) const {
  const double raw = setup_->fabric->link_class(link).raw_rate.bytes_per_second();
  return link_factor_.empty() ? raw : raw * link_factor_[link.index()];
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
