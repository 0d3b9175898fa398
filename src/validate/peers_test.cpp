#include "validate/peers.h"

#include <gtest/gtest.h>

namespace weft::validate {
namespace {

collective::ChannelPlan one_server(int compute_capability, int ranks, int nodes = 1) {
  collective::ChannelPlan plan;
  plan.compute_capability = compute_capability;
  plan.nodes = nodes;
  plan.ranks_per_node = ranks / nodes;
  plan.rank_node.resize(static_cast<std::size_t>(ranks));
  return plan;
}

work::CollectiveOp all_reduce(Bytes size) {
  work::CollectiveOp op;
  op.size = size;
  return op;
}

// 14 steps of (128 MiB / 8) / 385.5 GB/s + 3.76 us = 14 x (43.52 + 3.76) = 662 us.
TEST(Peers, AstraSimIsTheLineThroughItsOwnResults) {
  const auto plan = one_server(90, 8);
  EXPECT_NEAR(peer_times(plan, all_reduce(Bytes::mib(1)), "ring", "Simple")[1], 57.4, 0.3);
  EXPECT_NEAR(peer_times(plan, all_reduce(Bytes::mib(128)), "ring", "Simple")[1], 662, 2);
  EXPECT_NEAR(peer_times(plan, all_reduce(Bytes::mib(512)), "ring", "Simple")[1], 2490, 8);
  EXPECT_EQ(peer_times(one_server(80, 8), all_reduce(Bytes::mib(1)), "ring", "Simple")[1], 0);
}

// 8 x H100: 2 x 7/8 x 512 MiB over 370.8 GB/s is 2534 us by ring, over 475 1978 us by NVLS; two
// servers have 8 NICs of 48.5: min(370.8, 388) binds at NVLink.
TEST(Peers, SimAiHasNoLatency) {
  const work::CollectiveOp op = all_reduce(Bytes::mib(512));
  EXPECT_NEAR(peer_times(one_server(90, 8), op, "ring", "Simple")[2], 2534, 1);
  EXPECT_NEAR(peer_times(one_server(90, 8), op, "nvls", "Simple")[2], 1978, 1);
  EXPECT_NEAR(peer_times(one_server(90, 16, 2), op, "ring", "Simple")[2], 2715, 1);
}

}  // namespace
}  // namespace weft::validate
