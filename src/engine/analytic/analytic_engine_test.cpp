#include "engine/analytic/analytic_engine.h"

#include <gtest/gtest.h>

#include "base/errors.h"
#include "engine/test_cluster.h"

namespace weft::engine {
namespace {

using fabric::testing::hgx;
using testing::TestCluster;
using namespace literals;

TEST(AnalyticEngine, ATransferTakesTheTimeOfItsDataPath) {
  TestCluster cluster(hgx());
  cluster.transfer(0, 9, 64_MiB);
  const result::Result result = analytic_engine().run(cluster.setup, nullptr);
  EXPECT_NEAR(result.completion.to_seconds(), cluster.path(0, 9).time(64_MiB).to_seconds(), 1e-12);
  EXPECT_EQ(result.engine.name, "analytic");
}

TEST(AnalyticEngine, OverlappingOpsDoNotSlowEachOther) {
  // Both end in NIC 8; each counts alone.
  TestCluster cluster(hgx());
  cluster.transfer(0, 8, 64_MiB);
  cluster.transfer(1, 8, 64_MiB);
  const result::Result result = analytic_engine().run(cluster.setup, nullptr);
  EXPECT_NEAR(result.completion.to_seconds(), cluster.path(0, 8).time(64_MiB).to_seconds(), 1e-12);
}

TEST(AnalyticEngine, FollowsTheLongestChain) {
  // 5 us, then the longer of 20 and 30 us, then 1 us: 36 us, all of it computation.
  TestCluster cluster(hgx());
  const work::RankId rank(std::size_t{0});
  const auto a = cluster.add(work::Compute{rank, 5_us});
  const auto b = cluster.add(work::Compute{rank, 20_us}, {a});
  const auto c = cluster.add(work::Compute{rank, 30_us}, {a});
  cluster.add(work::Compute{rank, 1_us}, {b, c});
  const result::Result result = analytic_engine().run(cluster.setup, nullptr);
  EXPECT_EQ(result.completion, 36_us);
  EXPECT_EQ(result.bottleneck.name, "compute");
  EXPECT_DOUBLE_EQ(result.bottleneck.share, 1);
}

TEST(AnalyticEngine, RefusesLinkChangesByName) {
  TestCluster cluster(hgx());
  cluster.transfer(0, 8, 1_MiB);
  cluster.setup.link_changes = {{Instant(), fabric::LinkId(0), 0.5}};
  try {
    (void)analytic_engine().run(cluster.setup, nullptr);
    FAIL() << "it has no notion of time-varying rates";
  } catch (const InputError& error) {
    EXPECT_EQ(error.diagnostics()[0].what, "the analytic engine has no link changes");
    EXPECT_FALSE(error.diagnostics()[0].hint.empty());
  }
}

}  // namespace
}  // namespace weft::engine
