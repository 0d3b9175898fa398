// The tree over which a network reduces, and what a collective by it puts on links.
#include "engine/reduction_tree.h"

#include <gtest/gtest.h>

#include "engine/expand.h"
#include "engine/test_cluster.h"

namespace weft::engine {
namespace {

using testing::TestCluster;
using namespace literals;

fabric::testing::ServerOptions multicast() {
  fabric::testing::ServerOptions options;
  options.multicast = true;
  return options;
}

TEST(ReductionTree, JoinsLeavesAtTheNearestCommonSwitch) {
  // Two servers under two leaves, one spine: the root is the spine, one link up from each leaf.
  const fabric::Fabric fabric =
      fabric::testing::cluster(fabric::testing::hgx(), fabric::LinkKind::infiniband, false, true)
          .fabric;
  const auto leaf0 = fabric.find("leaf0").value(), leaf1 = fabric.find("leaf1").value();
  const auto links = reduction_tree(fabric, {leaf0, leaf1, leaf0}, 0);
  ASSERT_TRUE(links);
  ASSERT_EQ(links->size(), 2u);
  for (fabric::LinkId link : *links) EXPECT_EQ(fabric.name(fabric.to(link)), "spine0");
  EXPECT_TRUE(reduction_tree(fabric, {leaf0, leaf0}, 0)->empty());  // one switch does it all
  // Switches that do not reduce join nothing.
  const fabric::Fabric plain =
      fabric::testing::cluster(fabric::testing::hgx(), fabric::LinkKind::infiniband, false).fabric;
  EXPECT_FALSE(
      reduction_tree(plain, {plain.find("leaf0").value(), plain.find("leaf1").value()}, 0));
}

// Eight heads: each NIC carries S/8 each way; the one link from a leaf to the spine one copy of
// every head's tree, S in all.
TEST(ReductionTree, EachLinkCarriesOneCopy) {
  TestCluster cluster(fabric::testing::hgx(multicast()), false, true);
  work::CollectiveOp op;
  op.kind = work::CollectiveKind::all_reduce;
  op.group = work::GroupId(std::size_t{0});
  op.size = 64_MiB;
  op.algorithm = "collnet_direct";
  op.protocol = "Simple";
  Expander expander(cluster.setup);
  const Expansion& expansion = expander.expand(cluster.add(op));
  const fabric::Fabric& fabric = *cluster.setup.fabric;
  constexpr double kFraming = (4096.0 + 26) / 4096;  // InfiniBand headers and checksums a packet
  int ports = 0, trunks = 0;
  for (const LinkShare& share : expansion.shares) {
    const fabric::LinkClass& link = fabric.link_class(share.link);
    if (!fabric::is_network(link.kind)) continue;
    const bool trunk = fabric.kind(fabric.from(share.link)) == fabric.kind(fabric.to(share.link));
    ++(trunk ? trunks : ports);
    EXPECT_NEAR(share.wire, (trunk ? 1 : 0.125) * kFraming, 1e-9);
  }
  EXPECT_EQ(ports, 2 * 2 * 8);  // 16 NICs, both directions
  EXPECT_EQ(trunks, 4);         // 2 leaves, both directions
}

}  // namespace
}  // namespace weft::engine
