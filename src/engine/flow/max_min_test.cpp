// Known answers with the arithmetic beside them, then properties over random systems: feasible,
// every variable held by its cap or a bottleneck, and the incremental solution equal to a full one.
#include "engine/flow/max_min.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "base/random.h"

namespace weft::engine {
namespace {

using Use = MaxMin::Use;

TEST(MaxMin, ParkingLotGivesEveryoneHalf) {
  // k links of capacity 1; one long flow over all of them and one short flow on each: 1/2 each.
  MaxMin solver;
  std::vector<Use> all;
  for (int i = 0; i < 5; ++i) all.push_back({solver.add_constraint(1)});
  std::vector<VariableId> flows = {solver.add_variable({}, all)};
  for (const Use& use : all) flows.push_back(solver.add_variable({}, {{use}}));
  solver.solve();
  for (VariableId flow : flows) EXPECT_DOUBLE_EQ(solver.rate(flow), 0.5);
}

TEST(MaxMin, TwoUnequalLinks) {
  // Capacities 1 and 2. f1 on l1, f2 on both, f3 on l2. l1 fills first at 1/2; f3 gets the rest of
  // l2: 2 - 0.5 = 1.5.
  MaxMin solver;
  const auto l1 = solver.add_constraint(1);
  const auto l2 = solver.add_constraint(2);
  const auto f1 = solver.add_variable({}, {{{l1}}});
  const auto f2 = solver.add_variable({}, {{{l1}, {l2}}});
  const auto f3 = solver.add_variable({}, {{{l2}}});
  solver.solve();
  EXPECT_NEAR(solver.rate(f1), 0.5, 1e-12);
  EXPECT_NEAR(solver.rate(f2), 0.5, 1e-12);
  EXPECT_NEAR(solver.rate(f3), 1.5, 1e-12);
  EXPECT_EQ(solver.bottleneck(f2), l1);
  EXPECT_EQ(solver.bottleneck(f3), l2);
}

TEST(MaxMin, IncastSharesTheLastLink) {
  // n senders with links of their own into one link of capacity C: C/n each.
  MaxMin solver;
  const auto last = solver.add_constraint(50e9);
  std::vector<VariableId> flows;
  for (int i = 0; i < 7; ++i) {
    const auto own = solver.add_constraint(50e9);
    flows.push_back(solver.add_variable({}, {{{own}, {last}}}));
  }
  solver.solve();
  for (VariableId flow : flows) EXPECT_DOUBLE_EQ(solver.rate(flow), 50e9 / 7);
}

TEST(MaxMin, RingOfThreeTwoHopFlows) {
  // Three links in a ring, three flows over two links each: two flows a link, so 1/2 each.
  MaxMin solver;
  std::vector<ConstraintId> links;
  for (int i = 0; i < 3; ++i) links.push_back(solver.add_constraint(1));
  std::vector<VariableId> flows;
  for (std::size_t i = 0; i < 3; ++i)
    flows.push_back(solver.add_variable({}, {{{links[i]}, {links[(i + 1) % 3]}}}));
  solver.solve();
  for (VariableId flow : flows) EXPECT_DOUBLE_EQ(solver.rate(flow), 0.5);
}

TEST(MaxMin, WeightsCapsAndCoefficients) {
  // Capacity 10. a: weight 2, b: weight 1, c: weight 1 capped at 1, d spends 3 per unit.
  // c stops at 1. Then 9 = (2 + 1 + 3) x level: level 1.5; a = 3, b = 1.5, d = 1.5 (spends 4.5).
  MaxMin solver;
  const auto link = solver.add_constraint(10);
  const auto a = solver.add_variable({2, MaxMin::kUnlimited}, {{{link}}});
  const auto b = solver.add_variable({}, {{{link}}});
  const auto c = solver.add_variable({1, 1}, {{{link}}});
  const auto d = solver.add_variable({}, {{{link, 3}}});
  solver.solve();
  EXPECT_NEAR(solver.rate(a), 3, 1e-12);
  EXPECT_NEAR(solver.rate(b), 1.5, 1e-12);
  EXPECT_EQ(solver.rate(c), 1);
  EXPECT_EQ(solver.bottleneck(c), std::nullopt);
  EXPECT_NEAR(solver.rate(d), 1.5, 1e-12);
  EXPECT_NEAR(solver.load(link), 10, 1e-12);
}

TEST(MaxMin, FollowsChanges) {
  MaxMin solver;
  const auto link = solver.add_constraint(12);
  const auto a = solver.add_variable({}, {{{link}}});
  const auto b = solver.add_variable({}, {{{link}}});
  solver.solve();
  EXPECT_EQ(solver.rate(a), 6);
  solver.remove_variable(b);
  solver.solve();
  EXPECT_TRUE(solver.moved().empty());  // a's link still holds it down, at a new level
  ASSERT_EQ(solver.relevelled().size(), 1u);
  EXPECT_EQ(solver.relevelled()[0], link);
  EXPECT_EQ(solver.rate(a), 12);
  solver.set_capacity(link, 3);
  solver.solve();
  EXPECT_EQ(solver.rate(a), 3);
  solver.set_cap(a, 2);
  solver.solve();
  EXPECT_EQ(solver.rate(a), 2);
  solver.set_capacity(link, 0);  // the link goes down
  solver.solve();
  EXPECT_EQ(solver.rate(a), 0);
}

TEST(MaxMin, WithoutConstraintOrCapARateHasNoLimit) {
  MaxMin solver;
  const auto link = solver.add_constraint(1);
  const auto free = solver.add_variable({}, {{{link, 0}}});  // spends nothing anywhere
  const auto capped = solver.add_variable({1, 4}, {});
  solver.solve();
  EXPECT_EQ(solver.rate(free), MaxMin::kUnlimited);
  EXPECT_EQ(solver.rate(capped), 4);
}

TEST(MaxMin, AChangeElsewhereIsNotSolvedAgain) {
  // Twenty flows over one link that is never full, each with a full link of its own: only what a
  // change can reach through full links is filled again.
  MaxMin solver;
  const auto wide = solver.add_constraint(100);
  std::vector<ConstraintId> own;
  for (int i = 0; i < 20; ++i) {
    own.push_back(solver.add_constraint(1));
    solver.add_variable({}, {{{wide}, {own.back()}}});
  }
  solver.solve();
  const std::uint64_t before = solver.effort().rates;
  const auto extra = solver.add_variable({}, {{{own[3]}}});
  solver.solve();
  EXPECT_EQ(solver.rate(extra), 0.5);
  // The newcomer, and the one flow with which it shares a full link.
  EXPECT_EQ(solver.effort().rates - before, 2u);
}

TEST(MaxMin, OneFluidVariableOverManyLinks) {
  // A collective over 10,000 links that spends 0.5 on each, and one flow on one of them.
  // Levels are equal on that link: x + 0.5 x = 3, so x = 2; elsewhere the links stay underused.
  MaxMin solver;
  std::vector<Use> uses;
  for (int i = 0; i < 10'000; ++i) uses.push_back({solver.add_constraint(3), 0.5});
  const auto collective = solver.add_variable({}, uses);
  const auto flow = solver.add_variable({}, {{{uses[777].constraint}}});
  solver.solve();
  EXPECT_NEAR(solver.rate(collective), 2, 1e-12);
  EXPECT_NEAR(solver.rate(flow), 2, 1e-12);
  solver.remove_variable(flow);
  solver.solve();
  EXPECT_NEAR(solver.rate(collective), 6, 1e-12);  // 3 / 0.5
}

// A random system that can be built twice and changed step by step.
struct RandomSharing {
  explicit RandomSharing(std::uint64_t seed, std::size_t links) : random(seed, 0) {
    for (std::size_t i = 0; i < links; ++i)
      constraints.push_back(solver.add_constraint(1 + 99 * random.uniform()));
  }
  void add() {
    std::set<std::size_t> links;
    const std::size_t hops = 1 + random.below(6);
    for (std::size_t i = 0; i < hops; ++i) links.insert(random.below(constraints.size()));
    std::vector<Use> uses;
    for (std::size_t link : links)
      uses.push_back({constraints[link], random.below(4) == 0 ? 0.1 + random.uniform() : 1.0});
    MaxMin::Limits limits;
    if (random.below(3) == 0) limits.weight = 0.25 + 4 * random.uniform();
    if (random.below(4) == 0) limits.cap = 20 * random.uniform();
    variables.push_back(solver.add_variable(limits, uses));
    caps[variables.back().value] = limits;
  }
  void remove() {
    const std::size_t i = random.below(variables.size());
    solver.remove_variable(variables[i]);
    variables[i] = variables.back();
    variables.pop_back();
  }
  void step() {
    const std::uint64_t dice = random.below(10);
    if (variables.size() < 5 || (dice < 5 && variables.size() < 300))
      add();
    else if (dice < 8)
      remove();
    else
      solver.set_capacity(constraints[random.below(constraints.size())],
                          random.below(20) == 0 ? 0 : 1 + 99 * random.uniform());
  }

  RandomStream random;
  MaxMin solver;
  std::vector<ConstraintId> constraints;
  std::vector<VariableId> variables;
  std::map<std::uint32_t, MaxMin::Limits> caps;
};

TEST(MaxMin, TenThousandChangesEqualFullRecomputation) {
  RandomSharing system(7, 120);
  for (int event = 0; event < 10'000; ++event) {
    system.step();
    system.solver.solve();
    if (event % 20 != 0) continue;
    std::vector<double> incremental;
    for (VariableId v : system.variables) incremental.push_back(system.solver.rate(v));
    MaxMin full = system.solver;
    full.solve_from_scratch();
    for (std::size_t i = 0; i < incremental.size(); ++i) {
      const double expected = full.rate(system.variables[i]);
      ASSERT_NEAR(incremental[i], expected, 1e-9 * expected) << "after change " << event;
    }
  }
}

TEST(MaxMin, ANewVariableTakesFromOnesAboveTheOthersToo) {
  // Capacity 2. a capped at 1 and b share: 1 and 1. c comes: 2/3 each, so a leaves its cap though
  // it had no more than b.
  MaxMin solver;
  const auto link = solver.add_constraint(2);
  const auto a = solver.add_variable({1, 1}, {{{link}}});
  const auto b = solver.add_variable({}, {{{link}}});
  solver.solve();
  EXPECT_EQ(solver.rate(a), 1);
  EXPECT_EQ(solver.rate(b), 1);
  solver.add_variable({}, {{{link}}});
  solver.solve();
  EXPECT_NEAR(solver.rate(a), 2.0 / 3, 1e-12);
  EXPECT_NEAR(solver.rate(b), 2.0 / 3, 1e-12);
}

TEST(MaxMin, ManyAtOnceAndFewAtATimeGiveTheSame) {
  // An all-to-all of 24 hosts over two tiers: all variables at once are filled; then they leave in
  // random order, one by one, and are settled; every 20th time against a fill.
  RandomStream random(5, 0);
  MaxMin solver;
  std::vector<ConstraintId> out, in, up, down;
  for (int i = 0; i < 24; ++i) {
    out.push_back(solver.add_constraint(10));
    in.push_back(solver.add_constraint(10));
    up.push_back(solver.add_constraint(10));
    down.push_back(solver.add_constraint(10));
  }
  std::vector<VariableId> flows;
  for (std::size_t from = 0; from < 24; ++from)
    for (std::size_t to = 0; to < 24; ++to)
      if (from != to)
        flows.push_back(solver.add_variable(
            {}, {{{out[from]}, {in[to]}, {up[random.below(24)]}, {down[random.below(24)]}}}));
  solver.solve();
  EXPECT_EQ(solver.effort().fills, 1u);
  while (flows.size() > 100) {
    const std::size_t i = random.below(flows.size());
    solver.remove_variable(flows[i]);
    flows[i] = flows.back();
    flows.pop_back();
    solver.solve();
    if (flows.size() % 20 != 0) continue;
    MaxMin full = solver;
    full.solve_from_scratch();
    for (VariableId flow : flows)
      ASSERT_NEAR(solver.rate(flow), full.rate(flow), 1e-9 * full.rate(flow));
  }
  EXPECT_EQ(solver.effort().fills, 1u);
}

// Every constraint holds, and every variable is at its cap or has a full constraint on which no
// level is higher.
void expect_max_min(const RandomSharing& system) {
  const MaxMin& solver = system.solver;
  std::map<ConstraintId, double> top;
  std::map<ConstraintId, double> load;
  for (VariableId v : system.variables)
    solver.for_each_use(v, [&](ConstraintId c, double coefficient) {
      load[c] += coefficient * solver.rate(v);
      top[c] = std::max(top[c], solver.rate(v) / system.caps.at(v.value).weight);
    });
  for (const auto& [c, bytes] : load) RC_ASSERT(bytes <= solver.capacity(c) * (1 + 1e-9));
  for (VariableId v : system.variables) {
    const MaxMin::Limits& limits = system.caps.at(v.value);
    const double level = solver.rate(v) / limits.weight;
    bool held = solver.rate(v) >= limits.cap * (1 - 1e-9);
    solver.for_each_use(v, [&](ConstraintId c, double) {
      held |= load[c] >= solver.capacity(c) * (1 - 1e-9) && level >= top[c] * (1 - 1e-9);
    });
    RC_ASSERT(held);
  }
}

RC_GTEST_PROP(MaxMinProperty, IsFeasibleAndEveryVariableHasABottleneck, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const auto links = *rc::gen::inRange<std::size_t>(1, 40);
  const auto changes = *rc::gen::inRange<int>(1, 60);
  RandomSharing system(seed, links);
  for (int i = 0; i < changes; ++i) {
    for (int batch = 0; batch < 1 + i % 4; ++batch) system.step();
    system.solver.solve();
    expect_max_min(system);
  }
}

RC_GTEST_PROP(MaxMinProperty, OrderOfInsertionDoesNotMatter, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  RandomStream random(seed, 1);
  std::vector<double> capacities(1 + random.below(10));
  for (double& capacity : capacities) capacity = 1 + 9 * random.uniform();
  std::vector<std::vector<std::size_t>> paths(1 + random.below(20));
  for (auto& path : paths) {
    std::set<std::size_t> links;
    for (int i = 0; i < 3; ++i) links.insert(random.below(capacities.size()));
    path.assign(links.begin(), links.end());
  }
  std::vector<std::size_t> order(paths.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<double> rates[2];
  for (auto& run : rates) {
    MaxMin solver;
    std::vector<ConstraintId> links;
    for (double capacity : capacities) links.push_back(solver.add_constraint(capacity));
    std::vector<VariableId> flows(paths.size());
    for (std::size_t flow : order) {
      std::vector<Use> uses;
      for (std::size_t link : paths[flow]) uses.push_back({links[link]});
      flows[flow] = solver.add_variable({}, uses);
      if (flow % 3 == 0) solver.solve();  // in pieces or at once: the same
    }
    solver.solve();
    for (VariableId flow : flows) run.push_back(solver.rate(flow));
    std::reverse(order.begin(), order.end());
  }
  for (std::size_t i = 0; i < paths.size(); ++i)
    RC_ASSERT(std::abs(rates[0][i] - rates[1][i]) <= 1e-9 * rates[0][i]);
}

}  // namespace
}  // namespace weft::engine
