#include "fabric/data_path.h"

#include <gtest/gtest.h>

#include "fabric/test_servers.h"

namespace weft::fabric {
namespace {

using testing::cluster;
using testing::hgx;
using testing::shortest_route;
using testing::small_server;

DataPath find(const Fabric& f, std::string_view from, std::string_view to, Via via,
              const PathCosts& costs = {}, Mover mover = Mover::copy_engine) {
  PathQuery query;
  query.source = f.find(from).value();
  query.destination = f.find(to).value();
  query.via = via;
  query.mover = mover;
  PathAnswer answer = find_data_path(f, costs, shortest_route(f), query);
  EXPECT_TRUE(answer.path.has_value()) << answer.refusal;
  return answer.path ? *answer.path : DataPath();
}

std::string refusal(const Fabric& f, std::string_view from, std::string_view to, Via via,
                    const PathCosts& costs = {}) {
  PathQuery query;
  query.source = f.find(from).value();
  query.destination = f.find(to).value();
  query.via = via;
  const PathAnswer answer = find_data_path(f, costs, shortest_route(f), query);
  EXPECT_FALSE(answer.path.has_value());
  return answer.refusal;
}

PathCosts rocev2() {
  PathCosts costs;
  costs.network.name = "rocev2";
  costs.network.overhead = Bytes(82);
  costs.network.nic_pair = Duration::nanoseconds(800);
  return costs;
}

Duration part(const DataPath& path, std::string_view name) {
  Duration total;
  for (const LatencyPart& p : path.parts) {
    if (p.name == name) total += p.time;
  }
  return total;
}

bool crosses(const Fabric& f, const DataPath& path, std::string_view link_name) {
  for (const Leg& leg : path.legs) {
    for (const Hop& hop : leg.hops) {
      if (f.link_name(hop.link) == link_name) return true;
    }
  }
  return false;
}

// ---- Time of a pipeline

DataPath two_legs(double gb_per_s, Bytes chunk, int slots) {
  DataPath path;
  path.chunk = chunk;
  path.slots = slots;
  for (int i = 0; i < 2; ++i) {
    Leg leg;
    leg.cap = BitRate::from_gigabytes_per_second(gb_per_s);
    leg.overhead = Duration::microseconds(6);
    path.latency += leg.overhead;
    path.legs.push_back(leg);
  }
  return path;
}

TEST(DataPathTime, StagingIsAPipelineOfChunks) {
  // 64 MB, both legs 25 GB/s and 6 us a chunk. 1 MB chunks: t = 40 + 6 = 46 us each, 64 of them,
  // 46 + 46 + 63 x 46 = 2990 us.
  const Bytes size(64'000'000);
  EXPECT_EQ(two_legs(25, Bytes(1'000'000), 4).time(size), Duration::microseconds(2990));
  // 4 MB: t = 166 us, 16 of them: 17 x 166 = 2822 us. 256 kB: 251 x 16.24 = 4076.24 us.
  EXPECT_EQ(two_legs(25, Bytes(4'000'000), 4).time(size), Duration::microseconds(2822));
  EXPECT_EQ(two_legs(25, Bytes(256'000), 4).time(size), Duration::nanoseconds(4'076'240));
  // 64 kB: 1001 x 8.56 us = 8568.56 us.
  EXPECT_EQ(two_legs(25, Bytes(64'000), 4).time(size), Duration::nanoseconds(8'568'560));
}

TEST(DataPathTime, OneSlotCannotOverlap) {
  // 64 x (46 + 46) us.
  EXPECT_EQ(two_legs(25, Bytes(1'000'000), 1).time(Bytes(64'000'000)),
            Duration::microseconds(5888));
}

TEST(DataPathTime, ASmallerLastChunkIsCountedAsItIs) {
  const DataPath path = two_legs(25, Bytes(1'000'000), 4);
  // One chunk of 500 kB: 2 x (20 + 6) us.
  EXPECT_EQ(path.time(Bytes(500'000)), Duration::microseconds(52));
  // 1.5 MB: 46, then the second leg takes the first chunk until 92, then the half one: 92 + 26.
  EXPECT_EQ(path.time(Bytes(1'500'000)), Duration::microseconds(118));
  EXPECT_EQ(path.time(Bytes(0)), Duration::microseconds(12));
}

TEST(DataPathTime, LegsThatShareALinkShareItsRate) {
  DataPath path = two_legs(1000, Bytes(1'000'000), 4);
  for (Leg& leg : path.legs) {
    Hop hop;
    hop.link = LinkId(0);
    hop.raw = BitRate::from_gigabytes_per_second(20);
    hop.effective = hop.raw;
    leg.hops.push_back(hop);
    leg.overhead = {};
  }
  path.latency = {};
  // Each leg alone takes 50 us a chunk, but both cross the same link: 100 us a chunk, ten chunks.
  EXPECT_EQ(path.time(Bytes(10'000'000)), Duration::microseconds(1000));
}

// ---- Inside a server

TEST(DataPath, HostToDeviceMeetsTheMeasuredCopy) {
  // 55.4 GB/s on Gen5 x16; 26.0 on Gen4.
  const Fabric gen5 = hgx();
  const DataPath h2d = find(gen5, "cpu0", "gpu0", Via::p2p);
  EXPECT_NEAR(h2d.bandwidth.gb_per_s(), 55.4, 0.05 * 55.4);
  EXPECT_NEAR(find(gen5, "gpu0", "cpu0", Via::p2p).bandwidth.gb_per_s(), 55.1, 0.05 * 55.1);
  EXPECT_NEAR(find(hgx({.pcie_generation = 4}), "cpu0", "gpu0", Via::p2p).bandwidth.gb_per_s(),
              26.0, 0.05 * 26.0);
  EXPECT_EQ(h2d.legs.size(), 1u);
  EXPECT_EQ(h2d.copies, 0);
  EXPECT_EQ(h2d.dram_bytes_per_byte, 1);
  EXPECT_EQ(gen5.link_name(h2d.narrowest), "root0 -> plx0");
}

TEST(DataPath, AReadWaitsForItsRequest) {
  // Up gpu0 -> plx0 -> root0 -> cpu0 and down again: 25 + 105 + 25 + 200 ns each way, memory 100,
  // launch 6000.
  const DataPath h2d = find(hgx(), "cpu0", "gpu0", Via::p2p);
  EXPECT_EQ(part(h2d, "read request"), Duration::nanoseconds(355));
  EXPECT_EQ(h2d.latency, Duration::nanoseconds(6000 + 355 + 100 + 355));
  // A posted write goes one way only.
  EXPECT_EQ(find(hgx(), "gpu0", "cpu0", Via::p2p).latency, Duration::nanoseconds(6000 + 355 + 100));
}

TEST(DataPath, ReadRequestsLoadTheOtherDirection) {
  const DataPath h2d = find(hgx(), "cpu0", "gpu0", Via::p2p);
  // 24 B for each 512 B, on a link that loses 16/182 + 4/1538 to acknowledgements and credits.
  const double expected = 24.0 / 512 / (1 - 16.0 / 182 - 4.0 / 1538);
  EXPECT_NEAR(h2d.legs[0].hops.back().reverse_wire_per_byte, expected, 1e-9);
  EXPECT_EQ(find(hgx(), "gpu0", "cpu0", Via::p2p).legs[0].hops[0].reverse_wire_per_byte, 0);
}

TEST(DataPath, PeersUnderOneSwitchLeaveTheUplinkAlone) {
  const Fabric f = hgx();
  const DataPath p2p = find(f, "gpu0", "gpu1", Via::p2p);
  ASSERT_EQ(p2p.legs[0].hops.size(), 2u);
  EXPECT_FALSE(crosses(f, p2p, "plx0 -> root0"));
  EXPECT_EQ(p2p.dram_bytes_per_byte, 0);
  EXPECT_EQ(p2p.cpu_s_per_gb, 0);
  // 25 + 105 + 25 ns of PCIe, 6000 launch, 430 into GPU memory.
  EXPECT_EQ(p2p.latency, Duration::nanoseconds(6000 + 155 + 430));
}

TEST(DataPath, AcsRedirectSendsPeersUpAndDown) {
  const Fabric f = hgx({.acs = true});
  const DataPath p2p = find(f, "gpu0", "gpu1", Via::p2p);
  EXPECT_EQ(p2p.legs[0].hops.size(), 4u);
  EXPECT_TRUE(crosses(f, p2p, "plx0 -> root0"));
  EXPECT_TRUE(crosses(f, p2p, "root0 -> plx0"));
  // Translated addresses may turn at the switch.
  const Fabric ats = hgx({.acs = true, .ats = true});
  EXPECT_EQ(find(ats, "gpu0", "gpu1", Via::p2p).legs[0].hops.size(), 2u);
  // Host memory lies above the switch anyway.
  EXPECT_EQ(find(f, "gpu0", "cpu0", Via::p2p).legs[0].hops.size(), 3u);
}

TEST(DataPath, IntelHostBridgesSplitPeerPackets) {
  const double whole = find(hgx(), "gpu0", "gpu2", Via::p2p).bandwidth.gb_per_s();
  const double split = find(hgx({.intel = true}), "gpu0", "gpu2", Via::p2p).bandwidth.gb_per_s();
  EXPECT_NEAR(split, whole * 5 / 6, 1e-3);
  // Under one switch no host bridge is met.
  EXPECT_NEAR(find(hgx({.intel = true}), "gpu0", "gpu1", Via::p2p).bandwidth.gb_per_s(), whole,
              1e-6);
  // Copies to host memory are no peer traffic.
  EXPECT_NEAR(find(hgx({.intel = true}), "gpu0", "cpu0", Via::p2p).bandwidth.gb_per_s(), whole,
              1e-6);
}

TEST(DataPath, PeersAcrossSocketsGetThePeerRate) {
  const Fabric f = hgx();
  const DataPath p2p = find(f, "gpu0", "gpu4", Via::p2p);
  EXPECT_NEAR(p2p.bandwidth.gb_per_s(), 22, 1e-6);
  EXPECT_EQ(f.link_name(p2p.narrowest), "cpu0 -> cpu1");
  // Reading memory of the other socket gets the link itself, 96 GB/s here: PCIe stays the
  // narrowest.
  EXPECT_GT(find(f, "cpu1", "gpu0", Via::p2p).bandwidth.gb_per_s(), 50);
  // It costs one more crossing each way, 100 ns, and the host bridge is passed either way.
  EXPECT_EQ(find(f, "cpu1", "gpu0", Via::p2p).latency - find(f, "cpu0", "gpu0", Via::p2p).latency,
            Duration::nanoseconds(200));
}

TEST(DataPath, StagingCopiesTwiceThroughMemory) {
  const Fabric f = hgx({.nvlink_generation = 0});
  const DataPath staged = find(f, "gpu0", "gpu1", Via::staged);
  ASSERT_EQ(staged.legs.size(), 2u);
  EXPECT_EQ(staged.dram_bytes_per_byte, 2);
  EXPECT_EQ(staged.copies, 0);
  EXPECT_EQ(staged.chunk, Bytes::mib(1));
  // The slower leg writes at 54.75 GB/s: 1 MiB takes 19.15 us + 6 us, so 41.7 GB/s in all.
  EXPECT_NEAR(staged.bandwidth.gb_per_s(), 41.7, 0.1);
  // A core launches two copies of 6 us for each MiB.
  EXPECT_NEAR(staged.cpu_s_per_gb, 2 * 6e-6 * 1e9 / 1048576, 1e-9);
  // Measured with P2P off: 37.4 GB/s on an HGX H100, 22.2 on RTX 6000 Ada with Gen4.
  const DataPath gen4 =
      find(hgx({.pcie_generation = 4, .nvlink_generation = 0}), "gpu0", "gpu1", Via::staged);
  EXPECT_NEAR(gen4.bandwidth.gb_per_s(), 22.2, 0.05 * 22.2);
  EXPECT_NEAR(staged.bandwidth.gb_per_s(), 37.4, 0.15 * 37.4);
}

TEST(DataPath, PageableMemoryIsCopiedByACore) {
  const Fabric f = hgx();
  const DataPath pageable = find(f, "cpu0", "gpu0", Via::staged);
  EXPECT_NEAR(pageable.bandwidth.gb_per_s(), 8, 1e-6);
  EXPECT_EQ(pageable.copies, 1);
  EXPECT_EQ(pageable.dram_bytes_per_byte, 3);  // copy 1 + 1, DMA 1
  EXPECT_FALSE(pageable.narrowest.valid());
  EXPECT_EQ(pageable.limit, "one core's memory copy");
  EXPECT_NEAR(pageable.cpu_s_per_gb, 1.0 / 8 + 6e-6 * 1e9 / 1048576, 1e-9);
}

TEST(DataPath, NvlinkIsSpreadOverEverySwitch) {
  const Fabric f = hgx();
  const DataPath path = find(f, "gpu0", "gpu7", Via::nvlink);
  ASSERT_EQ(path.legs[0].hops.size(), 8u);  // four chains of two links
  // 18 x 25 GB/s of payload, of which copy engines reach 88 %: 396 (measured 397 on H100).
  EXPECT_NEAR(path.bandwidth.gb_per_s(), 396, 0.5);
  // NCCL's SMs reach 18 x 20.6 = 370.8.
  EXPECT_NEAR(find(f, "gpu0", "gpu7", Via::nvlink, {}, Mover::sm).bandwidth.gb_per_s(), 370.8, 0.5);
  // The chains run at once: the latency is that of one, 25 + 150 + 25.
  EXPECT_EQ(path.latency, Duration::nanoseconds(6000 + 200 + 430));
}

TEST(DataPath, NvlinkLoadLatencyMatchesMeasuredLoads) {
  // A load goes there and back: 2 x (25 + 150 + 25) + 430 = 830 ns; nvbandwidth measured 826.6.
  const DataPath store = find(hgx(), "gpu0", "gpu1", Via::nvlink, {}, Mover::sm);
  const Duration way = store.latency - part(store, "GPU memory write");
  EXPECT_NEAR((way + store.latency).to_nanoseconds(), 826.6, 0.02 * 826.6);
}

TEST(DataPath, AutomaticTakesTheFastest) {
  EXPECT_EQ(find(hgx(), "gpu0", "gpu1", Via::automatic).via, Via::nvlink);
  EXPECT_EQ(find(hgx({.nvlink_generation = 0}), "gpu0", "gpu1", Via::automatic).via, Via::p2p);
  EXPECT_EQ(
      find(hgx({.peer_to_peer = false, .nvlink_generation = 0}), "gpu0", "gpu1", Via::automatic)
          .via,
      Via::staged);
  EXPECT_EQ(find(hgx(), "cpu0", "gpu0", Via::automatic).via, Via::p2p);
}

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
