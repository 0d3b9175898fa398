#include "collective/tuner.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "collective/tuner_tables.h"

namespace weft::collective {
namespace {

using work::CollectiveKind;

// A plan by hand: `nodes` x 8 GPUs on NVSwitch, with the channels and bandwidths given.
struct PlanShape {
  int nodes = 1;
  int local = 8;
  int compute_capability = 90;
  int channels = 12;
  double intra = 30, inter = 30;
};
ChannelPlan plan_of(const PlanShape& shape) {
  ChannelPlan plan;
  plan.nodes = shape.nodes;
  plan.ranks_per_node = shape.local;
  plan.group.gpus.resize(static_cast<std::size_t>(shape.nodes * shape.local));
  plan.node_ranks.resize(static_cast<std::size_t>(shape.nodes));
  for (std::uint32_t rank = 0; rank < plan.group.gpus.size(); ++rank) {
    plan.rank_node.push_back(rank / static_cast<std::uint32_t>(shape.local));
    plan.rank_local.push_back(rank % static_cast<std::uint32_t>(shape.local));
    plan.node_ranks[plan.rank_node.back()].push_back(rank);
  }
  plan.channels.resize(static_cast<std::size_t>(shape.channels));
  plan.ring_bw_intra = plan.tree_bw_intra = shape.intra;
  plan.ring_bw_inter = plan.tree_bw_inter = shape.inter;
  plan.compute_capability = shape.compute_capability;
  plan.cpu_vendor = fabric::Vendor::intel;
  plan.intra_type.kind = fabric::PathKind::nvlink;
  plan.inter_type.kind = fabric::PathKind::pxb;
  return plan;
}

double latency(const ChannelPlan& plan, const char* algorithm, Protocol protocol,
               CollectiveKind kind = CollectiveKind::all_reduce) {
  return model(kind, algorithm, protocol, plan).latency_us;
}
double bandwidth(const ChannelPlan& plan, const char* algorithm, Protocol protocol,
                 CollectiveKind kind = CollectiveKind::all_reduce) {
  return model(kind, algorithm, protocol, plan).bandwidth_gb_per_s;
}

// All-reduce latencies of NCCL 2.30's model, 8 GPUs a node on NVLink, Intel CPUs, NIC latency 0.
// Ring, N nodes: base + (14 N + 2(N-1) ... ) written out for N = 2, LL:
//   30 steps of which 2 cross: 6.6 + 28 x max(0.6, 1) + 2 x 2.7 = 40.0.
// Tree, N = 2, LL: 6.8 + 2 x (7 x 0.6 + 1 x 5) = 25.2.
TEST(Tuner, AllReduceLatenciesAreNccls) {
  struct Row {
    int nodes;
    std::array<double, 3> ring, tree;
    double tolerance;  // half of the last digit of the reference
  };
  const std::array<Row, 5> rows{{
      {1, {15.0, 40.6, 56.0}, {15.2, 31.5, 64.4}, 0.05},
      {2, {40.0, 75.2, 131.6}, {25.2, 48.5, 92.4}, 0.05},
      {4, {78.8, 144.4, 282.8}, {35.2, 65.5, 120.4}, 0.05},
      {16, {311.6, 559.6, 1190}, {55.2, 99.5, 176.4}, 0.5},
      {128, {2484, 4435, 9657}, {85.2, 150.5, 260.4}, 0.5},
  }};
  for (const Row& row : rows) {
    const ChannelPlan plan = plan_of({.nodes = row.nodes});
    for (std::size_t p = 0; p < 3; ++p) {
      const auto protocol = static_cast<Protocol>(p);
      EXPECT_NEAR(latency(plan, "ring", protocol), row.ring[p], row.tolerance)
          << row.nodes << " nodes, ring " << to_text(protocol);
      EXPECT_NEAR(latency(plan, "tree", protocol), row.tree[p], 0.05)
          << row.nodes << " nodes, tree " << to_text(protocol);
    }
  }
}

TEST(Tuner, GatherCrossesEachNodeBoundaryOnce) {
  const ChannelPlan plan = plan_of({.nodes = 2});
  // 15 steps of which 1 crosses: 8.4 + 14 x max(3.4, 3) + 14 = 70.0.
  EXPECT_NEAR(latency(plan, "ring", Protocol::simple, CollectiveKind::all_gather), 70.0, 1e-9);
  EXPECT_NEAR(latency(plan, "ring", Protocol::simple, CollectiveKind::reduce_scatter), 70.0, 1e-9);
}

TEST(Tuner, AmdCpusPostSlower) {
  ChannelPlan plan = plan_of({.nodes = 2});
  plan.cpu_vendor = fabric::Vendor::amd;
  // LL: 6.6 + 28 x max(0.6, 2) + 2 x 2.7 = 68.0; Simple: 8.4 + 28 x max(3.4, 6) + 28 = 204.4.
  EXPECT_NEAR(latency(plan, "ring", Protocol::ll), 68.0, 1e-9);
  EXPECT_NEAR(latency(plan, "ring", Protocol::simple), 204.4, 1e-9);
}

TEST(Tuner, NicLatencyCountsTwiceForSimple) {
  ChannelPlan plan = plan_of({.nodes = 2});
  plan.nic_latency_us = 5;
  EXPECT_NEAR(latency(plan, "ring", Protocol::ll), 40.0 + 2 * 5, 1e-9);
  EXPECT_NEAR(latency(plan, "ring", Protocol::simple), 131.6 + 2 * 10, 1e-9);
}

TEST(Tuner, OneRankANodePaysTheTreesNetworkHop) {
  const ChannelPlan plan = plan_of({.nodes = 4, .local = 1});
  // LL: 6 steps, all cross: 6.6 + 6 x 5 (tree's 5, not the ring's 2.7) = 36.6.
  EXPECT_NEAR(latency(plan, "ring", Protocol::ll), 36.6, 1e-9);
}

TEST(Tuner, LatenciesOfTheRowsThatRunOnlyOnSpecialFabrics) {
  const ChannelPlan one = plan_of({.nodes = 1}), four = plan_of({.nodes = 4});
  EXPECT_NEAR(latency(one, "nvls", Protocol::simple), 25.0, 1e-9);
  EXPECT_NEAR(latency(four, "nvls", Protocol::simple), 25.0 + 18.0, 1e-9);
  // 25 + 2 x log2(4) x 20.9
  EXPECT_NEAR(latency(four, "nvls_tree", Protocol::simple), 108.6, 1e-9);
  // 2 x (3.7 + 0.4 x 7) + 31; 2 x 7 x 2.8 + 30
  EXPECT_NEAR(latency(four, "collnet_direct", Protocol::simple), 44.0, 1e-9);
  EXPECT_NEAR(latency(four, "collnet_chain", Protocol::simple), 69.2, 1e-9);
  // One rank a node, 8 nodes: 8 + 3 x 14 / 3.5 + 2.8 x 8 = 42.4
  const ChannelPlan thin = plan_of({.nodes = 8, .local = 1});
  EXPECT_NEAR(latency(thin, "pat", Protocol::simple, CollectiveKind::all_gather), 42.4, 1e-9);
}

TEST(Tuner, RingBandwidthsAndTheirCeilings) {
  const ChannelPlan h100 = plan_of({});  // 12 x 30 = 360 on the bus, 8/14 of it for the algorithm
  EXPECT_NEAR(bandwidth(h100, "ring", Protocol::simple), 360 * 8.0 / 14, 1e-9);
  // LL: min(141, 180); LL128: min(331.2, 12 x 36.7 = 440.4).
  EXPECT_NEAR(bandwidth(h100, "ring", Protocol::ll), 141 * 8.0 / 14, 1e-9);
  EXPECT_NEAR(bandwidth(h100, "ring", Protocol::ll128), 331.2 * 8.0 / 14, 1e-9);
  // Ampere: LL128's 12 x 20 = 240 is above 220.8.
  const ChannelPlan a100 = plan_of({.compute_capability = 80, .intra = 20, .inter = 20});
  EXPECT_NEAR(bandwidth(a100, "ring", Protocol::ll128), 220.8 * 8.0 / 14, 1e-9);
  // Two nodes take the CPU's row: Intel 39, AMD 22.5.
  ChannelPlan two = plan_of({.nodes = 2});
  EXPECT_NEAR(bandwidth(two, "ring", Protocol::ll), 39 * 16.0 / 30, 1e-9);
  two.cpu_vendor = fabric::Vendor::amd;
  EXPECT_NEAR(bandwidth(two, "ring", Protocol::ll), 22.5 * 16.0 / 30, 1e-9);
  // More than two nodes go by the network's bandwidth.
  const ChannelPlan four = plan_of({.nodes = 4, .inter = 20});
  EXPECT_NEAR(bandwidth(four, "ring", Protocol::simple), 240 * 32.0 / 62, 1e-9);
}

TEST(Tuner, TreeBandwidthsAndTheirCeilings) {
  const ChannelPlan h100 = plan_of({});
  // Simple: min(360 x 0.92, 12 x 38.7 = 464.4) / 2
  EXPECT_NEAR(bandwidth(h100, "tree", Protocol::simple), 331.2 / 2, 1e-9);
  EXPECT_NEAR(bandwidth(h100, "tree", Protocol::ll), 331.2 / 3.8 / 2, 1e-9);
  EXPECT_NEAR(bandwidth(h100, "tree", Protocol::ll128), 331.2 * 7 / 9 / 2, 1e-9);
  // The ceiling binds: 4 channels of 48 on two Ampere nodes, 4 x 23.6.
  const ChannelPlan a100 =
      plan_of({.nodes = 2, .compute_capability = 80, .channels = 4, .intra = 48, .inter = 24});
  EXPECT_NEAR(bandwidth(a100, "tree", Protocol::simple), 4 * 23.6 / 2, 1e-9);
  EXPECT_NEAR(bandwidth(a100, "tree", Protocol::ll128), 4 * 20.0 / 2, 1e-9);
}

TEST(Tuner, TreeIsCorrectedBySize) {
  const ChannelPlan plan = plan_of({});
  const double full = bandwidth(plan, "tree", Protocol::simple);
  const auto at = [&](std::int64_t bytes) {
    return model_at({CollectiveKind::all_reduce, Bytes(bytes), &plan}, "tree", Protocol::simple)
               .bandwidth_gb_per_s /
           full;
  };
  EXPECT_DOUBLE_EQ(at(63), 1.0);                        // below the table
  EXPECT_NEAR(at(64), 0.9, 1e-12);                      // entry 0
  EXPECT_NEAR(at(127), 0.9, 1e-12);                     // still 0: floor of log2(bytes / 64)
  EXPECT_NEAR(at(64 << 11), 0.5, 1e-12);                // entry 11: 128 KiB
  EXPECT_NEAR(at(std::int64_t{64} << 23), 0.9, 1e-12);  // entry 23: 512 MiB, the last
  EXPECT_DOUBLE_EQ(at(std::int64_t{64} << 24), 1.0);    // above the table
  for (const auto& row : tables::kTreeCorrection)
    for (double factor : row) EXPECT_TRUE(factor >= 0.4 && factor <= 1.0);
}

TEST(Tuner, RingSimplePlateauAcrossNodes) {
  const ChannelPlan plan = plan_of({.nodes = 2});
  const auto at = [](const ChannelPlan& p, std::int64_t bytes) {
    return model_at({CollectiveKind::all_reduce, Bytes(bytes), &p}, "ring", Protocol::simple)
        .latency_us;
  };
  // 12 channels x 16 ranks x 64 B = 12288 B is where it starts.
  EXPECT_NEAR(at(plan, 12287), 131.6, 1e-9);
  EXPECT_NEAR(at(plan, 12288), 131.6 * 1.4, 1e-9);
  const ChannelPlan volta = plan_of({.nodes = 2, .compute_capability = 70});
  EXPECT_NEAR(at(volta, 12288), 131.6 * 1.9, 1e-9);
  const ChannelPlan one = plan_of({.nodes = 1});
  EXPECT_NEAR(at(one, 1 << 30), 56.0, 1e-9);  // one node: never
}

// Eight heads of 40 GB/s: 8 x 40 x 0.85 x 7/8 x 2 = 476 on the bus; nccl-tests shows 480 on DGX
// H100 with NVLink SHARP. Four of 60: 4 x 60 x 0.85 x 3/4 x 2 = 306, under the ring's 360: with
// four GPUs NCCL stays with the ring, as measured (363 GB/s on 4 H200).
// Rounds at distance 1, 2, 4 stay in a node of 8, the two at 8 and 16 cross, out and back again:
// 8.4 + 6 x 3.4 + 4 x 14. Bytes inside: 2 x 7/8 S a GPU over 12 x 30 GB/s; outside, which is less:
// 2 (1/8 - 1/32) S over 12 x 30 / 8 GB/s a NIC.
TEST(Tuner, RoundsOfSendsPayTheirHopsAndBytes) {
  const ChannelPlan plan = plan_of({.nodes = 4});
  EXPECT_NEAR(latency(plan, "halving_doubling", Protocol::simple), 84.8, 1e-9);
  EXPECT_NEAR(bandwidth(plan, "halving_doubling", Protocol::simple), 360 / 1.75, 1e-9);
  // Bruck: 5 rounds, some rank crosses in each; LL waits for one flag more: 6.6 + 6 x 2.7.
  EXPECT_NEAR(latency(plan, "bruck", Protocol::ll, CollectiveKind::all_to_all), 22.8, 1e-9);
  // nccl-tests launches every round of its hypercube: 5 x 8.4 + 3 x 3.4 + 2 x 14.
  EXPECT_NEAR(latency(plan, "hypercube", Protocol::simple, CollectiveKind::hypercube), 80.2, 1e-9);
}

TEST(Tuner, PatIsNcclsOwnOnlyWithOneGpuANode) {
  std::string reason;
  ChannelPlan thin = plan_of({.nodes = 16, .local = 1});
  const auto best =
      choose({CollectiveKind::all_gather, Bytes::kib(64), &thin}, {"pat", std::nullopt, 0}, reason);
  ASSERT_TRUE(best) << reason;
  EXPECT_TRUE(best->enabled);
  // 8 + 4 x 14/3.5 + 2.8 x 16
  EXPECT_NEAR(best->latency_us, 68.8, 1e-9);
  const ChannelPlan wide = plan_of({.nodes = 2});
  EXPECT_FALSE(choose({CollectiveKind::all_gather, Bytes::kib(64), &wide}, {"pat", std::nullopt, 0},
                      reason));
  EXPECT_NE(reason.find("needs one rank a node"), std::string::npos) << reason;
}

TEST(Tuner, NvlsWinsWithEightGpusAndLosesWithFour) {
  ChannelPlan eight = plan_of({});
  eight.nvls = true;
  eight.nvls_channels = 8;
  eight.nvls_bw_intra = 40;
  EXPECT_NEAR(bandwidth(eight, "nvls", Protocol::simple) * 14 / 8, 476, 1e-9);
  std::string reason;
  const TunerInput big{CollectiveKind::all_reduce, Bytes::mib(512), &eight};
  EXPECT_EQ(choose(big, {}, reason)->algorithm, "nvls");

  ChannelPlan four = plan_of({.local = 4});
  four.nvls = true;
  four.nvls_channels = 4;
  four.nvls_bw_intra = 60;
  EXPECT_NEAR(bandwidth(four, "nvls", Protocol::simple) * 6 / 4, 306, 1e-9);
  const TunerInput small_group{CollectiveKind::all_reduce, Bytes::mib(512), &four};
  EXPECT_EQ(choose(small_group, {}, reason)->algorithm, "ring");
}

TEST(Tuner, SmallMessagesGoByLl) {
  const ChannelPlan plan = plan_of({});
  std::string reason;
  const auto best = choose({CollectiveKind::all_reduce, Bytes(8), &plan}, {}, reason);
  EXPECT_EQ(best->algorithm, "ring");
  EXPECT_EQ(best->protocol, Protocol::ll);
  // 15.0 us + 8 B / (1000 x 141 x 8/14)
  EXPECT_NEAR(best->time_us, 15.0 + 8 / (1000 * 141 * 8.0 / 14), 1e-9);
}

TEST(Tuner, WhatCannotRunIsListedWithTheReason) {
  const ChannelPlan plan = plan_of({});
  for (const Candidate& each : candidates({CollectiveKind::all_reduce, Bytes(1024), &plan})) {
    EXPECT_EQ(each.enabled, each.why_not.empty()) << each.algorithm;
    if (each.algorithm == "nvls") {
      EXPECT_EQ(each.why_not, "needs NVSwitches and GPUs with multicast (NVLink SHARP)");
    }
    if (each.algorithm == "collnet_direct") {
      EXPECT_FALSE(each.enabled);
    }
  }
  std::string reason;
  EXPECT_FALSE(choose({CollectiveKind::all_reduce, Bytes(1024), &plan},
                      {.algorithm = "nvls", .protocol = {}, .channels = 0}, reason));
  EXPECT_EQ(reason, "nvls with Simple: needs NVSwitches and GPUs with multicast (NVLink SHARP)");
  EXPECT_FALSE(choose({CollectiveKind::all_gather, Bytes(1024), &plan},
                      {.algorithm = "tree", .protocol = {}, .channels = 0}, reason));
  EXPECT_EQ(reason, "all_gather has no tree");
}

TEST(Tuner, ForcingIsHonoured) {
  const ChannelPlan plan = plan_of({.nodes = 2});
  std::string reason;
  const TunerInput input{CollectiveKind::all_reduce, Bytes::mib(1), &plan};
  EXPECT_EQ(choose(input, {.algorithm = "tree", .protocol = Protocol::ll128, .channels = 0}, reason)
                ->algorithm,
            "tree");
  // Hierarchical is not NCCL's: never chosen, runs when named.
  EXPECT_EQ(choose(input, {.algorithm = "hierarchical", .protocol = {}, .channels = 0}, reason)
                ->algorithm,
            "hierarchical");
  // Half the channels: half the bandwidth.
  const Forced ring{.algorithm = "ring", .protocol = Protocol::simple, .channels = 0};
  Forced halved = ring;
  halved.channels = 6;
  EXPECT_NEAR(choose(input, halved, reason)->bandwidth_gb_per_s,
              choose(input, ring, reason)->bandwidth_gb_per_s / 2, 1e-9);
}

TEST(Tuner, SendsChooseTheProtocolByBytesToOnePeer) {
  const ChannelPlan plan = plan_of({});
  std::string reason;
  // 8 peers x 16 KiB = 128 KiB
  EXPECT_EQ(choose({CollectiveKind::all_to_all, Bytes::kib(128), &plan}, {}, reason)->protocol,
            Protocol::ll);
  EXPECT_EQ(choose({CollectiveKind::all_to_all, Bytes::kib(129), &plan}, {}, reason)->protocol,
            Protocol::simple);
}

TEST(Tuner, PcieServersHaveNoLl128) {
  ChannelPlan plan = plan_of({.compute_capability = 89, .channels = 2, .intra = 12, .inter = 12});
  plan.intra_link = IntraLink::pcie;
  plan.intra_type.kind = fabric::PathKind::pxb;
  for (const Candidate& each : candidates({CollectiveKind::all_reduce, Bytes::mib(1), &plan}))
    if (each.protocol == Protocol::ll128) {
      EXPECT_FALSE(each.enabled);
    }
  // PCIe hops: 8.4 + 14 x 5.7 = 88.2
  EXPECT_NEAR(latency(plan, "ring", Protocol::simple), 88.2, 1e-9);
}

}  // namespace
}  // namespace weft::collective
