// Flows in groups against arithmetic, and random changes against flows that are followed one by
// one.
#include "engine/flow/finish_queue.h"

#include <gtest/gtest.h>

#include <map>

#include "base/random.h"

namespace weft::engine {
namespace {

Instant at_us(double us) {
  return Instant::at(Duration::from_microseconds(us));
}

TEST(FinishQueue, AGroupSharesOneLevel) {
  // Level 1e6 a second: works of 3 and 5 end after 3 us and 5 us. At 1 us, with 2 and 4 left, the
  // level doubles: they end at 1 + 2/2 = 2 us and 1 + 4/2 = 3 us.
  FinishQueue queue;
  queue.set_level(1, 1e6, at_us(0));
  queue.insert(7, 1, 3, at_us(0));
  queue.insert(4, 1, 5, at_us(0));
  EXPECT_EQ(queue.front(), 7u);
  EXPECT_EQ(queue.front_time(), at_us(3));
  queue.set_level(1, 2e6, at_us(1));
  EXPECT_EQ(queue.front_time(), at_us(2));
  EXPECT_EQ(queue.remove(7, at_us(2)), 0);
  EXPECT_EQ(queue.front_time(), at_us(3));
  queue.remove(4, at_us(3));
  EXPECT_TRUE(queue.empty());
}

TEST(FinishQueue, AFlowTakesWhatIsLeftToAnotherGroup) {
  // 4 at level 1e6 until 1 us leaves 3; at level 3e6 that takes 1 us more.
  FinishQueue queue;
  queue.set_level(1, 1e6, at_us(0));
  queue.set_level(2, 3e6, at_us(0));
  queue.insert(0, 1, 4, at_us(0));
  const double left = queue.remove(0, at_us(1));
  EXPECT_NEAR(left, 3, 1e-12);
  queue.insert(0, 2, left, at_us(1));
  EXPECT_EQ(queue.front_time(), at_us(2));
}

TEST(FinishQueue, NothingEndsWhereTheLevelIsZero) {
  FinishQueue queue;
  queue.set_level(1, 0, at_us(0));
  queue.insert(0, 1, 4, at_us(0));
  EXPECT_EQ(queue.front_time(), Instant::never());
  queue.set_level(1, 4e6, at_us(10));
  EXPECT_EQ(queue.front_time(), at_us(11));
}

TEST(FinishQueue, FrontIsAFlowThatWaitsEvenWhenNoneMoves) {
  // Group 0 becomes empty, group 1 stands still: the front is flow 7, not what group 0 had.
  FinishQueue queue;
  queue.set_level(0, 1e6, at_us(0));
  queue.insert(3, 0, 1, at_us(0));
  queue.insert(7, 1, 1, at_us(0));
  EXPECT_EQ(queue.front(), 3u);
  queue.remove(3, at_us(1));
  EXPECT_EQ(queue.front_time(), Instant::never());
  EXPECT_EQ(queue.front(), 7u);
}

TEST(FinishQueue, AWaitThatNoClockCanHoldIsForEver) {
  FinishQueue queue;
  queue.set_level(1, 1e-300, at_us(5));
  queue.insert(0, 1, 1, at_us(5));
  EXPECT_EQ(queue.front_time(), Instant::never());
}

TEST(FinishQueue, EqualFlowsEndAtOneInstant) {
  FinishQueue queue;
  queue.set_level(1, 1e6 / 3, at_us(0));
  for (std::uint32_t flow = 0; flow < 100; ++flow) queue.insert(flow, 1, 1, at_us(0));
  for (std::uint32_t flow = 0; flow < 100; ++flow) {
    EXPECT_EQ(queue.front_time(), at_us(3));
    EXPECT_EQ(queue.front(), flow);
    queue.remove(flow, at_us(3));
  }
}

TEST(FinishQueue, FollowsRandomChangesAsIfFlowByFlow) {
  RandomStream random(3, 0);
  FinishQueue queue;
  std::vector<double> level(5);
  std::map<std::uint32_t, std::pair<std::size_t, double>> flows;  // group, work left
  Instant now;
  for (std::size_t g = 0; g < level.size(); ++g)
    queue.set_level(static_cast<std::uint32_t>(g), level[g] = 1e6 * random.uniform(), now);
  for (std::uint32_t step = 0; step < 5000; ++step) {
    const Instant next =
        now + Duration::nanoseconds(1 + static_cast<std::int64_t>(random.below(300)));
    while (!queue.empty() && queue.front_time() <= next) {
      const Instant end = queue.front_time();
      const std::uint32_t flow = queue.front();
      const auto& [group, left] = flows.at(flow);
      EXPECT_NEAR(left, level[group] * (end - now).to_seconds(), 1e-9 + 1e-12 * level[group]);
      queue.remove(flow, end);
      flows.erase(flow);
    }
    for (auto& [flow, state] : flows)
      state.second -= level[state.first] * (next - now).to_seconds();
    now = next;
    const auto group = static_cast<std::uint32_t>(random.below(level.size()));
    switch (random.below(3)) {
      case 0:
        queue.set_level(group, level[group] = 1e6 * random.uniform(), now);
        break;
      case 1:
        flows[step] = {group, random.uniform()};
        queue.insert(step, group, flows[step].second, now);
        break;
      default:
        if (flows.empty()) break;
        const std::uint32_t flow = flows.begin()->first;
        const double left = queue.remove(flow, now);
        EXPECT_NEAR(left, flows[flow].second, 1e-9);
        flows[flow] = {group, left};
        queue.insert(flow, group, left, now);
    }
  }
}

}  // namespace
}  // namespace weft::engine
