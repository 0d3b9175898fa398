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

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "base/ids.h"
#include "engine/flow/block_pool.h"

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
  [[nodiscard]] double rate(VariableId v) const { return variables_[v.index()].rate; }
  // The full constraint that holds the variable down; nullopt when its cap does.
  [[nodiscard]] std::optional<ConstraintId> bottleneck(VariableId v) const;
  [[nodiscard]] double capacity(ConstraintId c) const { return constraints_[c.index()].capacity; }
  [[nodiscard]] double load(ConstraintId c) const;  // walks the constraint's variables
  [[nodiscard]] std::size_t variable_count() const { return alive_; }
  [[nodiscard]] std::size_t constraint_count() const { return constraints_.size(); }
  // Calls visit(constraint, coefficient) for every use of the variable.
  template <class Visit>
  void for_each_use(VariableId v, Visit&& visit) const {
    const Variable& variable = variables_[v.index()];
    for (std::uint32_t u = variable.first; u < variable.first + variable.count; ++u)
      visit(ConstraintId(std::size_t{uses_[u].constraint}), uses_[u].coefficient);
  }

  // Constraints looked at by the last solve: the only ones whose load can have changed.
  [[nodiscard]] std::span<const std::uint32_t> touched_constraints() const { return touched_; }
  [[nodiscard]] std::size_t filled_variables() const { return filled_; }  // over all solves
  [[nodiscard]] std::size_t memory_bytes() const;

 private:
  static constexpr std::uint32_t kNone = 0xffffffffu;

  // Records, not columns: filling reads all of one, which is about a cache line. A variable or
  // constraint belongs to the region being filled where `epoch` is the solver's.
  struct Variable {
    double rate = 0, level = 0;  // level = rate / weight
    double weight = 0;           // 0: the id is free
    double cap = 0;
    double old_rate = 0;
    std::uint32_t first = 0, count = 0;  // its block of uses_
    std::uint32_t bottleneck = kNone;    // kNone: its cap
    std::uint32_t old_bottleneck = kNone;
    std::uint32_t epoch = 0;
    std::uint32_t frozen = 0;
  };
  struct Constraint {
    double capacity = 0;
    double remaining = 0, slope = 0, fresh_slope = 0;  // while filling
    double start_remaining = 0, start_slope = 0;       // before filling, with `prepared` inside
    double full_level = 0;                             // level at which it filled up, if it did
    std::uint32_t first = 0, degree = 0, room = 0;     // its block of members_
    std::uint32_t inside = 0;                          // members of the region
    std::uint32_t prepared = 0;
    std::uint32_t open = 0;  // of those, not yet frozen
    std::uint32_t epoch = 0;
  };
  // The same coefficient seen from the variable and from the constraint; each knows the other.
  struct Entry {
    double coefficient = 0;
    std::uint32_t constraint = 0;
    std::uint32_t member = 0;  // index into members_
  };
  struct Member {
    double coefficient = 0;
    std::uint32_t variable = 0;
    std::uint32_t use = 0;  // index into uses_
  };
  // Heap entry: a constraint that fills up, or (is_cap) a variable that reaches its cap.
  struct Candidate {
    double level;
    std::uint32_t index;
    bool is_cap;
  };

  void join(std::uint32_t use, std::uint32_t variable);
  void leave(std::uint32_t use);

  void begin_region();
  void touch(std::uint32_t constraint);
  void include(std::uint32_t variable);
  void include_component(double floor);
  [[nodiscard]] double lowest_change() const;
  void fill();
  void prepare(Constraint& constraint) const;
  void sum_up(Constraint& constraint) const;
  static bool after(const Candidate& a, const Candidate& b);
  void push(double level, std::uint32_t index, bool is_cap);
  void fill_constraint(std::uint32_t index, double popped_level);
  void freeze(Variable& variable, double rate, std::uint32_t bottleneck);
  bool widen();
  void widen_at(std::uint32_t index);

  std::vector<Variable> variables_;
  std::vector<std::uint32_t> free_variables_;
  std::size_t alive_ = 0;
  std::vector<Constraint> constraints_;
  BlockPool<Entry> uses_;
  BlockPool<Member> members_;
  // What changed since the last solve.
  std::vector<std::uint32_t> changed_variables_, changed_constraints_;
  // The region being filled: its variables, and all their constraints.
  std::uint32_t epoch_ = 0;
  std::vector<std::uint32_t> region_, touched_;
  std::vector<Candidate> heap_;
  std::size_t unfrozen_ = 0;  // variables of the region
  std::vector<VariableId> result_;
  std::size_t filled_ = 0;
};

}  // namespace weft::engine
