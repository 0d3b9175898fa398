// Settling: after a change, constraints are brought back to "full, and nobody on it above those it
// holds" one by one. What a constraint's level is depends only on variables with lower levels, so
// the lowest unsettled one goes first and seldom has to be settled twice.
#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "engine/flow/max_min.h"

namespace weft::engine {

namespace {

// A constraint counts as full, and two levels as equal, within this relative distance. It is far
// above the rounding of a sum of 10^5 terms and far below what a result shows.
constexpr double kTolerance = 1e-12;
// A key in the heap that fell by less stays: the order is for speed, not for correctness.
constexpr double kNearKey = 0.999;
// Sums are made afresh after this many updates a variable, so that rounding does not add up.
constexpr std::uint32_t kUpdatesPerMember = 4;
constexpr std::uint32_t kFewUpdates = 64;
// Rates computed by settling, in multiples of all variables, after which filling is cheaper.
constexpr std::uint64_t kGiveUp = 4;
constexpr std::uint64_t kSmallEffort = 1024;

bool above(double level, double bound) {
  return level > bound * (1 + kTolerance);
}

}  // namespace

// The level that would just fill the constraint with those it holds now.
double MaxMin::tentative(const Constraint& c) const {
  if (c.slope <= 0) return kUnlimited;
  return std::max(0.0, (c.capacity - c.other) / c.slope);
}

void MaxMin::queue(std::uint32_t constraint, double key) {
  Constraint& c = constraints_[constraint];
  if (c.queued && key >= c.key * kNearKey) return;
  c.queued = true;
  c.key = key;
  push({key, constraint});
}

void MaxMin::sum_up(std::uint32_t constraint) {
  Constraint& c = constraints_[constraint];
  const List& list = members_[constraint];
  c.other = c.slope = 0;
  c.updates = 0;
  for (std::uint32_t i = 0; i < list.count; ++i) {
    const Variable& v = variables_[entries_[list.first + i]];
    if (v.bottleneck == kGone || v.bottleneck == kNew) continue;
    const double share = coefficient_on(v, constraint) * classes_[v.of_class].weight;
    if (v.bottleneck == constraint)
      c.slope += share;
    else
      c.other += share * level_of(v);
  }
}

// False when it takes so long that filling from nothing is cheaper.
bool MaxMin::settle_all() {
  for (std::uint32_t variable : new_variables_)
    if (variables_[variable].bottleneck == kNew) offer(variable);
  const std::uint64_t limit = effort_.rates + effort_.settled + kGiveUp * alive_ + kSmallEffort;
  while (!heap_.empty()) {
    const Candidate next = heap_.front();
    std::pop_heap(heap_.begin(), heap_.end(), after);
    heap_.pop_back();
    Constraint& c = constraints_[next.index];
    if (!c.queued || next.level != c.key) continue;
    const double level = tentative(c);
    if (!c.scan && c.slope > 0 && above(level, c.key)) {
      c.key = level;
      push({level, next.index});
      continue;
    }
    c.queued = false;
    settle(next.index);
    ++effort_.settled;
    if (effort_.rates + effort_.settled > limit) return false;
  }
  return true;
}

// Sends a new variable to the constraint that can give it least.
void MaxMin::offer(std::uint32_t variable) {
  const Variable& v = variables_[variable];
  const Class& shape = classes_[v.of_class];
  double least = shape.cap / shape.weight;
  std::uint32_t where = kCap;
  for (std::uint32_t i = 0; i < shape.count; ++i) {
    const Constraint& c = constraints_[uses_[v.first + i]];
    const double slope = c.slope + coefficients_[shape.first + i] * shape.weight;
    const double level = std::max(0.0, (c.capacity - c.other) / slope);
    if (level >= least) continue;
    least = level;
    where = uses_[v.first + i];
  }
  if (where == kCap) {
    note_move(variable);
    variables_[variable].bottleneck = kCap;
    spread(variable, kCap, least, least);
    return;
  }
  constraints_[where].scan = true;
  queue(where, least);
}

void MaxMin::settle(std::uint32_t constraint) {
  Constraint& c = constraints_[constraint];
  if (c.updates > kUpdatesPerMember * members_[constraint].count + kFewUpdates) sum_up(constraint);
  double level = tentative(c);
  pulled_.clear();
  released_.clear();
  const bool overloaded = c.slope <= 0 && above(c.other, c.capacity);
  if (c.scan || overloaded || above(c.top, level)) level = pull(constraint, level);
  c.scan = false;
  if (level != kUnlimited) level = release_capped(constraint, level);
  apply(constraint, level);
}

// Collects the variables not held whose level is above `floor`. True when one of them is new.
bool MaxMin::gather(std::uint32_t constraint, double floor) {
  const List& list = members_[constraint];
  double rest = 0;
  bool any_new = false;
  candidates_.clear();
  for (std::uint32_t i = 0; i < list.count; ++i) {
    const std::uint32_t variable = entries_[list.first + i];
    const Variable& v = variables_[variable];
    if (v.bottleneck == constraint || v.bottleneck == kGone) continue;
    const bool fresh = v.bottleneck == kNew;
    any_new |= fresh;
    const double level = fresh ? kUnlimited : level_of(v);
    if (level > floor)
      candidates_.push_back({level, variable});
    else
      rest = std::max(rest, level);
  }
  constraints_[constraint].top = rest;
  return any_new;
}

// Takes over the variables that have more than those held, highest first: each raises the level of
// all. Returns the level.
double MaxMin::pull(std::uint32_t constraint, double level) {
  Constraint& c = constraints_[constraint];
  bool holds = c.slope > 0;
  // A new variable lowers the level of all, so anyone may come to stand above it.
  const bool any_new = gather(constraint, holds ? level * (1 + kTolerance) : -1);
  if (any_new && holds) gather(constraint, -1);
  const auto lower = [](const Candidate& a, const Candidate& b) {
    return a.level != b.level ? a.level < b.level : a.index > b.index;
  };
  std::make_heap(candidates_.begin(), candidates_.end(), lower);
  if (!holds && !any_new && !above(c.other, c.capacity)) {
    if (!candidates_.empty()) c.top = std::max(c.top, candidates_.front().level);
    return kUnlimited;
  }
  while (!candidates_.empty() && (!holds || above(candidates_.front().level, level))) {
    const Candidate highest = candidates_.front();
    std::pop_heap(candidates_.begin(), candidates_.end(), lower);
    candidates_.pop_back();
    const Variable& v = variables_[highest.index];
    const bool fresh = v.bottleneck == kNew;
    const double share = coefficient_on(v, constraint) * classes_[v.of_class].weight;
    if (!fresh) c.other = std::max(0.0, c.other - share * highest.level);
    c.slope += share;
    ++c.updates;
    level = tentative(c);
    pulled_.push_back({fresh ? 0 : highest.level, highest.index, fresh});
    holds = true;
  }
  if (!candidates_.empty()) c.top = std::max(c.top, candidates_.front().level);
  return level;
}

// Variables whose cap is below the level stop there; the rest share what they leave.
double MaxMin::release_capped(std::uint32_t constraint, double level) {
  Constraint& c = constraints_[constraint];
  candidates_.clear();
  const auto consider = [&](std::uint32_t variable, bool held) {
    const Class& shape = classes_[variables_[variable].of_class];
    if (shape.cap != kUnlimited) candidates_.push_back({shape.cap / shape.weight, variable, held});
  };
  if (c.capped > 0)
    for (std::uint32_t variable : held_by(ConstraintId(std::size_t{constraint})))
      consider(variable, true);
  for (const Pulled& pulled : pulled_) consider(pulled.variable, false);
  std::sort(candidates_.begin(), candidates_.end(), [](const Candidate& a, const Candidate& b) {
    return a.level != b.level ? a.level < b.level : a.index < b.index;
  });
  for (const Candidate& capped : candidates_) {
    if (capped.level >= level) break;
    const Variable& v = variables_[capped.index];
    const double share = coefficient_on(v, constraint) * classes_[v.of_class].weight;
    if (capped.is_cap) {  // held until now
      released_.push_back({c.level, capped.index, false});
      detach(capped.index);
    } else {
      const auto at = std::find_if(pulled_.begin(), pulled_.end(), [&](const Pulled& pulled) {
        return pulled.variable == capped.index;
      });
      released_.push_back(*at);
      pulled_.erase(at);
      if (v.bottleneck < kGone) let_go(capped.index);
    }
    variables_[capped.index].bottleneck = kCap;
    c.other += share * capped.level;
    c.slope = held_[constraint].count + pulled_.size() == 0 ? 0 : c.slope - share;
    c.top = std::max(c.top, capped.level);
    ++c.updates;
    level = tentative(c);
  }
  return level;
}

void MaxMin::apply(std::uint32_t constraint, double level) {
  Constraint& c = constraints_[constraint];
  const double old = c.level;
  const bool same = level == old || std::abs(level - old) <= kTolerance * level;
  if (same)
    level = old;
  else
    note_level(constraint);
  c.level = level;
  const List held = held_[constraint];
  if (!same)
    for (std::uint32_t i = 0; i < held.count; ++i)
      spread(entries_[held.first + i], constraint, level - old, level);
  for (const Pulled& pulled : pulled_) {
    note_move(pulled.variable);
    if (variables_[pulled.variable].bottleneck < kGone) let_go(pulled.variable);
    hold(pulled.variable, constraint);
    spread(pulled.variable, constraint, level - pulled.level, level);
  }
  for (const Pulled& released : released_) {
    note_move(released.variable);
    const double cap_level = level_of(variables_[released.variable]);
    spread(released.variable, constraint, cap_level - released.level, cap_level);
  }
}

// The variable's level changed by `change` to `level`: loads its constraints but the one at which
// that was decided, and queues those that it unsettles.
void MaxMin::spread(std::uint32_t variable, std::uint32_t at, double change, double level) {
  const Variable& v = variables_[variable];
  const Class& shape = classes_[v.of_class];
  const double more = shape.weight * change;
  ++effort_.rates;
  for (std::uint32_t i = 0; i < shape.count; ++i) {
    const std::uint32_t index = uses_[v.first + i];
    if (index == at) continue;
    Constraint& c = constraints_[index];
    c.other = std::max(0.0, c.other + coefficients_[shape.first + i] * more);
    c.top = std::max(c.top, level);
    ++c.updates;
    if (c.slope > 0) {
      const double load = c.slope * c.level;
      const bool over = above(level, c.level);
      c.scan |= over;
      if (over || std::abs(c.capacity - c.other - load) > kTolerance * load)
        queue(index, tentative(c));
    } else if (above(c.other, c.capacity)) {
      queue(index, level * c.capacity / c.other);
    }
  }
}

}  // namespace weft::engine
