// Random clusters and random work through both engines. Where ops follow one another nothing is
// shared and the two agree; where they overlap the flow engine is never faster.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <set>

#include "base/errors.h"
#include "base/random.h"
#include "collective/collective.h"
#include "engine/analytic/analytic_engine.h"
#include "engine/flow/flow_engine.h"
#include "engine/test_cluster.h"
#include "fabric/test_servers.h"
#include "topology/topology.h"

namespace weft {
namespace {

// A cluster of 2 to 6 servers under a topology, all drawn from one seed.
class RandomCluster {
 public:
  explicit RandomCluster(std::uint64_t seed) : random(seed, 0) {
    fabric::testing::ServerOptions options;
    has_nvlink = random.below(3) > 0;
    options.nvlink_generation = has_nvlink ? 4 : 0;
    const bool large = random.below(2) == 0;
    const fabric::Fabric server =
        large ? fabric::testing::hgx(options) : fabric::testing::small_server();
    topology::Inputs inputs;
    inputs.servers.assign(2 + random.below(5), &server);
    inputs.switch_class.kind = fabric::DeviceKind::network_switch;
    inputs.switch_class.model = "switch";
    inputs.host_link = fabric::testing::cable(fabric::LinkKind::infiniband, 5);
    inputs.fabric_link = fabric::testing::cable(fabric::LinkKind::infiniband, 30);
    constexpr std::array<std::string_view, 9> kTopologies = {
        "leaf_spine", "fat_tree",        "rail",        "rail_only", "multi_plane", "torus",
        "dragonfly",  "optical_circuit", "scale_across"};
    const topology::Topology* topology =
        topology::find_topology(kTopologies[random.below(kTopologies.size())]);
    for (int radix = 4 << random.below(4);; radix *= 2) {  // the first radix that fits
      inputs.switch_class.radix = radix;
      if (topology->refuse(inputs).empty()) break;
    }
    fabric_ = std::make_unique<fabric::Fabric>(topology->build(inputs));
    constexpr std::array kPolicies = {routing::Policy::ecmp, routing::Policy::spray,
                                      routing::Policy::adaptive, routing::Policy::up_down,
                                      routing::Policy::valiant};
    routes_ = std::make_unique<routing::Routes>(
        *fabric_, routing::RouteOptions{seed, false, kPolicies[random.below(kPolicies.size())]});
    setup.fabric = fabric_.get();
    setup.routes = routes_.get();
    setup.constants = engine::testing::ideal_constants();
    setup.options.seed = seed;
    ranks = fabric_->of_kind(fabric::DeviceKind::gpu).size();
    setup.work.groups.emplace_back();
    for (std::size_t i = 0; i < ranks; ++i) {
      setup.work.rank_gpu.push_back(static_cast<std::uint32_t>(i));
      setup.work.groups[0].emplace_back(i);
    }
  }

  void add_op(std::vector<work::OpId> after) {
    work::Op op;
    op.after = std::move(after);
    op.earliest = Instant::at(Duration::nanoseconds(static_cast<std::int64_t>(random.below(5000))));
    const Bytes size(
        static_cast<std::int64_t>(random.below(std::uint64_t{1} << (8 + random.below(20)))));
    const std::uint64_t dice = random.below(8);
    if (dice == 0) {
      op.what =
          work::Compute{work::RankId(random.below(ranks)),
                        Duration::nanoseconds(static_cast<std::int64_t>(random.below(10'000)))};
    } else if (dice == 1 && has_nvlink) {  // without, the search for rings takes seconds
      constexpr std::array kKinds = {work::CollectiveKind::all_reduce,
                                     work::CollectiveKind::all_gather,
                                     work::CollectiveKind::all_to_all};
      work::CollectiveOp collective;
      collective.kind = kKinds[random.below(kKinds.size())];
      collective.group = work::GroupId(std::size_t{0});
      collective.size = size + Bytes(1024);
      op.what = collective;
    } else {
      op.what = work::Transfer{work::RankId(random.below(ranks)), work::RankId(random.below(ranks)),
                               size};
    }
    setup.work.ops.push_back(std::move(op));
  }

  RandomStream random;
  engine::Setup setup;
  std::size_t ranks = 0;
  bool has_nvlink = true;

 private:
  std::unique_ptr<fabric::Fabric> fabric_;
  std::unique_ptr<routing::Routes> routes_;
};

// Each seed is a scenario; the trace of a failure names the one to replay.
class Engines : public ::testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Seeds, Engines, ::testing::Range(std::uint64_t{0}, std::uint64_t{24}));

TEST_P(Engines, AgreeWhereNothingIsShared) {
  RandomCluster cluster(GetParam());
  for (std::size_t i = 0; i < 20; ++i)
    cluster.add_op(i == 0 ? std::vector<work::OpId>{} : std::vector{work::OpId(i - 1)});
  const result::Result flow = engine::flow_engine().run(cluster.setup, nullptr);
  const result::Result analytic = engine::analytic_engine().run(cluster.setup, nullptr);
  for (std::size_t i = 0; i < flow.ops.size(); ++i) {
    const double expected = analytic.ops[i].end.since_start().to_seconds();
    EXPECT_NEAR(flow.ops[i].end.since_start().to_seconds(), expected, 1e-6 * expected + 1e-11);
  }
  EXPECT_EQ(flow.links.size(), analytic.links.size());
}

TEST_P(Engines, SharingOnlyCostsTime) {
  RandomCluster cluster(1000 + GetParam());
  cluster.setup.options.queue_pairs = 1 + static_cast<int>(cluster.random.below(3));
  for (std::size_t i = 0; i < 40; ++i) {
    std::vector<work::OpId> after;
    for (int k = 0; i > 0 && k < 2; ++k)
      if (cluster.random.below(3) == 0) after.emplace_back(cluster.random.below(i));
    cluster.add_op(after);
  }
  const result::Result flow = engine::flow_engine().run(cluster.setup, nullptr);
  const result::Result analytic = engine::analytic_engine().run(cluster.setup, nullptr);
  for (std::size_t i = 0; i < flow.ops.size(); ++i)
    EXPECT_GE(flow.ops[i].end.since_start().to_seconds(),
              analytic.ops[i].end.since_start().to_seconds() * (1 - 1e-9) - 1e-11);
  for (const result::LinkLoad& load : flow.links) EXPECT_LE(load.utilisation, 1 + 1e-9);
}

// Every algorithm and collective that a rail cluster of 8-GPU NVSwitch servers can run: on all
// ranks, on one server, and on one GPU a server. Alone on the fabric nothing is shared but by the
// collective itself, so both engines give the same time.
TEST(EveryAlgorithm, TakesTheSameTimeInBothEngines) {
  fabric::testing::ServerOptions options;
  options.multicast = true;
  engine::testing::TestCluster cluster(fabric::testing::hgx(options), false, true);
  work::Work& work = cluster.setup.work;
  work.groups.resize(1);
  work.groups.push_back({work.groups[0].begin(), work.groups[0].begin() + 8});
  work.groups.push_back({work.groups[0][0], work.groups[0][8]});
  std::set<std::string_view> ran;
  for (const collective::Algorithm* algorithm : collective::all_algorithms())
    for (std::size_t kind = 0; kind < work::kCollectiveKindCount; ++kind)
      for (std::size_t group = 0; group < 3; ++group) {
        work::CollectiveOp op;
        op.kind = static_cast<work::CollectiveKind>(kind);
        op.group = work::GroupId(group);
        op.size = Bytes(3 << 20);
        if (work::is_moe(op.kind)) {
          op.moe = work::dispatch_shape();
          op.size = op.moe->size();
        }
        op.algorithm = algorithm->name();
        work.ops = {work::Op{op, Instant(), {}, ""}};
        double times[2] = {0, 0};
        try {
          times[0] = engine::analytic_engine().run(cluster.setup, nullptr).completion.to_seconds();
        } catch (const InputError&) {
          continue;  // refused, with a reason
        }
        times[1] = engine::flow_engine().run(cluster.setup, nullptr).completion.to_seconds();
        SCOPED_TRACE(
            fmt::format("{} {} group {}", algorithm->name(), work::to_text(op.kind), group));
        EXPECT_GT(times[0], 0);
        EXPECT_NEAR(times[1], times[0], 0.03 * times[0]);
        ran.insert(algorithm->name());
      }
  for (const collective::Algorithm* algorithm : collective::all_algorithms())
    EXPECT_TRUE(ran.contains(algorithm->name())) << algorithm->name() << " never ran";
}

}  // namespace
}  // namespace weft
