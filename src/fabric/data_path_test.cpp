#include "fabric/data_path.h"

#include <gtest/gtest.h>

#include "fabric/test_paths.h"

namespace weft::fabric {
namespace {

using namespace testing;

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

}  // namespace
}  // namespace weft::fabric
