#include "result/result.h"

#include <gtest/gtest.h>

namespace weft::result {
namespace {

FlowRecord flow_of(std::int64_t start_us, std::int64_t end_us) {
  FlowRecord flow;
  flow.start = Instant::at(Duration::microseconds(start_us));
  flow.end = Instant::at(Duration::microseconds(end_us));
  return flow;
}

TEST(FlowTimes, OfNothingAreZero) {
  EXPECT_EQ(flow_times({}).count, 0u);
  EXPECT_EQ(flow_times({}).max, Duration());
}

TEST(FlowTimes, NearestRankOfTwoHundred) {
  // Times 1 .. 200 us, starts staggered: mean (1 + 200) / 2 = 100.5; ranks 100 and 198.
  std::vector<FlowRecord> flows;
  for (int i = 200; i >= 1; --i) flows.push_back(flow_of(i, 2 * i));
  const FlowTimes times = flow_times(flows);
  EXPECT_EQ(times.count, 200u);
  EXPECT_EQ(times.mean, Duration::nanoseconds(100'500));
  EXPECT_EQ(times.p50, Duration::microseconds(100));
  EXPECT_EQ(times.p99, Duration::microseconds(198));
  EXPECT_EQ(times.max, Duration::microseconds(200));
}

TEST(FlowTimes, PercentilesOfFewFlowsAreTheirs) {
  // One flow is every percentile; of three, p50 is rank ceil(1.5) = 2 and p99 rank 3.
  EXPECT_EQ(flow_times(std::vector{flow_of(0, 7)}).p50, Duration::microseconds(7));
  const FlowTimes three = flow_times(std::vector{flow_of(0, 1), flow_of(0, 9), flow_of(0, 4)});
  EXPECT_EQ(three.p50, Duration::microseconds(4));
  EXPECT_EQ(three.p99, Duration::microseconds(9));
}

TEST(TopLinks, BusiestFirstAndTiesById) {
  const std::vector<LinkLoad> links = {{fabric::LinkId(std::size_t{0}), 1, 0.25},
                                       {fabric::LinkId(std::size_t{1}), 1, 0.5},
                                       {fabric::LinkId(std::size_t{2}), 1, 0.75},
                                       {fabric::LinkId(std::size_t{3}), 1, 0.5}};
  const auto top = top_links(links, 3);
  ASSERT_EQ(top.size(), 3u);
  EXPECT_EQ(top[0].link.value, 2u);
  EXPECT_EQ(top[1].link.value, 1u);
  EXPECT_EQ(top[2].link.value, 3u);
  EXPECT_EQ(top_links(links, 9).size(), 4u);
}

}  // namespace
}  // namespace weft::result
