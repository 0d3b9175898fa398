// The engine and its solver against plain ones written here: rates filled up from nothing at every
// event, and events found by looking at every flow.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <vector>

#include "base/random.h"
#include "engine/expand.h"
#include "engine/flow/flow_engine.h"
#include "engine/flow/max_min.h"
#include "engine/test_cluster.h"

namespace weft::engine {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

struct PlainFlow {
  std::map<std::size_t, double> uses;  // coefficient by link
  double weight = 1, cap = kNever;
  double left = 0;  // bytes
};

// Progressive filling as in the textbook: the links' and caps' lowest level freezes who is at it.
std::vector<double> fill(const std::vector<PlainFlow>& flows, const std::vector<double>& capacity) {
  std::vector<double> rate(flows.size(), -1);
  for (std::size_t frozen = 0; frozen < flows.size();) {
    std::vector<double> remaining = capacity, slope(capacity.size());
    double level = kNever;
    for (std::size_t i = 0; i < flows.size(); ++i) {
      for (const auto& [link, coefficient] : flows[i].uses) {
        if (rate[i] >= 0)
          remaining[link] -= coefficient * rate[i];
        else
          slope[link] += coefficient * flows[i].weight;
      }
      if (rate[i] < 0) level = std::min(level, flows[i].cap / flows[i].weight);
    }
    std::size_t full = capacity.size();  // none: a cap is the lowest
    for (std::size_t link = 0; link < capacity.size(); ++link) {
      if (slope[link] <= 0 || std::max(0.0, remaining[link]) / slope[link] >= level) continue;
      level = std::max(0.0, remaining[link]) / slope[link];
      full = link;
    }
    for (std::size_t i = 0; i < flows.size(); ++i) {
      const bool at_cap = flows[i].cap / flows[i].weight <= level;
      if (rate[i] >= 0 || !(full < capacity.size() ? flows[i].uses.contains(full) : at_cap))
        continue;
      rate[i] = level * flows[i].weight;
      ++frozen;
    }
  }
  return rate;
}

// Flows arrive, end and meet links whose capacity changes, in the order that a run would give:
// after every event the incremental rates equal those filled up from nothing.
class RatesInTime {
 public:
  explicit RatesInTime(std::uint64_t seed) : random_(seed, 0) {
    const std::size_t links = 3 + random_.below(20);
    for (std::size_t i = 0; i < links; ++i) {
      capacity_.push_back(1 + 99 * random_.uniform());
      solver_.add_constraint(capacity_.back());
    }
  }

  void run(int events) {
    for (int event = 0; event < events; ++event) {
      solver_.solve();
      const std::vector<double> rates = fill(flows_, capacity_);
      std::size_t first = flows_.size();  // to end
      double wait = random_.exponential(0.05);
      for (std::size_t i = 0; i < flows_.size(); ++i) {
        ASSERT_NEAR(solver_.rate(variables_[i]), rates[i], 1e-9 * rates[i]) << "event " << event;
        if (rates[i] <= 0 || flows_[i].left / rates[i] >= wait) continue;
        wait = flows_[i].left / rates[i];
        first = i;
      }
      for (std::size_t i = 0; i < flows_.size(); ++i) flows_[i].left -= rates[i] * wait;
      if (first < flows_.size())
        end(first);
      else if (random_.below(4) > 0)
        arrive();
      else
        change();
    }
  }

 private:
  void arrive() {
    PlainFlow flow;
    std::vector<MaxMin::Use> uses;
    const std::size_t hops = 1 + random_.below(6);
    for (std::size_t i = 0; i < hops; ++i)
      flow.uses[random_.below(capacity_.size())] =
          random_.below(3) == 0 ? 0.1 + random_.uniform() : 1;
    if (random_.below(3) == 0) flow.weight = 0.25 + 4 * random_.uniform();
    if (random_.below(4) == 0) flow.cap = 0.1 + 20 * random_.uniform();
    flow.left = 20 * random_.uniform();
    for (const auto& [link, coefficient] : flow.uses)
      uses.push_back({ConstraintId(link), coefficient});
    variables_.push_back(solver_.add_variable({flow.weight, flow.cap}, uses));
    flows_.push_back(std::move(flow));
  }
  void end(std::size_t flow) {
    solver_.remove_variable(variables_[flow]);
    variables_.erase(variables_.begin() + static_cast<std::ptrdiff_t>(flow));
    flows_.erase(flows_.begin() + static_cast<std::ptrdiff_t>(flow));
  }
  void change() {
    const std::size_t link = random_.below(capacity_.size());
    capacity_[link] = random_.below(6) == 0 ? 0 : 1 + 99 * random_.uniform();
    solver_.set_capacity(ConstraintId(link), capacity_[link]);
  }

  RandomStream random_;
  MaxMin solver_;
  std::vector<double> capacity_;
  std::vector<PlainFlow> flows_;
  std::vector<VariableId> variables_;
};

TEST(MaxMinDifferential, RatesEqualPlainFillingAtEveryEvent) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    RatesInTime(seed).run(150);
    if (HasFatalFailure()) return;
  }
}

// A run of transfers without dependencies, by the plain rates: when each ends, in seconds.
class PlainRun {
 public:
  explicit PlainRun(const Setup& setup) : setup_(setup), ends_(setup.work.ops.size()) {
    const fabric::Fabric& fabric = *setup.fabric;
    for (std::size_t i = 0; i < fabric.link_count(); ++i)
      capacity_.push_back(fabric.link_class(fabric::LinkId(i)).raw_rate.bytes_per_second());
    Expander expander(setup);
    for (std::size_t i = 0; i < ends_.size(); ++i) {
      const Expansion& expansion = expander.expand(work::OpId(i));
      const Expansion::Flow& flow = expansion.flows.at(0);
      PlainFlow plain{{}, flow.weight, expansion.cap, flow.bytes};
      for (std::uint32_t s = flow.begin; s < flow.end; ++s)
        plain.uses[expansion.shares[s].link.index()] = expansion.shares[s].spent;
      const Instant begin = setup.work.ops[i].earliest + expansion.latency;
      arrivals_.emplace(begin.since_start().to_seconds(), std::pair{i, plain});
    }
    for (const LinkChange& change : setup.link_changes)
      changes_.emplace(change.when.since_start().to_seconds(), change);
  }

  std::vector<double> run() {
    double now = 0;
    while (!flows_.empty() || !arrivals_.empty()) {
      const std::vector<double> rates = fill(flows_, capacity_);
      double next = arrivals_.empty() ? kNever : arrivals_.begin()->first;
      if (!changes_.empty()) next = std::min(next, changes_.begin()->first);
      for (std::size_t i = 0; i < flows_.size(); ++i)
        if (rates[i] > 0) next = std::min(next, now + flows_[i].left / rates[i]);
      for (std::size_t i = flows_.size(); i-- > 0;) {
        flows_[i].left -= rates[i] * (next - now);
        if (flows_[i].left > 1e-6) continue;  // a millionth of a byte: 2e-5 ps at 50 GB/s
        ends_[op_[i]] = next;
        flows_.erase(flows_.begin() + static_cast<std::ptrdiff_t>(i));
        op_.erase(op_.begin() + static_cast<std::ptrdiff_t>(i));
      }
      now = next;
      for (; !arrivals_.empty() && arrivals_.begin()->first <= now;
           arrivals_.erase(arrivals_.begin())) {
        op_.push_back(arrivals_.begin()->second.first);
        flows_.push_back(arrivals_.begin()->second.second);
      }
      for (; !changes_.empty() && changes_.begin()->first <= now; changes_.erase(changes_.begin()))
        apply(changes_.begin()->second);
    }
    return ends_;
  }

 private:
  void apply(const LinkChange& change) {
    capacity_[change.link.index()] =
        setup_.fabric->link_class(change.link).raw_rate.bytes_per_second() * change.factor;
  }

  const Setup& setup_;
  std::vector<double> ends_;
  std::vector<double> capacity_;
  std::multimap<double, std::pair<std::size_t, PlainFlow>> arrivals_;
  std::multimap<double, LinkChange> changes_;
  std::vector<PlainFlow> flows_;
  std::vector<std::size_t> op_;  // of each flow
};

TEST(FlowDifferential, RunsEqualPlainOnesThroughLinkChanges) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    RandomStream random(seed, 1);
    testing::TestCluster cluster(fabric::testing::hgx(), seed % 2 == 0);
    engine::Setup& setup = cluster.setup;
    if (seed % 3 == 0) setup.options.via = fabric::Via::staged;
    std::set<std::uint32_t> crossed;
    for (int i = 0; i < 60; ++i) {
      const std::size_t from = random.below(16), to = (from + 1 + random.below(15)) % 16;
      cluster.add(
          work::Transfer{
              work::RankId(from), work::RankId(to),
              Bytes(static_cast<std::int64_t>(1 + random.below(std::uint64_t{1} << 26)))},
          {},
          Instant::at(Duration::nanoseconds(static_cast<std::int64_t>(random.below(2'000'000)))));
    }
    Expander expander(setup);
    for (std::size_t i = 0; i < 60; ++i)
      for (const LinkShare& share : expander.expand(work::OpId(i)).shares)
        crossed.insert(share.link.value);
    const std::vector<std::uint32_t> links(crossed.begin(), crossed.end());
    for (int i = 0; i < 30; ++i) {
      const double factor = random.below(4) == 0 ? 0 : random.uniform();
      const auto when = static_cast<std::int64_t>(random.below(8'000'000));
      const std::size_t link = links[random.below(links.size())];
      setup.link_changes.push_back(
          {Instant::at(Duration::nanoseconds(when)), fabric::LinkId(link), factor});
      setup.link_changes.push_back(  // every link is mended in the end
          {Instant::at(Duration::nanoseconds(10'000'000)), fabric::LinkId(link), 1});
    }
    const result::Result result = flow_engine().run(setup, nullptr);
    const std::vector<double> plain = PlainRun(setup).run();
    for (std::size_t i = 0; i < plain.size(); ++i)
      // Each of some hundred events rounds to a picosecond.
      EXPECT_NEAR(result.ops[i].end.since_start().to_seconds(), plain[i], 1e-9 * plain[i] + 2e-10)
          << "seed " << seed << ", op " << i;
  }
}

}  // namespace
}  // namespace weft::engine
