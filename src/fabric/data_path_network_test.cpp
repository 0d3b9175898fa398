#include "fabric/data_path.h"

#include <gtest/gtest.h>

#include "fabric/test_paths.h"

namespace weft::fabric {
namespace {

using namespace testing;

TEST(DataPath, RefusalsSayWhy) {
  const Fabric f = hgx({.peer_to_peer = false, .nvlink_generation = 0});
  EXPECT_EQ(refusal(f, "gpu0", "gpu1", Via::p2p),
            "the driver does not allow GPU peer-to-peer on h100-sxm5-80gb (gpu0)");
  EXPECT_EQ(refusal(f, "gpu0", "gpu1", Via::nvlink),
            "no NVLink joins gpu0 and gpu1 (a GPU between them does not forward)");
  EXPECT_EQ(refusal(f, "gpu0", "nic0", Via::p2p),
            "nic0 is a nic: a data path leads from a gpu or cpu to a gpu or cpu");
  EXPECT_EQ(refusal(f, "gpu0", "gpu0", Via::automatic), "gpu0 is both ends");
  EXPECT_EQ(refusal(f, "gpu0", "gpu1", Via::gdr), "both ends are in one server");
  EXPECT_EQ(refusal(f, "gpu0", "gpu1", Via::rdma),
            "gpu0 is a GPU: use gdr, or staged through host memory");
  const auto c = cluster(hgx({.gpu_direct_rdma = false}), LinkKind::infiniband, true);
  EXPECT_EQ(refusal(c.fabric, "a/gpu0", "c/gpu0", Via::gdr),
            "h100-sxm5-80gb (a/gpu0) does not allow GPUDirect RDMA");
  PathCosts v1 = rocev2();
  v1.network.name = "rocev1";
  v1.network.routable = false;
  const auto two = cluster(hgx(), LinkKind::ethernet, false);
  EXPECT_EQ(refusal(two.fabric, "a/gpu0", "c/gpu0", Via::gdr, v1),
            "rocev1 has no IP header and cannot be routed: leaf0 -> spine0 leaves its subnet");
  EXPECT_GT(find(cluster(hgx(), LinkKind::ethernet, true).fabric, "a/gpu0", "c/gpu0", Via::gdr, v1)
                .bandwidth.gbps(),
            300);
}

// ---- Across servers

TEST(DataPath, InfinibandGoodput) {
  const auto c = cluster(hgx(), LinkKind::infiniband, true);
  const DataPath path = find(c.fabric, "a/gpu0", "c/gpu0", Via::gdr);
  // 400 Gb/s x 4096/(4096 + 26) = 397.48 Gb/s.
  EXPECT_NEAR(path.bandwidth.gbps(), 397.48, 0.01);
  // 1 GiB in 262,144 packets of 4122 B: 1,080,557,568 B at 50 GB/s = 21.611 ms.
  const Duration wire = path.time(Bytes::gib(1)) - path.latency;
  EXPECT_NEAR(wire.to_seconds() * 1e3, 21.611, 0.021);
  EXPECT_EQ(c.fabric.name(c.fabric.from(path.narrowest)), "a/nic0");
}

TEST(DataPath, RocevTwoGoodput) {
  const auto c = cluster(hgx(), LinkKind::ethernet, true);
  PathCosts costs = rocev2();
  // 4096/(4096 + 82) and 1024/(1024 + 82) of 400 Gb/s.
  EXPECT_NEAR(find(c.fabric, "a/gpu0", "c/gpu0", Via::gdr, costs).bandwidth.gbps(), 392.15, 0.02);
  costs.network.mtu = Bytes(1024);
  EXPECT_NEAR(find(c.fabric, "a/gpu0", "c/gpu0", Via::gdr, costs).bandwidth.gbps(), 370.34, 0.02);
}

// Small messages end to end on a cluster of H800 with 400 Gb/s NICs: InfiniBand 2.8 us under one
// leaf and 3.7 us across leaves, RoCE 3.6 and 5.6 us (DeepSeek-V3, ISCA 2025, table 5).
TEST(DataPath, EndToEndLatencyIsWithinFifteenPercentOfMeasured) {
  struct Row {
    LinkKind kind;
    bool one_leaf;
    double measured_us;
  };
  for (const Row& row :
       {Row{LinkKind::infiniband, true, 2.8}, Row{LinkKind::infiniband, false, 3.7},
        Row{LinkKind::ethernet, true, 3.6}, Row{LinkKind::ethernet, false, 5.6}}) {
    const PathCosts costs = row.kind == LinkKind::infiniband ? PathCosts() : rocev2();
    const double tolerance = 0.15 * row.measured_us;
    for (const Fabric& server : {hgx(), small_server()}) {
      const auto c = cluster(server, row.kind, row.one_leaf);
      EXPECT_NEAR(find(c.fabric, "a/cpu0", "c/cpu0", Via::rdma, costs).latency.to_microseconds(),
                  row.measured_us, tolerance);
      EXPECT_NEAR(find(c.fabric, "a/gpu0", "c/gpu0", Via::gdr, costs).latency.to_microseconds(),
                  row.measured_us, tolerance);
    }
  }
}

TEST(DataPath, RdmaLatencyIsASumOfNamedParts) {
  const auto c = cluster(small_server(), LinkKind::infiniband, true);
  const DataPath path = find(c.fabric, "a/cpu0", "c/cpu0", Via::rdma);
  // PCIe one way: 25 ns of link, 200 of host bridge.
  EXPECT_EQ(part(path, "doorbell over PCIe"), Duration::nanoseconds(225));
  EXPECT_EQ(part(path, "read request"), Duration::nanoseconds(225));
  EXPECT_EQ(part(path, "leaf0 switching"), Duration::nanoseconds(130));
  // Two cables of 5 m: 2 x (130 + 24.5); so NIC to NIC 600 + 130 + 309 = 1039 ns, below 2 us.
  const Duration nic_to_nic = part(path, "NICs") + part(path, "leaf0 switching") +
                              part(path, "a/nic0 -> leaf0") + part(path, "leaf0 -> c/nic0");
  EXPECT_EQ(nic_to_nic, Duration::nanoseconds(1039));
  EXPECT_LT(nic_to_nic, Duration::microseconds(2));
  // post 40, doorbell 40 + 225, fetch 350, read 225 + 100 + 225, NIC to NIC 1039, write 225 + 100,
  // completion 20.
  EXPECT_EQ(path.latency, Duration::nanoseconds(40 + 265 + 350 + 550 + 1039 + 325 + 20));
  EXPECT_EQ(path.copies, 0);
  EXPECT_EQ(path.cpu_s_per_gb, 0);
  EXPECT_EQ(path.dram_bytes_per_byte, 2);
}

TEST(DataPath, RocevTwoOverThreeSwitchesTakesAboutFiveMicroseconds) {
  const auto c = cluster(small_server(), LinkKind::ethernet, false);
  const DataPath path = find(c.fabric, "a/gpu0", "c/gpu0", Via::gdr, rocev2());
  EXPECT_NEAR(path.latency.to_microseconds(), 5, 0.75);
  // An extra switch costs 600 + 150 + 30 x 4.9 = 897 ns.
  const auto one = cluster(small_server(), LinkKind::ethernet, true);
  const DataPath near = find(one.fabric, "a/gpu0", "c/gpu0", Via::gdr, rocev2());
  EXPECT_EQ(path.latency - near.latency, Duration::nanoseconds(2 * 897));
}

TEST(DataPath, EachGpuLeavesByItsOwnNic) {
  const auto c = cluster(hgx(), LinkKind::infiniband, true);
  for (int i = 0; i < 8; ++i) {
    const DataPath path =
        find(c.fabric, fmt::format("a/gpu{}", i), fmt::format("c/gpu{}", i), Via::automatic);
    EXPECT_EQ(path.via, Via::gdr);
    EXPECT_TRUE(crosses(c.fabric, path, fmt::format("a/nic{} -> leaf0", i)));
    EXPECT_TRUE(crosses(c.fabric, path, fmt::format("leaf0 -> c/nic{}", i)));
    EXPECT_EQ(path.dram_bytes_per_byte, 0);
  }
}

TEST(DataPath, APinnedNicAcrossSocketsCostsRateAndTime) {
  const auto c = cluster(hgx(), LinkKind::infiniband, true);
  PathQuery query;
  query.source = c.at("a/gpu0");
  query.destination = c.at("c/gpu0");
  query.via = Via::gdr;
  query.source_nic = c.at("a/nic7");
  const auto far = find_data_path(c.fabric, {}, shortest_route(c.fabric), query).path.value();
  EXPECT_NEAR(far.bandwidth.gb_per_s(), 22, 1e-6);
  EXPECT_GT(far.latency, find(c.fabric, "a/gpu0", "c/gpu0", Via::gdr).latency);
  query.source_nic = c.at("c/nic0");
  EXPECT_EQ(find_data_path(c.fabric, {}, shortest_route(c.fabric), query).refusal,
            "c/nic0 is not in the server of a/gpu0");
}

TEST(DataPath, StagedAcrossServersIsThreeLegs) {
  const auto c = cluster(hgx(), LinkKind::infiniband, true);
  const DataPath path = find(c.fabric, "a/gpu0", "c/gpu0", Via::staged);
  ASSERT_EQ(path.legs.size(), 3u);
  EXPECT_EQ(path.dram_bytes_per_byte, 4);
  const DataPath direct = find(c.fabric, "a/gpu0", "c/gpu0", Via::gdr);
  EXPECT_LT(path.bandwidth, direct.bandwidth);
  EXPECT_GT(path.latency, direct.latency + 2 * PathCosts().copy_launch);
}

// ---- Kernel TCP

TEST(DataPath, OneCoreMovesFortyTwoGigabitsThroughASocket) {
  const auto c = cluster(hgx(), LinkKind::ethernet, true);
  const DataPath path = find(c.fabric, "a/cpu0", "c/cpu0", Via::tcp);
  // Receiving 64,000 B: copy 6400, TCP/IP 500, 8 frames x 100, wake-up 2000, call 200 = 9900 ns on
  // the 81.25 % of the core that interrupts leave (1.5 of every 8 us): 12.18 us, so 42.0 Gb/s.
  EXPECT_NEAR(path.bandwidth.gbps(), 42.0, 0.1);
  EXPECT_FALSE(path.narrowest.valid());
  EXPECT_EQ(path.copies, 2);
  EXPECT_EQ(path.dram_bytes_per_byte, 6);
  // Sending takes 200 + 6400 + 500 = 7100 ns: (7100 + 12185) / 64,000 B = 0.301 s for each GB.
  EXPECT_NEAR(path.cpu_s_per_gb, 0.3013, 1e-3);
}

TEST(DataPath, KernelTcpTakesTensOfMicroseconds) {
  const auto c = cluster(hgx(), LinkKind::ethernet, true);
  const DataPath path = find(c.fabric, "a/cpu0", "c/cpu0", Via::tcp, rocev2());
  EXPECT_GT(path.latency, Duration::microseconds(10));
  EXPECT_LT(path.latency, Duration::microseconds(30));
  EXPECT_EQ(part(path, "interrupt coalescing"), Duration::microseconds(8));
  const DataPath gpus = find(c.fabric, "a/gpu0", "c/gpu0", Via::tcp, rocev2());
  EXPECT_EQ(gpus.legs.size(), 5u);
  EXPECT_EQ(gpus.dram_bytes_per_byte, 8);
  EXPECT_GT(gpus.latency, path.latency + 2 * PathCosts().copy_launch);
}

TEST(DataPath, AStackWithoutRdmaHasOnlySockets) {
  const auto c = cluster(hgx(), LinkKind::ethernet, true);
  PathCosts tcp;
  tcp.network.name = "tcp";
  tcp.network.rdma = false;
  EXPECT_EQ(refusal(c.fabric, "a/gpu0", "c/gpu0", Via::gdr, tcp), "tcp has no RDMA");
  EXPECT_EQ(find(c.fabric, "a/gpu0", "c/gpu0", Via::automatic, tcp).via, Via::tcp);
}

TEST(DataPath, EveryWayIsAnsweredInOrder) {
  const auto c = cluster(hgx(), LinkKind::infiniband, true);
  PathQuery query;
  query.source = c.at("a/gpu0");
  query.destination = c.at("c/gpu3");
  const auto answers = find_all_data_paths(c.fabric, {}, shortest_route(c.fabric), query);
  ASSERT_EQ(answers.size(), via_names().size() - 1);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    EXPECT_EQ(to_text(answers[i].first), via_names()[i + 1]);
    EXPECT_EQ(parse_via(via_names()[i + 1]), answers[i].first);
    EXPECT_NE(answers[i].second.path.has_value(), !answers[i].second.refusal.empty());
  }
  EXPECT_EQ(parse_via("automatic"), Via::automatic);
  EXPECT_FALSE(parse_via("pigeon").has_value());
}

}  // namespace
}  // namespace weft::fabric
