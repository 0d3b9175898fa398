#include "engine/flow/max_min.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace weft::engine {

namespace {

// A constraint counts as full, and two levels as equal, within this relative distance. It is far
// above the rounding of a sum of 10^5 terms and far below what a result shows.
constexpr double kTolerance = 1e-12;
// After so many widening steps, or with so large a share (1/n) of all variables in the region, all
// that may have changed is filled at once. Measured on fat trees (bench/flow_scale.cpp).
constexpr int kWideningSteps = 16;
constexpr std::size_t kLargeShare = 8;
// A slope that lost all but this share of its value by subtraction is summed again.
constexpr double kRefreshBelow = 1.0 / 1024;

}  // namespace

// Enters a use into the member list of its constraint.
void MaxMin::join(std::uint32_t use, std::uint32_t variable) {
  Constraint& c = constraints_[uses_[use].constraint];
  if (c.degree == c.room) {
    const std::uint32_t room = BlockPool<Member>::room_for(std::max(4u, 2 * c.room));
    const std::uint32_t first = members_.take(room);
    for (std::uint32_t i = 0; i < c.degree; ++i) {
      members_[first + i] = members_[c.first + i];
      uses_[members_[first + i].use].member = first + i;
    }
    members_.give_back(c.first, c.room);
    c.first = first;
    c.room = room;
  }
  uses_[use].member = c.first + c.degree++;
  members_[uses_[use].member] = {uses_[use].coefficient, variable, use};
}

void MaxMin::leave(std::uint32_t use) {
  Constraint& c = constraints_[uses_[use].constraint];
  const std::uint32_t hole = uses_[use].member;
  members_[hole] = members_[c.first + --c.degree];
  uses_[members_[hole].use].member = hole;
}

ConstraintId MaxMin::add_constraint(double capacity) {
  CHECK(std::isfinite(capacity) && capacity >= 0);
  constraints_.emplace_back().capacity = capacity;
  return ConstraintId(constraints_.size() - 1);
}

void MaxMin::set_capacity(ConstraintId constraint, double capacity) {
  CHECK(std::isfinite(capacity) && capacity >= 0);
  if (constraints_[constraint.index()].capacity == capacity) return;
  constraints_[constraint.index()].capacity = capacity;
  changed_constraints_.push_back(constraint.value);
}

VariableId MaxMin::add_variable(Limits limits, std::span<const Use> uses) {
  CHECK(limits.weight > 0 && std::isfinite(limits.weight) && limits.cap >= 0);
  std::uint32_t number = static_cast<std::uint32_t>(variables_.size());
  if (free_variables_.empty()) {
    variables_.emplace_back();
  } else {
    number = free_variables_.back();
    free_variables_.pop_back();
  }
  Variable& v = variables_[number];
  v.weight = limits.weight;
  v.cap = limits.cap;
  v.rate = v.level = 0;
  v.bottleneck = kNone;
  v.count = 0;
  for (const Use& use : uses) v.count += use.coefficient > 0 ? 1 : 0;
  v.first = uses_.take(v.count);
  std::uint32_t at = v.first;
  for (const Use& use : uses) {
    CHECK(std::isfinite(use.coefficient) && use.coefficient >= 0);
    if (use.coefficient == 0) continue;
    uses_[at] = {use.coefficient, use.constraint.value, kNone};
    join(at++, number);
  }
  ++alive_;
  changed_variables_.push_back(number);
  return VariableId(std::size_t{number});
}

void MaxMin::remove_variable(VariableId variable) {
  Variable& v = variables_[variable.index()];
  CHECK(v.weight > 0);
  for (std::uint32_t u = v.first; u < v.first + v.count; ++u) {
    leave(u);
    changed_constraints_.push_back(uses_[u].constraint);
  }
  uses_.give_back(v.first, v.count);
  v.weight = 0;
  v.count = 0;
  free_variables_.push_back(variable.value);
  --alive_;
}

void MaxMin::set_cap(VariableId variable, double cap) {
  CHECK(cap >= 0);
  if (variables_[variable.index()].cap == cap) return;
  variables_[variable.index()].cap = cap;
  changed_variables_.push_back(variable.value);
}

std::optional<ConstraintId> MaxMin::bottleneck(VariableId v) const {
  const std::uint32_t constraint = variables_[v.index()].bottleneck;
  if (constraint == kNone) return std::nullopt;
  return ConstraintId(std::size_t{constraint});
}

double MaxMin::load(ConstraintId constraint) const {
  const Constraint& c = constraints_[constraint.index()];
  double load = 0;
  for (std::uint32_t m = c.first; m < c.first + c.degree; ++m)
    load += members_[m].coefficient * variables_[members_[m].variable].rate;
  return load;
}

void MaxMin::begin_region() {
  if (++epoch_ == 0) {  // wrapped: old marks could look new
    for (Variable& v : variables_) v.epoch = 0;
    for (Constraint& c : constraints_) c.epoch = 0;
    epoch_ = 1;
  }
  region_.clear();
  touched_.clear();
}

void MaxMin::touch(std::uint32_t constraint) {
  Constraint& c = constraints_[constraint];
  if (c.epoch == epoch_) return;
  c.epoch = epoch_;
  c.full_level = kUnlimited;
  c.inside = 0;
  c.prepared = kNone;
  touched_.push_back(constraint);
}

void MaxMin::include(std::uint32_t variable) {
  Variable& v = variables_[variable];
  if (v.epoch == epoch_ || v.weight == 0) return;
  v.epoch = epoch_;
  v.old_rate = v.rate;
  v.old_bottleneck = v.bottleneck;
  region_.push_back(variable);
  for (std::uint32_t u = v.first; u < v.first + v.count; ++u) {
    touch(uses_[u].constraint);
    ++constraints_[uses_[u].constraint].inside;
  }
}

// Adds every variable of the connected component whose level is at least `floor`.
void MaxMin::include_component(double floor) {
  for (std::size_t i = 0; i < touched_.size(); ++i) {  // touched_ grows while we walk it
    const Constraint c = constraints_[touched_[i]];
    if (c.inside == c.degree) continue;
    for (std::uint32_t m = c.first; m < c.first + c.degree; ++m)
      if (variables_[members_[m].variable].level >= floor) include(members_[m].variable);
  }
}

// Filling goes up in level, so what froze below the lowest level that changed stays as it was.
double MaxMin::lowest_change() const {
  double lowest = kUnlimited;
  for (std::uint32_t number : region_) {
    const Variable& v = variables_[number];
    if (v.rate == v.old_rate && v.bottleneck == v.old_bottleneck) continue;
    lowest = std::min({lowest, v.level, v.old_rate / v.weight});
  }
  return lowest;
}

std::span<const VariableId> MaxMin::solve() {
  begin_region();
  for (std::uint32_t v : changed_variables_) include(v);
  for (std::uint32_t c : changed_constraints_) touch(c);
  for (int step = 0;; ++step) {
    fill();
    if (!widen()) break;
    if (step > kWideningSteps)
      include_component(0);
    else if (step == kWideningSteps || region_.size() > alive_ / kLargeShare)
      include_component(lowest_change());
  }
  changed_variables_.clear();
  changed_constraints_.clear();
  result_.clear();
  for (std::uint32_t number : region_) {
    const Variable& v = variables_[number];
    if (v.rate != v.old_rate || v.bottleneck != v.old_bottleneck)
      result_.push_back(VariableId(std::size_t{number}));
  }
  return result_;
}

void MaxMin::solve_from_scratch() {
  begin_region();
  for (std::uint32_t v = 0; v < variables_.size(); ++v) include(v);
  fill();
  changed_variables_.clear();
  changed_constraints_.clear();
}

// Order of a min-heap. Ties go to constraints before caps, then to the lower index, so that the
// order of freezing does not depend on the order of insertion.
bool MaxMin::after(const Candidate& a, const Candidate& b) {
  if (a.level != b.level) return a.level > b.level;
  if (a.is_cap != b.is_cap) return a.is_cap;
  return a.index > b.index;
}

void MaxMin::push(double level, std::uint32_t index, bool is_cap) {
  heap_.push_back({level, index, is_cap});
  std::push_heap(heap_.begin(), heap_.end(), after);
}

// Sums afresh what the constraint has left and how fast it fills per unit of level.
void MaxMin::sum_up(Constraint& c) const {
  double spent = 0;
  double slope = 0;
  std::uint32_t open = 0;
  for (std::uint32_t m = c.first; m < c.first + c.degree; ++m) {
    const Member& member = members_[m];
    const Variable& v = variables_[member.variable];
    if (v.epoch == epoch_ && v.frozen == 0) {
      slope += member.coefficient * v.weight;
      ++open;
    } else {
      spent += member.coefficient * v.rate;
    }
  }
  c.remaining = c.capacity - spent;
  c.slope = c.fresh_slope = slope;
  c.open = open;
}

// The same before anything of the region is frozen. Rates outside do not change during a solve, so
// the sums of an earlier step hold as long as the region took no more of the constraint's members.
void MaxMin::prepare(Constraint& c) const {
  if (c.prepared != c.inside) {
    sum_up(c);
    c.start_remaining = c.remaining;
    c.start_slope = c.slope;
    c.prepared = c.inside;
  }
  c.remaining = c.start_remaining;
  c.slope = c.fresh_slope = c.start_slope;
  c.open = c.inside;
}

// Progressive filling of the region; everything outside keeps its rate.
void MaxMin::fill() {
  heap_.clear();
  filled_ += region_.size();
  unfrozen_ = region_.size();
  for (std::uint32_t v : region_) variables_[v].frozen = 0;
  for (std::uint32_t index : touched_) {
    Constraint& c = constraints_[index];
    c.full_level = kUnlimited;
    c.open = 0;
    if (c.inside == 0) continue;
    prepare(c);
    heap_.push_back({std::max(0.0, c.remaining / c.slope), index, false});
  }
  for (std::uint32_t number : region_) {
    Variable& v = variables_[number];
    if (v.cap != kUnlimited) heap_.push_back({v.cap / v.weight, number, true});
    if (v.count == 0 && v.cap == kUnlimited) freeze(v, kUnlimited, kNone);
  }
  std::make_heap(heap_.begin(), heap_.end(), after);
  while (unfrozen_ > 0) {
    CHECK(!heap_.empty());
    const Candidate best = heap_.front();
    std::pop_heap(heap_.begin(), heap_.end(), after);
    heap_.pop_back();
    if (!best.is_cap)
      fill_constraint(best.index, best.level);
    else if (Variable& v = variables_[best.index]; v.frozen == 0)
      freeze(v, v.cap, kNone);
  }
}

// Freezing a variable at level x leaves remaining/slope of its other constraints at or above x, so
// a level in the heap is a lower bound: it is checked when popped, and pushed again if it rose.
void MaxMin::fill_constraint(std::uint32_t index, double popped_level) {
  Constraint& c = constraints_[index];
  if (c.open == 0) return;
  if (c.slope < c.fresh_slope * kRefreshBelow) sum_up(c);
  const double level = std::max(0.0, c.remaining / c.slope);
  if (level > popped_level) {
    push(level, index, false);
    return;
  }
  c.full_level = level;
  for (std::uint32_t m = c.first; m < c.first + c.degree; ++m) {
    Variable& v = variables_[members_[m].variable];
    if (v.epoch == epoch_ && v.frozen == 0) freeze(v, std::min(v.cap, level * v.weight), index);
  }
}

void MaxMin::freeze(Variable& v, double rate, std::uint32_t bottleneck) {
  v.frozen = 1;
  --unfrozen_;
  v.rate = rate;
  v.level = rate / v.weight;
  v.bottleneck = bottleneck;
  for (std::uint32_t u = v.first; u < v.first + v.count; ++u) {
    Constraint& c = constraints_[uses_[u].constraint];
    c.remaining -= uses_[u].coefficient * rate;
    c.slope -= uses_[u].coefficient * v.weight;
    --c.open;
  }
}

// Adds the variables outside the region whose bottleneck no longer holds, or that hold down a
// variable of the region while having more than it. False when there is none: then the condition
// of the header holds for every variable, inside and outside.
bool MaxMin::widen() {
  const std::size_t before = region_.size();
  const std::size_t checked = touched_.size();
  for (std::size_t i = 0; i < checked; ++i) widen_at(touched_[i]);
  return region_.size() > before;
}

void MaxMin::widen_at(std::uint32_t index) {
  const Constraint c = constraints_[index];
  if (c.inside == c.degree) return;
  double load = 0;
  double top = 0;
  for (std::uint32_t m = c.first; m < c.first + c.degree; ++m) {
    const Variable& v = variables_[members_[m].variable];
    load += members_[m].coefficient * v.rate;
    top = std::max(top, v.level);
  }
  const bool overloaded = load > c.capacity * (1 + kTolerance);
  const bool full = load >= c.capacity * (1 - kTolerance);
  const double allowed = c.full_level * (1 + kTolerance);
  for (std::uint32_t m = c.first; m < c.first + c.degree; ++m) {
    const Variable& v = variables_[members_[m].variable];
    if (v.epoch == epoch_) continue;
    const bool lost_bottleneck =
        v.bottleneck == index && (!full || v.level < top * (1 - kTolerance));
    if (overloaded || lost_bottleneck || v.level > allowed) include(members_[m].variable);
  }
}

std::size_t MaxMin::memory_bytes() const {
  return uses_.memory_bytes() + members_.memory_bytes() + variables_.capacity() * sizeof(Variable) +
         constraints_.capacity() * sizeof(Constraint) + heap_.capacity() * sizeof(Candidate);
}

}  // namespace weft::engine
