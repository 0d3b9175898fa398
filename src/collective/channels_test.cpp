#include "collective/channels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "collective/test_fabrics.h"

namespace weft::collective {
namespace {

using namespace test_fabrics;

ChannelPlan plan_one(const ServerSpec& spec) {
  const Fabric fabric = server(spec);
  return plan_channels(fabric, all_gpus(fabric));
}
ChannelPlan plan_many(const ServerSpec& spec, int count) {
  const Fabric fabric = cluster(spec, count);
  return plan_channels(fabric, all_gpus(fabric));
}
bool noted(const ChannelPlan& plan, std::string_view words) {
  return std::any_of(plan.notes.begin(), plan.notes.end(), [&](const std::string& note) {
    return note.find(words) != std::string::npos;
  });
}

// 12 NVLinks x 20 GB/s = 240. First rung that fits: 40, six times; wide rings are used twice.
TEST(Channels, A100OnNvswitch) {
  const ChannelPlan plan = plan_one(a100());
  EXPECT_EQ(plan.channels.size(), 12u);
  EXPECT_DOUBLE_EQ(plan.ring_bw_intra, 20);
  EXPECT_EQ(plan.intra_link, IntraLink::nvlink);
  EXPECT_FALSE(plan.nvls);
  EXPECT_TRUE(noted(plan, "6 channels of 40 GB/s, GPUs by NVL"));
}

// 18 x 20.6 = 370.8: six rings of 60, used twice: 12 x 30. NVLS: 9 x 40 = 360 fits, 9 x 50 not.
TEST(Channels, H100OnNvswitch) {
  const ChannelPlan plan = plan_one(h100());
  EXPECT_EQ(plan.channels.size(), 12u);
  EXPECT_DOUBLE_EQ(plan.ring_bw_intra, 30);
  EXPECT_TRUE(plan.nvls);
  EXPECT_EQ(plan.nvls_channels, 8);
  EXPECT_DOUBLE_EQ(plan.nvls_bw_intra, 40);
}

// 18 x 40.1 = 721.8: eight rings of 90, used twice. NVLS: 9 x 80 = 720.
TEST(Channels, B200OnNvswitch) {
  const ChannelPlan plan = plan_one(b200());
  EXPECT_DOUBLE_EQ(static_cast<double>(plan.channels.size()) * plan.ring_bw_intra, 720);
  EXPECT_DOUBLE_EQ(plan.nvls_bw_intra, 80);
}

// Hybrid cube mesh: 6 NVLinks of 20 GB/s a GPU, so six rings that share no link.
TEST(Channels, Dgx1VoltaCubeMesh) {
  const ServerSpec spec = dgx1v();
  const ChannelPlan plan = plan_one(spec);
  ASSERT_EQ(plan.channels.size(), 6u);
  EXPECT_DOUBLE_EQ(plan.ring_bw_intra, 20);
  std::map<std::pair<std::uint32_t, std::uint32_t>, int> left;
  for (const auto& [a, b, links] : spec.mesh) {
    const auto x = static_cast<std::uint32_t>(a), y = static_cast<std::uint32_t>(b);
    left[{x, y}] = left[{y, x}] = links;
  }
  for (const Channel& channel : plan.channels) {
    const auto& order = channel.local_order;
    EXPECT_EQ(std::set<std::uint32_t>(order.begin(), order.end()).size(), 8u);
    for (std::size_t i = 0; i < 8; ++i) --left[{order[i], order[(i + 1) % 8]}];
  }
  for (const auto& [pair, links] : left)
    EXPECT_EQ(links, 0) << pair.first << "-" << pair.second;  // every link used, none twice
}

// Four GPUs, 4 x 20 GB/s between any two: 12 directed pairs x 80 carry six rings (of 4 hops) x 40.
TEST(Channels, FourA100WithFourLinksEach) {
  const ChannelPlan plan = plan_one(a100_nv4());
  EXPECT_DOUBLE_EQ(static_cast<double>(plan.channels.size()) * plan.ring_bw_intra, 240);
}

// Eight GPUs, one xGMI link of 48 GB/s between any two: seven rings that share no link direction.
TEST(Channels, Mi300xFullMesh) {
  const ChannelPlan plan = plan_one(mi300x());
  ASSERT_EQ(plan.channels.size(), 7u);
  EXPECT_DOUBLE_EQ(plan.ring_bw_intra, 48);
  std::set<std::pair<std::uint32_t, std::uint32_t>> hops;
  for (const Channel& channel : plan.channels)
    for (std::size_t i = 0; i < 8; ++i)
      EXPECT_TRUE(hops.insert({channel.local_order[i], channel.local_order[(i + 1) % 8]}).second);
  EXPECT_EQ(hops.size(), 56u);
}

// PCIe gen 4 x16 = 24 GB/s. Two GPUs under one switch: rung 12 twice. Over the sockets: 22 GB/s of
// peer traffic, of which the rung 20 fits once.
TEST(Channels, PcieServersShareTheirLinks) {
  const ChannelPlan two = plan_one(pcie_only(2));
  EXPECT_EQ(two.intra_type.kind, fabric::PathKind::pix);
  EXPECT_DOUBLE_EQ(static_cast<double>(two.channels.size()) * two.ring_bw_intra, 24);
  const ChannelPlan eight = plan_one(pcie_only(8));
  EXPECT_EQ(eight.intra_link, IntraLink::pcie);
  EXPECT_EQ(eight.intra_type.kind, fabric::PathKind::sys);
  EXPECT_DOUBLE_EQ(static_cast<double>(eight.channels.size()) * eight.ring_bw_intra, 20);
  // The ring crosses each socket boundary once: four GPUs of one socket, then four of the other.
  const auto& order = eight.channels.front().local_order;
  int crossings = 0;
  for (std::size_t i = 0; i < 8; ++i) crossings += (order[i] < 4) != (order[(i + 1) % 8] < 4);
  EXPECT_EQ(crossings, 2);
}

// Without peer-to-peer all traffic goes through host memory, and a switch's uplink (24 GB/s)
// carries both of its GPUs: 12 GB/s a ring.
TEST(Channels, WithoutPeerToPeerTheUplinksAreShared) {
  ServerSpec spec = pcie_only(8);
  spec.peer_to_peer = false;
  const ChannelPlan plan = plan_one(spec);
  EXPECT_DOUBLE_EQ(static_cast<double>(plan.channels.size()) * plan.ring_bw_intra, 12);
}

// p4d: four EFA of 12.5 GB/s behind PCIe that is declared gen 3 (12 GB/s): four channels of 12,
// each entering at one GPU of a NIC's pair and leaving by the other.
TEST(Channels, TwoP4dNodes) {
  const Fabric fabric = cluster(p4d(), 2);
  const ChannelPlan plan = plan_channels(fabric, all_gpus(fabric));
  ASSERT_EQ(plan.channels.size(), 4u);
  EXPECT_DOUBLE_EQ(plan.ring_bw_inter, 12);
  EXPECT_DOUBLE_EQ(plan.tree_bw_intra, 24);  // up to twice the network's
  EXPECT_FALSE(plan.pxn);
  EXPECT_FALSE(plan.cross_nic);
  EXPECT_DOUBLE_EQ(plan.nic_latency_us, 75);
  std::set<std::uint32_t> nics;
  for (const Channel& channel : plan.channels) {
    EXPECT_EQ(channel.nic_of(0, false), channel.nic_of(0, true));
    nics.insert(fabric.info(channel.nic_of(0, false)).local_index);
    EXPECT_EQ(channel.local_order.front() / 2, channel.local_order.back() / 2);
    EXPECT_EQ(fabric.info(channel.nic_of(0, false)).local_index, channel.local_order.front() / 2);
  }
  EXPECT_EQ(nics.size(), 4u);
}

// NDv4: eight HDR NICs of 25 GB/s, PCIe gen 4 x16: eight channels of 24, one a NIC, and each GPU's
// nearest NIC its own.
TEST(Channels, TwoA100NodesWithEightHdr) {
  const Fabric fabric = cluster(a100(), 2);
  const ChannelPlan plan = plan_channels(fabric, all_gpus(fabric));
  ASSERT_EQ(plan.channels.size(), 8u);
  EXPECT_DOUBLE_EQ(plan.ring_bw_inter, 24);
  EXPECT_EQ(plan.inter_type.kind, fabric::PathKind::pix);
  for (std::size_t rank = 0; rank < 16; ++rank)
    EXPECT_EQ(fabric.info(plan.rank_nic[rank]).local_index, rank % 8);
}

// 8 x 48 = 384 GB/s of network. With PXN every GPU would pass all of it on, above NVLink's 370.8;
// by leaving through another NIC each GPU passes on 7/8 of it, 336.
TEST(Channels, TwoH100NodesLeaveByAnotherNic) {
  const ChannelPlan plan = plan_many(h100(), 2);
  EXPECT_TRUE(plan.cross_nic);
  EXPECT_FALSE(plan.pxn);
  EXPECT_DOUBLE_EQ(static_cast<double>(plan.channels.size()) * plan.ring_bw_inter, 384);
  for (const Channel& channel : plan.channels) {
    EXPECT_NE(channel.nic_of(0, false), channel.nic_of(0, true));
    // Odd nodes run backwards, so hops between nodes stay on a rail.
    EXPECT_EQ(channel.local_at(1, 0), channel.local_order.back());
  }
}

TEST(Channels, B200NodesUsePxn) {
  const ChannelPlan plan = plan_many(b200(), 4);
  EXPECT_TRUE(plan.pxn);
  EXPECT_DOUBLE_EQ(static_cast<double>(plan.channels.size()) * plan.ring_bw_inter, 384);
  EXPECT_DOUBLE_EQ(plan.nvls_bw_inter, 48);
}

TEST(Channels, OneGpuANodeGoesByItsNic) {
  const Fabric fabric = cluster(h100(), 2);
  const ChannelPlan plan = plan_channels(fabric, some_gpus(fabric, 1));
  EXPECT_EQ(plan.nodes, 2);
  EXPECT_FALSE(plan.nvls);
  EXPECT_DOUBLE_EQ(static_cast<double>(plan.channels.size()) * plan.ring_bw_inter, 48);
}

// AWS p5: 32 EFA of 100 Gb/s, four behind each GPU's switch. Each GPU uses its own four.
TEST(Channels, SeveralNicsAGpu) {
  ServerSpec spec = h100();
  spec.nics_per_switch = 4;
  spec.nic_gbps = 100;
  const Fabric fabric = cluster(spec, 2);
  const ChannelPlan plan = plan_channels(fabric, all_gpus(fabric));
  ASSERT_EQ(plan.nics_per_rank, 4);
  for (std::size_t i = 0; i < plan.rank_nic.size(); ++i)
    EXPECT_EQ(fabric.info(plan.rank_nic[i]).local_index / 4, i / 4 % 8);
  EXPECT_DOUBLE_EQ(plan.nvls_bw_inter, 48);  // 4 x 12.5 = 50
}

// A Broadcom switch in synthetic mode shows GPUs and NICs on switches below its upstream one. NCCL
// flattens it: two GPUs and two NICs, 2 x 24 GB/s; unflattened they would share one x16, 24.
TEST(Channels, BroadcomSwitchOfSwitchesIsOne) {
  for (Vendor vendor : {Vendor::broadcom, Vendor::unknown}) {
    FabricBuilder builder;
    ServerSpec spec = a100();
    const ServerParts parts = server_parts(builder, spec);
    DeviceClass plx;
    plx.kind = DeviceKind::pcie_switch;
    plx.vendor = vendor;
    const DeviceClassId plx_class = builder.device_class(plx);
    builder.begin_server();
    const DeviceId cpu = builder.add_device(parts.cpu, {.name = "cpu0"});
    const DeviceId top = builder.add_device(plx_class, {.name = "plx0"});
    const DeviceId low = builder.add_device(plx_class, {.name = "plx1"});
    builder.add_link({cpu, top}, parts.pcie);
    builder.add_link({top, low}, parts.pcie);
    std::vector<DeviceId> gpus;
    for (int i = 0; i < 2; ++i) {
      gpus.push_back(builder.add_device(parts.gpu, {.name = fmt::format("gpu{}", i)}));
      builder.add_link({low, gpus.back()}, parts.pcie);
      builder.add_link({top, builder.add_device(parts.nic, {.name = fmt::format("nic{}", i)})},
                       parts.pcie);
    }
    add_gpu_links(builder, spec, parts, gpus);
    builder.end_server();
    const Fabric one = std::move(builder).build();
    FabricBuilder two;
    two.append_server(one, "node0");
    two.append_server(one, "node1");
    const Fabric fabric = std::move(two).build();
    const ChannelPlan plan = plan_channels(fabric, all_gpus(fabric));
    EXPECT_DOUBLE_EQ(static_cast<double>(plan.channels.size()) * plan.ring_bw_inter,
                     vendor == Vendor::broadcom ? 48 : 24);
  }
}

TEST(Channels, UnequalNodesAreRefused) {
  const Fabric fabric = cluster(h100(), 2);
  Group group = all_gpus(fabric);
  group.gpus.pop_back();
  const ChannelPlan plan = plan_channels(fabric, group);
  EXPECT_TRUE(plan.channels.empty());
  EXPECT_TRUE(noted(plan,
                    "nodes of unequal size are not modelled: one has 7 GPUs of the group, "
                    "another 8"));
}

TEST(Channels, NodesWithoutNicsAreRefused) {
  ServerSpec spec = a100();
  spec.nics_per_switch = 0;
  const Fabric one = server(spec);
  FabricBuilder builder;
  builder.append_server(one, "node0");
  builder.append_server(one, "node1");
  const Fabric fabric = std::move(builder).build();
  const ChannelPlan plan = plan_channels(fabric, all_gpus(fabric));
  EXPECT_TRUE(plan.channels.empty());
  EXPECT_TRUE(noted(plan, "has no NIC"));
}

// NVSwitches outside the servers join them into one node, as NCCL's multi-node NVLink does.
TEST(Channels, OneNvlinkDomainOverTwoServersIsOneNode) {
  ServerSpec spec = b200();
  spec.nvswitch_links = 0;
  spec.gpus = 4;
  const Fabric one = server(spec);
  FabricBuilder builder;
  const DeviceId first = builder.append_server(one, "tray0");
  const DeviceId second = builder.append_server(one, "tray1");
  DeviceClass nvswitch;
  nvswitch.kind = DeviceKind::nvswitch;
  nvswitch.multicast = true;
  const DeviceId plane = builder.add_device(builder.device_class(nvswitch), {.name = "nvswitch"});
  const LinkClassId link = builder.link_class(nvlink(LinkKind::nvlink, 5, 18));
  for (DeviceId base : {first, second})
    for (DeviceId gpu : one.of_kind(DeviceKind::gpu))
      builder.add_link({DeviceId(base.index() + gpu.index()), plane}, link);
  const Fabric fabric = std::move(builder).build();
  const ChannelPlan plan = plan_channels(fabric, all_gpus(fabric));
  EXPECT_EQ(plan.nodes, 1);
  EXPECT_EQ(plan.ranks_per_node, 8);
  EXPECT_DOUBLE_EQ(static_cast<double>(plan.channels.size()) * plan.ring_bw_intra, 720);
  EXPECT_TRUE(plan.nvls);
}

TEST(Channels, OptionsAreHonoured) {
  const Fabric fabric = server(h100());
  const ChannelPlan plan =
      plan_channels(fabric, all_gpus(fabric), {.force_channels = 4, .use_nvls = false});
  EXPECT_EQ(plan.channels.size(), 4u);
  EXPECT_FALSE(plan.nvls);
  EXPECT_TRUE(plan_channels(fabric, {{fabric.of_kind(DeviceKind::gpu)[0]}}).channels.empty());
}

TEST(Channels, LinkFiguresAreNccls) {
  EXPECT_DOUBLE_EQ(nccl_link_gb_per_s(nvlink(LinkKind::nvlink, 4, 18), 90), 370.8);
  EXPECT_DOUBLE_EQ(nccl_link_gb_per_s(nvlink(LinkKind::nvlink, 5, 18), 100), 721.8);
  EXPECT_DOUBLE_EQ(nccl_link_gb_per_s(nvlink(LinkKind::nvlink, 3, 4), 86), 48);
  EXPECT_DOUBLE_EQ(nccl_link_gb_per_s(pcie(3), 0), 12);  // 16 x 60 / 80
  EXPECT_DOUBLE_EQ(nccl_link_gb_per_s(pcie(4), 0), 24);
  EXPECT_DOUBLE_EQ(nccl_link_gb_per_s(pcie(5), 0), 48);
}

}  // namespace
}  // namespace weft::collective
