// How ops become loads of links, against the definition: latency + largest load / rate.
#include "engine/expand.h"

#include <gtest/gtest.h>

#include "base/errors.h"
#include "engine/test_cluster.h"

namespace weft::engine {
namespace {

using fabric::testing::hgx;
using testing::TestCluster;
using namespace literals;

work::CollectiveOp forced(work::CollectiveKind kind, Bytes size, std::string algorithm) {
  work::CollectiveOp op;
  op.kind = kind;
  op.group = work::GroupId(std::size_t{0});
  op.size = size;
  op.algorithm = std::move(algorithm);
  op.protocol = "Simple";
  return op;
}

collective::Fluid fluid_of(const TestCluster& cluster, const work::CollectiveOp& op,
                           std::size_t gpus) {
  collective::Group group;
  const auto all = cluster.setup.fabric->of_kind(fabric::DeviceKind::gpu);
  group.gpus.assign(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(gpus));
  const auto plan = collective::plan_channels(*cluster.setup.fabric, group);
  return collective::find_algorithm(op.algorithm)
      ->fluid({op.kind, op.size, 0, collective::Protocol::simple}, plan, cluster.setup.constants);
}

TEST(Expand, RingInsideAServerLoadsEveryNvlinkAlike) {
  // All-reduce of S on 8 GPUs: every GPU sends 2 x 7/8 S over its 18 NVLinks of 20.6 GB/s each.
  TestCluster cluster(hgx());
  cluster.setup.work.groups[0].resize(8);
  const work::CollectiveOp op = forced(work::CollectiveKind::all_reduce, 1_GiB, "ring");
  const auto id = cluster.add(op);
  Expander expander(cluster.setup);
  const Expansion& expansion = expander.expand(id);
  const collective::Fluid fluid = fluid_of(cluster, op, 8);
  ASSERT_EQ(expansion.flows.size(), 1u);
  EXPECT_EQ(expansion.latency, fluid.latency);
  // 8 GPUs x 4 switches x both directions.
  EXPECT_EQ(expansion.shares.size(), 64u);
  const double expected = 1.75 * (1 << 30) * fluid.wire_factor / (18 * 20.6e9);
  EXPECT_NEAR(expansion.heaviest_load(*cluster.setup.fabric).seconds, expected, 1e-6 * expected);
}

TEST(Expand, BetweenServersTheNicsCarryTheEdgesThatCross) {
  TestCluster cluster(hgx());
  const work::CollectiveOp op = forced(work::CollectiveKind::all_gather, 256_MiB, "ring");
  const auto id = cluster.add(op);
  const collective::Fluid fluid = fluid_of(cluster, op, 16);
  double crossing = 0;
  for (const collective::Edge& edge : fluid.edges)
    if (edge.from_nic.valid()) crossing += edge.bytes;
  Expander expander(cluster.setup);
  const Expansion& expansion = expander.expand(id);
  const fabric::Fabric& fabric = *cluster.setup.fabric;
  double sent = 0;
  for (const LinkShare& share : expansion.shares)
    if (fabric::is_network(fabric.link_class(share.link).kind) &&
        fabric.kind(fabric.from(share.link)) == fabric::DeviceKind::nic)
      sent += share.wire * op.size.to_double();
  const fabric::NetworkCosts& network = cluster.setup.costs.network;
  const double framed = (network.mtu + network.overhead).to_double() / network.mtu.to_double();
  EXPECT_GT(crossing, 0);
  EXPECT_NEAR(sent, crossing * framed, 1e-9 * sent);
  for (const LinkShare& share : expansion.shares) EXPECT_LE(share.wire, share.spent * (1 + 1e-12));
}

TEST(Expand, WithoutNvlinkARingGoesOverPcie) {
  TestCluster cluster(hgx({.nvlink_generation = 0}));
  cluster.setup.work.groups[0].resize(8);
  const auto id = cluster.add(forced(work::CollectiveKind::all_reduce, 64_MiB, "ring"));
  Expander expander(cluster.setup);
  const Expansion& expansion = expander.expand(id);
  ASSERT_FALSE(expansion.shares.empty());
  for (const LinkShare& share : expansion.shares)
    EXPECT_NE(cluster.setup.fabric->link_class(share.link).kind, fabric::LinkKind::nvlink);
}

TEST(Expand, AStampedPathIsThePathAsked) {
  // Every pair of GPUs: links and latency equal to find_data_path's, though most are stamped.
  TestCluster cluster(hgx(), false);
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  for (std::size_t a = 0; a < 16; ++a)
    for (std::size_t b = 0; b < 16; ++b)
      if (a != b) {
        cluster.transfer(a, b, 1_MiB);
        pairs.emplace_back(a, b);
      }
  Expander expander(cluster.setup);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const Expansion& expansion = expander.expand(work::OpId(i));
    const fabric::DataPath path = cluster.path(pairs[i].first, pairs[i].second);
    std::map<fabric::LinkId, double> expected;
    for (const fabric::Leg& leg : path.legs)
      for (const fabric::Hop& hop : leg.hops) {
        expected[hop.link] += hop.wire_per_byte;
        if (hop.reverse_wire_per_byte > 0)
          expected[fabric::reverse(hop.link)] += hop.reverse_wire_per_byte;
      }
    std::map<fabric::LinkId, double> got;
    for (const LinkShare& share : expansion.shares) got[share.link] += share.spent;
    EXPECT_EQ(got, expected);
    EXPECT_EQ(expansion.latency, path.latency);
  }
}

TEST(Expand, RefusesWhatIsForcedAndCannotRun) {
  TestCluster cluster(hgx());
  const auto id = cluster.add(forced(work::CollectiveKind::all_reduce, 1_MiB, "nvls"));
  Expander expander(cluster.setup);
  EXPECT_THROW(expander.expand(id), InputError);  // these switches cannot multicast
}

TEST(Expand, RefusesARankWithoutAGpu) {
  TestCluster cluster(hgx());
  cluster.setup.work.rank_gpu[3] = 99;
  const auto id = cluster.transfer(3, 4, 1_MiB);
  Expander expander(cluster.setup);
  EXPECT_THROW(expander.expand(id), InputError);
}

}  // namespace
}  // namespace weft::engine
