// Weighted max-min fairness with coefficients: the solver of the flow engine. It knows variables
// and constraints only; what they stand for (flows, links) is flow_run.cpp's business.
//
//   maximise lexicographically the sorted levels x_v / weight_v
//   subject to  sum_v coefficient(c, v) * x_v <= capacity_c  for every constraint c,  x_v <= cap_v
//
// The solution is the only one in which every variable is at its cap or has a bottleneck: a full
// constraint on which no variable has a higher level (Bertsekas and Gallager, Data Networks,
// 6.5.2). Variables with one bottleneck have one level, so the level is kept by constraint: a
// change of rate costs one number, not one a variable. After a change only constraints that it
// unsettles are settled again, lowest level first, until the condition holds everywhere, which
// proves the rates equal to a full recomputation (docs/models/max_min.md). After many changes at
// once all is filled afresh. Leaves out: utilities other than max-min.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <utility>
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
  void expect(std::size_t constraints, std::size_t variables);  // room for so many
  void set_capacity(ConstraintId constraint, double capacity);
  // Every constraint at most once in `uses`. A defined variable takes no part until it is
  // activated. Ids of removed variables are given out again.
  VariableId define_variable(Limits limits, std::span<const Use> uses);
  void activate(VariableId variable);
  VariableId add_variable(Limits limits, std::span<const Use> uses) {
    const VariableId variable = define_variable(limits, uses);
    activate(variable);
    return variable;
  }
  void remove_variable(VariableId variable);  // REQUIRES it to be active
  void set_cap(VariableId variable, double cap);

  // Makes all rates max-min fair again after any number of changes.
  void solve();
  // The same from nothing, ignoring what was known: what solve() is tested against.
  void solve_from_scratch();
  // Of the last solve: variables that are new or whose bottleneck may have changed, and
  // constraints whose level changed. A variable in neither, by its bottleneck, has its old rate.
  [[nodiscard]] std::span<const VariableId> moved() const { return moved_; }
  [[nodiscard]] std::span<const ConstraintId> relevelled() const { return relevelled_; }

  // As of the last solve. kUnlimited for a variable without constraint and cap.
  [[nodiscard]] double rate(VariableId v) const {
    return level_of(variables_[v.index()]) * weight(v);
  }
  [[nodiscard]] double weight(VariableId v) const {
    return classes_[variables_[v.index()].of_class].weight;
  }
  [[nodiscard]] double cap(VariableId v) const {
    return classes_[variables_[v.index()].of_class].cap;
  }
  // The full constraint that holds the variable down; nullopt when its cap does.
  [[nodiscard]] std::optional<ConstraintId> bottleneck(VariableId v) const;
  [[nodiscard]] double capacity(ConstraintId c) const { return constraints_[c.index()].capacity; }
  // Rate per weight of the variables that the constraint holds down; kUnlimited: there are none.
  [[nodiscard]] double level(ConstraintId c) const { return constraints_[c.index()].level; }
  [[nodiscard]] std::span<const std::uint32_t> held_by(ConstraintId c) const {
    const List& held = held_[c.index()];
    return {held.count == 0 ? nullptr : &entries_[held.first], held.count};
  }
  [[nodiscard]] double load(ConstraintId c) const;  // walks the constraint's variables
  [[nodiscard]] std::size_t variable_count() const { return alive_; }
  [[nodiscard]] std::size_t constraint_count() const { return constraints_.size(); }
  // Calls visit(constraint, coefficient) for every use of the variable.
  template <class Visit>
  void for_each_use(VariableId v, Visit&& visit) const {
    const Variable& variable = variables_[v.index()];
    const Class& shape = classes_[variable.of_class];
    for (std::uint32_t i = 0; i < shape.count; ++i)
      visit(ConstraintId(std::size_t{uses_[variable.first + i]}), coefficients_[shape.first + i]);
  }

  // Work done over all solves: variables whose rate was computed, constraints settled, full fills.
  struct Effort {
    std::uint64_t rates = 0, settled = 0, fills = 0;
  };
  [[nodiscard]] const Effort& effort() const { return effort_; }
  [[nodiscard]] std::size_t memory_bytes() const;

 private:
  // Values of Variable::bottleneck that are no constraint.
  static constexpr std::uint32_t kCap = 0xffffffffu;   // held by its cap, or by nothing
  static constexpr std::uint32_t kNew = 0xfffffffeu;   // active, no rate yet
  static constexpr std::uint32_t kIdle = 0xfffffffdu;  // defined only
  static constexpr std::uint32_t kGone = 0xfffffffcu;  // removed; lists may still name it

  struct Variable {
    std::uint32_t of_class = 0;
    std::uint32_t first = 0;  // its block of uses_, as long as its class says
    std::uint32_t bottleneck = kGone;
    std::uint32_t place = 0;  // in the bottleneck's held_
    std::uint32_t epoch = 0;  // of the solve that moved it last
  };
  // What many variables share: limits and coefficients, in the order of the variable's uses.
  struct Class {
    double weight = 1, cap = kUnlimited;
    std::uint32_t first = 0, count = 0;  // its block of coefficients_
    bool kept = true;                    // false: of one variable, given back with it
  };
  // A cache line: all that settling a neighbour reads and writes.
  struct Constraint {
    double capacity = 0;
    double level = kUnlimited;  // of the variables it holds; none held: unlimited
    double other = 0;           // load of variables that it does not hold
    double slope = 0;           // sum of coefficient x weight of those it holds
    double top = 0;             // bound from above on the levels of variables not held
    double key = 0;             // in the heap of those to settle
    std::uint32_t updates = 0;  // of `other` and `slope` since they were summed
    std::uint32_t epoch = 0;    // of the solve that changed its level last
    std::uint32_t capped = 0;   // variables it holds that have a cap
    bool queued = false;
    bool scan = false;  // a variable is new or above its level, or it is overloaded
  };
  struct List {  // a block of entries_
    std::uint32_t first = 0, count = 0, room = 0;
  };
  struct Candidate {
    double level;
    std::uint32_t index;
    bool is_cap = false;
  };
  struct Pulled {
    double level;  // before
    std::uint32_t variable;
    bool fresh;  // it was new: it has no load anywhere
  };

  void append(List& list, std::uint32_t value);
  void hold(std::uint32_t variable, std::uint32_t constraint);
  void detach(std::uint32_t variable);
  void let_go(std::uint32_t variable);
  void withdraw(std::uint32_t variable);
  void compact_members();
  std::uint32_t class_of(const Limits& limits, std::span<const double> coefficients);
  void leave_class(std::uint32_t index);
  [[nodiscard]] double coefficient_on(const Variable& v, std::uint32_t constraint) const;
  [[nodiscard]] double level_of(const Variable& v) const {
    if (v.bottleneck < kGone) return constraints_[v.bottleneck].level;
    if (v.bottleneck != kCap) return 0;
    const Class& shape = classes_[v.of_class];
    return shape.cap / shape.weight;
  }
  void begin_solve();
  void note_move(std::uint32_t variable);
  void note_level(std::uint32_t constraint);

  // Settling after a change (max_min_settle.cpp).
  bool settle_all();
  void offer(std::uint32_t variable);
  void queue(std::uint32_t constraint, double key);
  [[nodiscard]] double tentative(const Constraint& c) const;
  void settle(std::uint32_t constraint);
  double pull(std::uint32_t constraint, double level);
  bool gather(std::uint32_t constraint, double floor);
  double release_capped(std::uint32_t constraint, double level);
  void apply(std::uint32_t constraint, double level);
  void spread(std::uint32_t variable, std::uint32_t at, double change, double level);
  void sum_up(std::uint32_t constraint);

  // Filling from nothing (max_min_fill.cpp).
  void fill();
  void prepare_fill();
  void fill_constraint(std::uint32_t constraint, double popped_level);
  void freeze(std::uint32_t variable, double level, std::uint32_t bottleneck);
  void finish_fill();
  static bool after(const Candidate& a, const Candidate& b);
  void push(Candidate candidate);

  std::vector<Variable> variables_;
  std::vector<std::uint32_t> free_variables_, gone_variables_;  // gone: still in members_
  std::size_t alive_ = 0;
  std::vector<Class> classes_;
  std::vector<std::uint32_t> free_classes_;
  std::map<std::vector<double>, std::uint32_t> known_classes_;
  std::vector<double> class_key_;
  std::vector<std::pair<std::uint32_t, double>> definition_;
  std::vector<double> definition_coefficients_;
  BlockPool<double> coefficients_;
  BlockPool<std::uint32_t> uses_;  // constraints of each variable
  std::vector<Constraint> constraints_;
  std::vector<List> members_, held_;  // by constraint: all its variables; those it holds down
  BlockPool<std::uint32_t> entries_;
  std::size_t member_entries_ = 0, gone_entries_ = 0;
  // What changed since the last solve.
  std::vector<std::uint32_t> new_variables_;
  std::size_t changes_ = 0;
  // While solving.
  std::uint32_t epoch_ = 1;
  std::vector<Candidate> heap_;
  std::vector<Candidate> candidates_;
  std::vector<Pulled> pulled_;
  std::vector<Pulled> released_;
  struct Filling {
    double remaining = 0, slope = 0, fresh_slope = 0, old_level = 0;
    std::uint32_t open = 0;
  };
  std::vector<Filling> filling_;               // by constraint
  std::vector<std::uint32_t> old_bottleneck_;  // by variable
  std::size_t open_ = 0;
  std::vector<VariableId> moved_;
  std::vector<ConstraintId> relevelled_;
  Effort effort_;
};

}  // namespace weft::engine
