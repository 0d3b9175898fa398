// Progressive filling from nothing: all levels rise together, a constraint that fills up freezes
// its variables.
#include <algorithm>

#include "base/check.h"
#include "engine/flow/max_min.h"

namespace weft::engine {

namespace {

// A slope that lost all but this share of its value by subtraction is summed again.
constexpr double kRefreshBelow = 1.0 / 1024;

}  // namespace

// Order of a min-heap. Ties go to constraints before caps, then to the lower index, so that the
// order of freezing does not depend on the order of insertion.
bool MaxMin::after(const Candidate& a, const Candidate& b) {
  if (a.level != b.level) return a.level > b.level;
  if (a.is_cap != b.is_cap) return a.is_cap;
  return a.index > b.index;
}

void MaxMin::push(Candidate candidate) {
  heap_.push_back(candidate);
  std::push_heap(heap_.begin(), heap_.end(), after);
}

void MaxMin::fill() {
  ++effort_.fills;
  prepare_fill();
  while (open_ > 0) {
    CHECK(!heap_.empty());
    const Candidate best = heap_.front();
    std::pop_heap(heap_.begin(), heap_.end(), after);
    heap_.pop_back();
    if (!best.is_cap)
      fill_constraint(best.index, best.level);
    else if (variables_[best.index].bottleneck == kNew)
      freeze(best.index, best.level, kCap);
  }
  heap_.clear();
  finish_fill();
}

// Opens every variable: kNew stands for "not frozen yet".
void MaxMin::prepare_fill() {
  heap_.clear();
  filling_.assign(constraints_.size(), {});
  for (std::size_t i = 0; i < constraints_.size(); ++i) {
    Constraint& c = constraints_[i];
    filling_[i].remaining = c.capacity;
    filling_[i].old_level = c.level;
    c.level = kUnlimited;
    c.queued = c.scan = false;
    c.capped = 0;
    held_[i].count = 0;
  }
  open_ = 0;
  old_bottleneck_.resize(variables_.size());
  for (std::uint32_t number = 0; number < variables_.size(); ++number) {
    Variable& v = variables_[number];
    if (v.bottleneck == kGone || v.bottleneck == kIdle) continue;
    old_bottleneck_[number] = v.bottleneck;
    v.bottleneck = kNew;
    ++open_;
    const Class& shape = classes_[v.of_class];
    for (std::uint32_t i = 0; i < shape.count; ++i) {
      Filling& f = filling_[uses_[v.first + i]];
      f.slope += coefficients_[shape.first + i] * shape.weight;
      ++f.open;
    }
    if (shape.cap != kUnlimited || shape.count == 0)
      heap_.push_back({shape.cap / shape.weight, number, true});
  }
  for (std::uint32_t i = 0; i < filling_.size(); ++i) {
    Filling& f = filling_[i];
    f.fresh_slope = f.slope;
    if (f.open > 0) heap_.push_back({f.remaining / f.slope, i});
  }
  std::make_heap(heap_.begin(), heap_.end(), after);
}

// Freezing a variable at level x leaves remaining/slope of its other constraints at or above x, so
// a level in the heap is a lower bound: it is checked when popped, and pushed again if it rose.
void MaxMin::fill_constraint(std::uint32_t constraint, double popped_level) {
  Filling& f = filling_[constraint];
  if (f.open == 0) return;
  const List list = members_[constraint];
  if (f.slope < f.fresh_slope * kRefreshBelow) {
    f.slope = 0;
    for (std::uint32_t i = 0; i < list.count; ++i) {
      const Variable& v = variables_[entries_[list.first + i]];
      if (v.bottleneck == kNew)
        f.slope += coefficient_on(v, constraint) * classes_[v.of_class].weight;
    }
    f.fresh_slope = f.slope;
  }
  const double level = std::max(0.0, f.remaining / f.slope);
  if (level > popped_level) {
    push({level, constraint});
    return;
  }
  constraints_[constraint].level = level;
  for (std::uint32_t i = 0; i < list.count; ++i) {
    const std::uint32_t variable = entries_[list.first + i];
    if (variables_[variable].bottleneck == kNew) freeze(variable, level, constraint);
  }
}

void MaxMin::freeze(std::uint32_t variable, double level, std::uint32_t bottleneck) {
  --open_;
  ++effort_.rates;
  const Variable& v = variables_[variable];
  const Class& shape = classes_[v.of_class];
  for (std::uint32_t i = 0; i < shape.count; ++i) {
    Filling& f = filling_[uses_[v.first + i]];
    const double share = coefficients_[shape.first + i] * shape.weight;
    f.remaining -= share * level;
    f.slope -= share;
    --f.open;
  }
  if (bottleneck == kCap)
    variables_[variable].bottleneck = kCap;
  else
    hold(variable, bottleneck);
}

// Sums for settling later, and what changed.
void MaxMin::finish_fill() {
  for (std::uint32_t i = 0; i < constraints_.size(); ++i) {
    Constraint& c = constraints_[i];
    c.other = c.slope = c.top = 0;
    c.updates = 0;
    if (held_[i].count == 0) c.level = kUnlimited;
    if (c.level != filling_[i].old_level) note_level(i);
  }
  for (std::uint32_t number = 0; number < variables_.size(); ++number) {
    const Variable& v = variables_[number];
    if (v.bottleneck == kGone || v.bottleneck == kIdle) continue;
    if (v.bottleneck != old_bottleneck_[number]) note_move(number);
    const Class& shape = classes_[v.of_class];
    const double level = level_of(v);
    for (std::uint32_t i = 0; i < shape.count; ++i) {
      const std::uint32_t index = uses_[v.first + i];
      Constraint& c = constraints_[index];
      const double share = coefficients_[shape.first + i] * shape.weight;
      if (index == v.bottleneck) {
        c.slope += share;
      } else {
        c.other += share * level;
        c.top = std::max(c.top, level);
      }
    }
  }
}

}  // namespace weft::engine
