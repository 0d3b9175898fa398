#include "engine/flow/max_min.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace weft::engine {

namespace {

// With so large a share (1/n) of the variables changed, all is filled afresh. Measured with
// bench/flow_scale.cpp.
constexpr std::size_t kLargeShare = 8;
constexpr std::size_t kFewVariables = 64;
// Variables with more uses keep them sorted by constraint, to be searched.
constexpr std::uint32_t kSearched = 32;
// Kinds of variable remembered, to be shared by all of the kind.
constexpr std::size_t kKnownClasses = 4096;
// A slope that lost all but this share of its value by subtraction is summed again.
constexpr double kRefreshBelow = 1.0 / 1024;
constexpr std::uint32_t kOverdue = 0x7fffffffu;

}  // namespace

void MaxMin::append(List& list, std::uint32_t value) {
  if (list.count == list.room) {
    const std::uint32_t room =
        BlockPool<std::uint32_t>::room_for(list.room == 0 ? 1 : list.room + (list.room + 1) / 2);
    const std::uint32_t first = entries_.take(room);
    for (std::uint32_t i = 0; i < list.count; ++i) entries_[first + i] = entries_[list.first + i];
    entries_.give_back(list.first, list.room);
    list.first = first;
    list.room = room;
  }
  entries_[list.first + list.count++] = value;
}

// Enters the variable among those that the constraint holds down; sums are the caller's.
void MaxMin::hold(std::uint32_t variable, std::uint32_t constraint) {
  Variable& v = variables_[variable];
  v.bottleneck = constraint;
  v.place = held_[constraint].count;
  append(held_[constraint], variable);
  if (classes_[v.of_class].cap != kUnlimited) ++constraints_[constraint].capped;
}

// The opposite of hold().
void MaxMin::detach(std::uint32_t variable) {
  const Variable& v = variables_[variable];
  List& list = held_[v.bottleneck];
  const std::uint32_t last = entries_[list.first + --list.count];
  entries_[list.first + v.place] = last;
  variables_[last].place = v.place;
  if (classes_[v.of_class].cap != kUnlimited) --constraints_[v.bottleneck].capped;
}

// Its bottleneck holds the variable no longer; its load becomes one of the others there.
void MaxMin::let_go(std::uint32_t variable) {
  const Variable& v = variables_[variable];
  Constraint& c = constraints_[v.bottleneck];
  const double share = coefficient_on(v, v.bottleneck) * classes_[v.of_class].weight;
  const double before = c.slope;
  detach(variable);
  c.slope = held_[v.bottleneck].count == 0 ? 0 : c.slope - share;
  c.other += share * c.level;
  c.updates = c.slope < before * kRefreshBelow ? kOverdue : c.updates + 1;
  queue(v.bottleneck, tentative(c));
}

// Takes the variable's load off all its constraints.
void MaxMin::withdraw(std::uint32_t variable) {
  Variable& v = variables_[variable];
  if (v.bottleneck == kNew) return;
  const double level = level_of(v);
  if (v.bottleneck < kGone) let_go(variable);
  const Class& shape = classes_[v.of_class];
  for (std::uint32_t i = 0; i < shape.count; ++i) {
    const std::uint32_t index = uses_[v.first + i];
    Constraint& c = constraints_[index];
    c.other = std::max(0.0, c.other - coefficients_[shape.first + i] * shape.weight * level);
    ++c.updates;
    if (c.slope > 0) queue(index, tentative(c));
  }
}

// Drops the removed variables from the lists that still name them; their ids become free.
void MaxMin::compact_members() {
  for (List& list : members_) {
    std::uint32_t kept = 0;
    for (std::uint32_t i = 0; i < list.count; ++i) {
      const std::uint32_t variable = entries_[list.first + i];
      if (variables_[variable].bottleneck == kGone) continue;
      entries_[list.first + kept++] = variable;
    }
    list.count = kept;
  }
  free_variables_.insert(free_variables_.end(), gone_variables_.begin(), gone_variables_.end());
  gone_variables_.clear();
  member_entries_ -= gone_entries_;
  gone_entries_ = 0;
}

std::uint32_t MaxMin::class_of(const Limits& limits, std::span<const double> coefficients) {
  const bool shared = coefficients.size() <= kSearched && known_classes_.size() < kKnownClasses;
  if (coefficients.size() <= kSearched) {
    class_key_.assign({limits.weight, limits.cap});
    class_key_.insert(class_key_.end(), coefficients.begin(), coefficients.end());
    const auto known = known_classes_.find(class_key_);
    if (known != known_classes_.end()) return known->second;
  }
  Class made{limits.weight, limits.cap, 0, static_cast<std::uint32_t>(coefficients.size()), shared};
  made.first = coefficients_.take(made.count);
  for (std::uint32_t i = 0; i < made.count; ++i) coefficients_[made.first + i] = coefficients[i];
  auto index = static_cast<std::uint32_t>(classes_.size());
  if (free_classes_.empty()) {
    classes_.push_back(made);
  } else {
    index = free_classes_.back();
    free_classes_.pop_back();
    classes_[index] = made;
  }
  if (shared) known_classes_.emplace(class_key_, index);
  return index;
}

void MaxMin::leave_class(std::uint32_t index) {
  if (classes_[index].kept) return;
  coefficients_.give_back(classes_[index].first, classes_[index].count);
  free_classes_.push_back(index);
}

double MaxMin::coefficient_on(const Variable& v, std::uint32_t constraint) const {
  const Class& shape = classes_[v.of_class];
  if (shape.count == 0) return 0;
  const std::uint32_t* begin = &uses_[v.first];
  const std::uint32_t* at = shape.count > kSearched
                                ? std::lower_bound(begin, begin + shape.count, constraint)
                                : std::find(begin, begin + shape.count, constraint);
  return coefficients_[shape.first + static_cast<std::uint32_t>(at - begin)];
}

ConstraintId MaxMin::add_constraint(double capacity) {
  CHECK(std::isfinite(capacity) && capacity >= 0);
  constraints_.emplace_back().capacity = capacity;
  members_.emplace_back();
  held_.emplace_back();
  return ConstraintId(constraints_.size() - 1);
}

void MaxMin::expect(std::size_t constraints, std::size_t variables) {
  constraints_.reserve(constraints);
  members_.reserve(constraints);
  held_.reserve(constraints);
  variables_.reserve(variables);
}

void MaxMin::set_capacity(ConstraintId constraint, double capacity) {
  CHECK(std::isfinite(capacity) && capacity >= 0);
  Constraint& c = constraints_[constraint.index()];
  if (c.capacity == capacity) return;
  c.capacity = capacity;
  ++changes_;
  if (c.slope > 0)
    queue(constraint.value, tentative(c));
  else if (c.other > capacity)
    queue(constraint.value, 0);
}

VariableId MaxMin::define_variable(Limits limits, std::span<const Use> uses) {
  CHECK(limits.weight > 0 && std::isfinite(limits.weight) && limits.cap >= 0);
  definition_.clear();
  for (const Use& use : uses) {
    CHECK(std::isfinite(use.coefficient) && use.coefficient >= 0);
    if (use.coefficient > 0) definition_.emplace_back(use.constraint.value, use.coefficient);
  }
  if (definition_.size() > kSearched) std::sort(definition_.begin(), definition_.end());
  definition_coefficients_.clear();
  for (const auto& [constraint, coefficient] : definition_)
    definition_coefficients_.push_back(coefficient);
  auto number = static_cast<std::uint32_t>(variables_.size());
  if (free_variables_.empty()) {
    variables_.emplace_back();
  } else {
    number = free_variables_.back();
    free_variables_.pop_back();
  }
  Variable& v = variables_[number];
  v.of_class = class_of(limits, definition_coefficients_);
  v.first = uses_.take(static_cast<std::uint32_t>(definition_.size()));
  v.bottleneck = kIdle;
  v.epoch = 0;
  for (std::uint32_t i = 0; i < definition_.size(); ++i) uses_[v.first + i] = definition_[i].first;
  return VariableId(std::size_t{number});
}

void MaxMin::activate(VariableId variable) {
  Variable& v = variables_[variable.index()];
  CHECK(v.bottleneck == kIdle);
  v.bottleneck = kNew;
  const std::uint32_t count = classes_[v.of_class].count;
  for (std::uint32_t i = 0; i < count; ++i) append(members_[uses_[v.first + i]], variable.value);
  member_entries_ += count;
  ++alive_;
  ++changes_;
  new_variables_.push_back(variable.value);
}

void MaxMin::remove_variable(VariableId variable) {
  Variable& v = variables_[variable.index()];
  CHECK(v.bottleneck != kGone && v.bottleneck != kIdle);
  withdraw(variable.value);
  v.bottleneck = kGone;
  const std::uint32_t count = classes_[v.of_class].count;
  uses_.give_back(v.first, count);
  leave_class(v.of_class);
  gone_variables_.push_back(variable.value);
  gone_entries_ += count;
  --alive_;
  ++changes_;
}

void MaxMin::set_cap(VariableId variable, double cap) {
  CHECK(cap >= 0);
  Variable& v = variables_[variable.index()];
  const Class old = classes_[v.of_class];
  if (old.cap == cap) return;
  const std::uint32_t left = v.of_class;
  const bool active = v.bottleneck != kIdle;
  if (active) withdraw(variable.value);
  definition_coefficients_.clear();
  for (std::uint32_t i = 0; i < old.count; ++i)
    definition_coefficients_.push_back(coefficients_[old.first + i]);
  v.of_class = class_of({old.weight, cap}, definition_coefficients_);
  leave_class(left);
  if (!active || v.bottleneck == kNew) return;
  v.bottleneck = kNew;
  new_variables_.push_back(variable.value);
  ++changes_;
}

std::optional<ConstraintId> MaxMin::bottleneck(VariableId v) const {
  const std::uint32_t constraint = variables_[v.index()].bottleneck;
  if (constraint >= kGone) return std::nullopt;
  return ConstraintId(std::size_t{constraint});
}

double MaxMin::load(ConstraintId constraint) const {
  const List& list = members_[constraint.index()];
  double load = 0;
  for (std::uint32_t i = 0; i < list.count; ++i) {
    const Variable& v = variables_[entries_[list.first + i]];
    if (v.bottleneck == kGone) continue;
    load += coefficient_on(v, constraint.value) * classes_[v.of_class].weight * level_of(v);
  }
  return load;
}

void MaxMin::note_move(std::uint32_t variable) {
  if (variables_[variable].epoch == epoch_) return;
  variables_[variable].epoch = epoch_;
  moved_.push_back(VariableId(std::size_t{variable}));
}

void MaxMin::note_level(std::uint32_t constraint) {
  if (constraints_[constraint].epoch == epoch_) return;
  constraints_[constraint].epoch = epoch_;
  relevelled_.push_back(ConstraintId(std::size_t{constraint}));
}

void MaxMin::begin_solve() {
  if (++epoch_ == 0) {  // wrapped: old marks could look new
    for (Variable& v : variables_) v.epoch = 0;
    for (Constraint& c : constraints_) c.epoch = 0;
    epoch_ = 1;
  }
  moved_.clear();
  relevelled_.clear();
  if (gone_entries_ > (member_entries_ + constraints_.size()) / 2) compact_members();
}

void MaxMin::solve() {
  begin_solve();
  const bool many = alive_ > kFewVariables && changes_ > alive_ / kLargeShare;
  if (many || !settle_all()) fill();
  new_variables_.clear();
  changes_ = 0;
}

void MaxMin::solve_from_scratch() {
  begin_solve();
  fill();
  new_variables_.clear();
  changes_ = 0;
}

std::size_t MaxMin::memory_bytes() const {
  return uses_.memory_bytes() + entries_.memory_bytes() + coefficients_.memory_bytes() +
         variables_.capacity() * sizeof(Variable) + classes_.capacity() * sizeof(Class) +
         constraints_.capacity() * (sizeof(Constraint) + 2 * sizeof(List)) +
         filling_.capacity() * sizeof(Filling) + heap_.capacity() * sizeof(Candidate) +
         (old_bottleneck_.capacity() + free_variables_.capacity() + gone_variables_.capacity() +
          new_variables_.capacity()) *
             sizeof(std::uint32_t) +
         moved_.capacity() * sizeof(VariableId);
}

}  // namespace weft::engine
