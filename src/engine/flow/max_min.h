// Weighted max-min fairness with coefficients: the solver of the flow engine. It knows variables
// and constraints only; what they stand for (flows, links) is flow_engine.cpp's business.
//
//   maximise lexicographically the sorted levels x_v / weight_v
//   subject to  sum_v coefficient(c, v) * x_v <= capacity_c  for every constraint c,  x_v <= cap_v
//
// The solution is the only one in which every variable is at its cap or has a bottleneck: a full
// constraint on which no variable has a higher level. It is found by progressive filling
// (Bertsekas and Gallager, Data Networks, 6.5.2). After a change only the variables whose
// bottleneck no longer holds are filled again, and the set is widened until the condition holds
// everywhere, which proves the rates equal to a full recomputation (docs/models/max_min.md).
// Leaves out: utilities other than max-min (proportional fairness, TCP's bias by round trip).
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "base/ids.h"

namespace weft::engine {

using VariableId = Id<struct VariableTag>;
using ConstraintId = Id<struct ConstraintTag>;

class MaxMin {
 public:
  static constexpr double kUnlimited = std::numeric_limits<double>::infinity();

  struct Use {
    ConstraintId constraint;
    double coefficient = 1;  // >= 0: capacity spent per unit of the variable's rate
  };
  struct Limits {
    double weight = 1;  // > 0
    double cap = kUnlimited;
  };

  // REQUIRES capacity finite and >= 0.
  ConstraintId add_constraint(double capacity);
  void set_capacity(ConstraintId constraint, double capacity);
  // Every constraint at most once in `uses`. Ids of removed variables are given out again.
  VariableId add_variable(Limits limits, std::span<const Use> uses);
  void remove_variable(VariableId variable);
  void set_cap(VariableId variable, double cap);

  // Makes all rates max-min fair again after any number of changes. Returns the variables whose
  // rate or bottleneck changed; the span lives until the next call.
  std::span<const VariableId> solve();
  // The same from nothing, ignoring what was known: what solve() is tested against.
  void solve_from_scratch();

  // As of the last solve. kUnlimited for a variable without constraint and cap.
  [[nodiscard]] double rate(VariableId v) const { return rate_[v.index()]; }
  // The full constraint that holds the variable down; nullopt when its cap does.
  [[nodiscard]] std::optional<ConstraintId> bottleneck(VariableId v) const;
  [[nodiscard]] double capacity(ConstraintId c) const { return capacity_[c.index()]; }
  [[nodiscard]] double load(ConstraintId c) const;  // walks the constraint's variables
  [[nodiscard]] std::size_t variable_count() const { return alive_; }
  [[nodiscard]] std::size_t constraint_count() const { return capacity_.size(); }
  // Calls visit(constraint, coefficient) for every use of the variable.
  template <class Visit>
  void for_each_use(VariableId v, Visit&& visit) const {
    for (std::uint32_t e = first_[v.index()]; e < first_[v.index()] + count_[v.index()]; ++e)
      visit(ConstraintId(elements_[e].constraint), elements_[e].coefficient);
  }

  // Constraints looked at by the last solve: the only ones whose load can have changed.
  [[nodiscard]] std::span<const std::uint32_t> touched_constraints() const { return touched_; }
  [[nodiscard]] std::size_t filled_variables() const { return filled_; }  // over all solves
  [[nodiscard]] std::size_t memory_bytes() const;

 private:
  // One use, member of its variable's contiguous block and of its constraint's linked list.
  struct Element {
    double coefficient;
    std::uint32_t variable, constraint;
    std::uint32_t next, previous;
  };
  // Heap entry: a constraint that fills up, or (is_cap) a variable that reaches its cap.
  struct Candidate {
    double level;
    std::uint32_t index;
    bool is_cap;
  };
  static constexpr std::uint32_t kNone = 0xffffffffu;
  static constexpr std::size_t kSizeClasses = 32 * 4;

  static std::size_t size_class(std::size_t count);
  static std::size_t class_size(std::size_t size_class);
  std::uint32_t take_block(std::size_t count);
  void link(std::uint32_t element);
  void unlink(std::uint32_t element);

  void begin_region();
  void touch(std::uint32_t constraint);
  void include(std::uint32_t variable);
  void include_component();
  void fill();
  void prepare(std::uint32_t constraint);
  static bool after(const Candidate& a, const Candidate& b);
  void push(double level, std::uint32_t index, bool is_cap);
  void fill_constraint(std::uint32_t constraint, double popped_level);
  void freeze(std::uint32_t variable, double rate, std::uint32_t bottleneck);
  bool widen();
  void widen_at(std::uint32_t constraint);
  [[nodiscard]] double level(std::uint32_t v) const { return rate_[v] / weight_[v]; }
  [[nodiscard]] bool inside(std::uint32_t v) const { return variable_epoch_[v] == epoch_; }

  // Variables.
  std::vector<double> weight_, cap_, rate_;
  std::vector<std::uint32_t> first_, count_, bottleneck_;  // bottleneck kNone: cap
  std::vector<std::uint32_t> free_variables_;
  std::size_t alive_ = 0;
  // Constraints.
  std::vector<double> capacity_;
  std::vector<std::uint32_t> head_;
  // Uses.
  std::vector<Element> elements_;
  std::array<std::vector<std::uint32_t>, kSizeClasses> free_blocks_;
  // What changed since the last solve.
  std::vector<std::uint32_t> changed_variables_, changed_constraints_;
  // The region being filled: marks and scratch columns, valid where the epoch matches.
  std::uint32_t epoch_ = 0;
  std::vector<std::uint32_t> variable_epoch_, constraint_epoch_;
  std::vector<std::uint8_t> frozen_;
  std::vector<double> old_rate_;
  std::vector<std::uint32_t> old_bottleneck_;
  std::vector<double> remaining_, slope_, fresh_slope_, full_level_;
  std::vector<std::uint32_t> open_;  // variables of the region on the constraint, not yet frozen
  std::vector<std::uint32_t> region_, touched_;
  std::vector<Candidate> heap_;
  std::vector<VariableId> result_;
  std::size_t filled_ = 0;
};

}  // namespace weft::engine
