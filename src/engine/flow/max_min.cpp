#include "engine/flow/max_min.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/check.h"

namespace weft::engine {

namespace {

// A constraint counts as full, and two levels as equal, within this relative distance. It is far
// above the rounding of a sum of 10^5 terms and far below what a result shows.
constexpr double kTolerance = 1e-12;
// Widening steps before the whole connected component is filled instead.
constexpr int kWideningSteps = 12;
// A slope that lost all but this share of its value by subtraction is summed again.
constexpr double kRefreshBelow = 1.0 / 1024;

}  // namespace

// Four size classes an octave: 1 2 3 4 5 6 7 8 10 12 14 16 20 ...; at most a quarter is wasted.
std::size_t MaxMin::size_class(std::size_t count) {
  if (count <= 4) return count;
  const auto octave = static_cast<std::size_t>(std::bit_width(count - 1)) - 1;  // >= 2
  const std::size_t quarter = std::size_t{1} << (octave - 2);
  const std::size_t step = (count - (std::size_t{1} << octave) + quarter - 1) / quarter;  // 1..4
  return 4 + (octave - 2) * 4 + step;
}

std::size_t MaxMin::class_size(std::size_t size_class) {
  if (size_class <= 4) return size_class;
  const std::size_t octave = (size_class - 5) / 4 + 2;
  const std::size_t step = (size_class - 5) % 4 + 1;
  return (std::size_t{1} << octave) + step * (std::size_t{1} << (octave - 2));
}

std::uint32_t MaxMin::take_block(std::size_t count) {
  if (count == 0) return 0;
  const std::size_t size = size_class(count);
  auto& free = free_blocks_[size];
  if (!free.empty()) {
    const std::uint32_t block = free.back();
    free.pop_back();
    return block;
  }
  const std::size_t begin = elements_.size();
  CHECK(begin + class_size(size) < kNone);
  elements_.resize(begin + class_size(size));
  return static_cast<std::uint32_t>(begin);
}

void MaxMin::link(std::uint32_t element) {
  Element& e = elements_[element];
  e.previous = kNone;
  e.next = head_[e.constraint];
  if (e.next != kNone) elements_[e.next].previous = element;
  head_[e.constraint] = element;
}

void MaxMin::unlink(std::uint32_t element) {
  const Element& e = elements_[element];
  if (e.previous != kNone)
    elements_[e.previous].next = e.next;
  else
    head_[e.constraint] = e.next;
  if (e.next != kNone) elements_[e.next].previous = e.previous;
}

ConstraintId MaxMin::add_constraint(double capacity) {
  CHECK(std::isfinite(capacity) && capacity >= 0);
  const ConstraintId id(capacity_.size());
  capacity_.push_back(capacity);
  head_.push_back(kNone);
  constraint_epoch_.push_back(0);
  for (auto* column : {&remaining_, &slope_, &fresh_slope_, &full_level_}) column->push_back(0);
  open_.push_back(0);
  return id;
}

void MaxMin::set_capacity(ConstraintId constraint, double capacity) {
  CHECK(std::isfinite(capacity) && capacity >= 0);
  if (capacity_[constraint.index()] == capacity) return;
  capacity_[constraint.index()] = capacity;
  changed_constraints_.push_back(constraint.value);
}

VariableId MaxMin::add_variable(Limits limits, std::span<const Use> uses) {
  CHECK(limits.weight > 0 && std::isfinite(limits.weight) && limits.cap >= 0);
  std::uint32_t v = 0;
  if (free_variables_.empty()) {
    v = static_cast<std::uint32_t>(weight_.size());
    for (auto* column : {&weight_, &cap_, &rate_, &old_rate_}) column->push_back(0);
    for (auto* column : {&first_, &count_, &bottleneck_, &variable_epoch_, &old_bottleneck_})
      column->push_back(0);
    frozen_.push_back(0);
  } else {
    v = free_variables_.back();
    free_variables_.pop_back();
  }
  std::uint32_t used = 0;
  for (const Use& use : uses) used += use.coefficient > 0 ? 1 : 0;
  weight_[v] = limits.weight;
  cap_[v] = limits.cap;
  rate_[v] = 0;
  bottleneck_[v] = kNone;
  first_[v] = take_block(used);
  count_[v] = used;
  std::uint32_t element = first_[v];
  for (const Use& use : uses) {
    CHECK(std::isfinite(use.coefficient) && use.coefficient >= 0);
    if (use.coefficient == 0) continue;
    elements_[element] = {use.coefficient, v, use.constraint.value, kNone, kNone};
    link(element++);
  }
  ++alive_;
  changed_variables_.push_back(v);
  return VariableId(std::size_t{v});
}

void MaxMin::remove_variable(VariableId variable) {
  const std::uint32_t v = variable.value;
  CHECK(weight_[v] > 0);
  for (std::uint32_t e = first_[v]; e < first_[v] + count_[v]; ++e) {
    unlink(e);
    changed_constraints_.push_back(elements_[e].constraint);
  }
  if (count_[v] > 0) free_blocks_[size_class(count_[v])].push_back(first_[v]);
  weight_[v] = 0;  // marks it as gone
  count_[v] = 0;
  free_variables_.push_back(v);
  --alive_;
}

void MaxMin::set_cap(VariableId variable, double cap) {
  CHECK(cap >= 0);
  if (cap_[variable.index()] == cap) return;
  cap_[variable.index()] = cap;
  changed_variables_.push_back(variable.value);
}

std::optional<ConstraintId> MaxMin::bottleneck(VariableId v) const {
  const std::uint32_t constraint = bottleneck_[v.index()];
  if (constraint == kNone) return std::nullopt;
  return ConstraintId(std::size_t{constraint});
}

double MaxMin::load(ConstraintId c) const {
  double load = 0;
  for (std::uint32_t e = head_[c.index()]; e != kNone; e = elements_[e].next)
    load += elements_[e].coefficient * rate_[elements_[e].variable];
  return load;
}

void MaxMin::begin_region() {
  if (++epoch_ == 0) {  // wrapped: old marks could look new
    std::fill(variable_epoch_.begin(), variable_epoch_.end(), 0);
    std::fill(constraint_epoch_.begin(), constraint_epoch_.end(), 0);
    epoch_ = 1;
  }
  region_.clear();
  touched_.clear();
}

void MaxMin::touch(std::uint32_t constraint) {
  if (constraint_epoch_[constraint] == epoch_) return;
  constraint_epoch_[constraint] = epoch_;
  full_level_[constraint] = kUnlimited;
  touched_.push_back(constraint);
}

void MaxMin::include(std::uint32_t variable) {
  if (inside(variable) || weight_[variable] == 0) return;
  variable_epoch_[variable] = epoch_;
  old_rate_[variable] = rate_[variable];
  old_bottleneck_[variable] = bottleneck_[variable];
  region_.push_back(variable);
  for (std::uint32_t e = first_[variable]; e < first_[variable] + count_[variable]; ++e)
    touch(elements_[e].constraint);
}

void MaxMin::include_component() {
  for (std::size_t i = 0; i < touched_.size(); ++i)  // touched_ grows while we walk it
    for (std::uint32_t e = head_[touched_[i]]; e != kNone; e = elements_[e].next)
      include(elements_[e].variable);
}

std::span<const VariableId> MaxMin::solve() {
  begin_region();
  for (std::uint32_t v : changed_variables_) include(v);
  for (std::uint32_t c : changed_constraints_) touch(c);
  for (int step = 0;; ++step) {
    fill();
    if (!widen()) break;
    if (step >= kWideningSteps || region_.size() * 2 > alive_) include_component();
  }
  changed_variables_.clear();
  changed_constraints_.clear();
  result_.clear();
  for (std::uint32_t v : region_)
    if (rate_[v] != old_rate_[v] || bottleneck_[v] != old_bottleneck_[v])
      result_.push_back(VariableId(std::size_t{v}));
  return result_;
}

void MaxMin::solve_from_scratch() {
  begin_region();
  for (std::uint32_t v = 0; v < weight_.size(); ++v) include(v);
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
void MaxMin::prepare(std::uint32_t constraint) {
  double spent = 0;
  double slope = 0;
  std::uint32_t open = 0;
  for (std::uint32_t e = head_[constraint]; e != kNone; e = elements_[e].next) {
    const Element& element = elements_[e];
    if (inside(element.variable) && frozen_[element.variable] == 0) {
      slope += element.coefficient * weight_[element.variable];
      ++open;
    } else {
      spent += element.coefficient * rate_[element.variable];
    }
  }
  remaining_[constraint] = capacity_[constraint] - spent;
  slope_[constraint] = fresh_slope_[constraint] = slope;
  open_[constraint] = open;
}

// Progressive filling of the region; everything outside keeps its rate.
void MaxMin::fill() {
  heap_.clear();
  filled_ += region_.size();
  for (std::uint32_t v : region_) frozen_[v] = 0;
  for (std::uint32_t c : touched_) {
    prepare(c);
    full_level_[c] = kUnlimited;
    if (open_[c] > 0) push(std::max(0.0, remaining_[c] / slope_[c]), c, false);
  }
  for (std::uint32_t v : region_) {
    if (cap_[v] != kUnlimited) push(cap_[v] / weight_[v], v, true);
    if (count_[v] == 0 && cap_[v] == kUnlimited) freeze(v, kUnlimited, kNone);
  }
  while (!heap_.empty()) {
    const Candidate best = heap_.front();
    std::pop_heap(heap_.begin(), heap_.end(), after);
    heap_.pop_back();
    if (!best.is_cap)
      fill_constraint(best.index, best.level);
    else if (frozen_[best.index] == 0)
      freeze(best.index, cap_[best.index], kNone);
  }
}

// Freezing a variable at level x leaves remaining/slope of its other constraints at or above x, so
// a level in the heap is a lower bound: it is checked when popped, and pushed again if it rose.
void MaxMin::fill_constraint(std::uint32_t constraint, double popped_level) {
  if (open_[constraint] == 0) return;
  if (slope_[constraint] < fresh_slope_[constraint] * kRefreshBelow) prepare(constraint);
  const double level = std::max(0.0, remaining_[constraint] / slope_[constraint]);
  if (level > popped_level) {
    push(level, constraint, false);
    return;
  }
  full_level_[constraint] = level;
  for (std::uint32_t e = head_[constraint]; e != kNone; e = elements_[e].next) {
    const std::uint32_t v = elements_[e].variable;
    if (inside(v) && frozen_[v] == 0) freeze(v, std::min(cap_[v], level * weight_[v]), constraint);
  }
}

void MaxMin::freeze(std::uint32_t variable, double rate, std::uint32_t bottleneck) {
  frozen_[variable] = 1;
  rate_[variable] = rate;
  bottleneck_[variable] = bottleneck;
  for (std::uint32_t e = first_[variable]; e < first_[variable] + count_[variable]; ++e) {
    const Element& element = elements_[e];
    remaining_[element.constraint] -= element.coefficient * rate;
    slope_[element.constraint] -= element.coefficient * weight_[variable];
    --open_[element.constraint];
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

void MaxMin::widen_at(std::uint32_t constraint) {
  double load = 0;
  double top = 0;
  bool all_inside = true;
  for (std::uint32_t e = head_[constraint]; e != kNone; e = elements_[e].next) {
    const std::uint32_t v = elements_[e].variable;
    load += elements_[e].coefficient * rate_[v];
    top = std::max(top, level(v));
    all_inside = all_inside && inside(v);
  }
  if (all_inside) return;
  const double capacity = capacity_[constraint];
  const bool overloaded = load > capacity * (1 + kTolerance);
  const bool full = load >= capacity * (1 - kTolerance);
  const double allowed = full_level_[constraint] * (1 + kTolerance);
  for (std::uint32_t e = head_[constraint]; e != kNone; e = elements_[e].next) {
    const std::uint32_t v = elements_[e].variable;
    if (inside(v)) continue;
    const bool lost_bottleneck =
        bottleneck_[v] == constraint && (!full || level(v) < top * (1 - kTolerance));
    if (overloaded || lost_bottleneck || level(v) > allowed) include(v);
  }
}

std::size_t MaxMin::memory_bytes() const {
  std::size_t bytes = elements_.capacity() * sizeof(Element);
  bytes += weight_.capacity() * (4 * sizeof(double) + 5 * sizeof(std::uint32_t) + 1);
  bytes += capacity_.capacity() * (5 * sizeof(double) + 3 * sizeof(std::uint32_t));
  bytes += heap_.capacity() * sizeof(Candidate);
  return bytes;
}

}  // namespace weft::engine
