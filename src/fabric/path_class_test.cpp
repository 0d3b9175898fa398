#include "fabric/path_class.h"

#include <gtest/gtest.h>

#include "fabric/test_servers.h"

namespace weft::fabric {
namespace {

using testing::device;

std::string between(const Fabric& f, std::string_view a, std::string_view b) {
  return to_text(path_class(f, f.find(a).value(), f.find(b).value()));
}

TEST(PathClass, AnHgxServerPrintsWhatNvidiaSmiDoes) {
  const Fabric f = testing::hgx();
  EXPECT_EQ(between(f, "gpu0", "gpu0"), "X");
  EXPECT_EQ(between(f, "gpu0", "gpu7"), "NV18");  // 5 + 4 + 4 + 5 links through four NVSwitches
  EXPECT_EQ(between(f, "gpu0", "nic0"), "PIX");   // one switch
  EXPECT_EQ(between(f, "gpu0", "nic1"), "PIX");
  EXPECT_EQ(between(f, "gpu0", "nic2"), "NODE");  // two host bridges of one CPU
  EXPECT_EQ(between(f, "nic0", "nic3"), "NODE");
  EXPECT_EQ(between(f, "gpu0", "nic4"), "SYS");  // the other socket
  EXPECT_EQ(between(f, "nic7", "nic0"), "SYS");
}

TEST(PathClass, WithoutNvlinkGpusShowTheirPciePath) {
  const Fabric f = testing::hgx({.nvlink_generation = 0});
  EXPECT_EQ(between(f, "gpu0", "gpu1"), "PIX");
  EXPECT_EQ(between(f, "gpu0", "gpu2"), "NODE");
  EXPECT_EQ(between(f, "gpu0", "gpu4"), "SYS");
  EXPECT_EQ(between(testing::small_server(), "gpu0", "nic0"), "PHB");
}

TEST(PathClass, AcsDoesNotChangeAClass) {
  EXPECT_EQ(between(testing::hgx({.acs = true}), "gpu0", "nic0"), "PIX");
}

// The DGX A100 wiring: two NIC ports on a card behind a switch of their own, below the switch that
// holds the GPUs.
TEST(PathClass, TwoSwitchesArePxb) {
  FabricBuilder b;
  b.begin_server();
  const auto pcie = b.link_class(pcie_link_class(4, 16));
  const auto plx = b.device_class(device(DeviceKind::pcie_switch, "plx"));
  const auto nic = b.device_class(device(DeviceKind::nic, "nic"));
  const auto upper = b.add_device(plx, {.name = "upper"});
  const auto card = b.add_device(plx, {.name = "card"});
  const auto gpu = b.add_device(b.device_class(device(DeviceKind::gpu, "gpu")), {.name = "gpu0"});
  const auto port0 = b.add_device(nic, {.name = "nic0"});
  const auto port1 = b.add_device(nic, {.name = "nic1"});
  b.add_link({upper, gpu}, pcie);
  b.add_link({upper, card}, pcie);
  b.add_link({card, port0}, pcie);
  b.add_link({card, port1}, pcie);
  b.end_server();
  const Fabric f = std::move(b).build();
  EXPECT_EQ(between(f, "gpu0", "nic0"), "PXB");
  EXPECT_EQ(between(f, "nic0", "nic1"), "PIX");
}

TEST(PathClass, ACardSlotIsNoBridge) {
  FabricBuilder b;
  b.begin_server();
  const auto pcie = b.link_class(pcie_link_class(4, 16));
  const auto nic = b.device_class(device(DeviceKind::nic, "nic"));
  const auto plx =
      b.add_device(b.device_class(device(DeviceKind::pcie_switch, "plx")), {.name = "plx"});
  const auto slot =
      b.add_device(b.device_class(device(DeviceKind::pcie_switch, std::string(kCardSlotModel))),
                   {.name = "slot"});
  const auto gpu = b.add_device(b.device_class(device(DeviceKind::gpu, "gpu")), {.name = "gpu0"});
  const auto port0 = b.add_device(nic, {.name = "nic0"});
  const auto port1 = b.add_device(nic, {.name = "nic1"});
  b.add_link({plx, gpu}, pcie);
  b.add_link({plx, slot}, pcie);
  b.add_link({slot, port0}, pcie);
  b.add_link({slot, port1}, pcie);
  b.end_server();
  const Fabric f = std::move(b).build();
  EXPECT_EQ(between(f, "gpu0", "nic0"), "PIX");
  EXPECT_EQ(between(f, "nic0", "nic1"), "PIX");
}

TEST(PathClass, FunctionsOfOneCardArePixEvenStraightUnderTheBridge) {
  FabricBuilder b;
  b.begin_server();
  const auto pcie = b.link_class(pcie_link_class(4, 16));
  const auto nic = b.device_class(device(DeviceKind::nic, "nic"));
  const auto root =
      b.add_device(b.device_class(device(DeviceKind::host_bridge, "root")), {.name = "root"});
  for (int i = 0; i < 3; ++i) {
    const auto n = b.add_device(nic, {.name = fmt::format("nic{}", i)});
    b.add_link({root, n}, pcie);
    b.set_label(n, "bus_id", i < 2 ? fmt::format("0000:41:00.{}", i) : "0000:42:00.0");
  }
  b.end_server();
  const Fabric f = std::move(b).build();
  EXPECT_EQ(between(f, "nic0", "nic1"), "PIX");
  EXPECT_EQ(between(f, "nic0", "nic2"), "PHB");
}

TEST(PathClass, DirectLinksCountAsWired) {
  FabricBuilder b;
  b.begin_server();
  const auto gpu = b.device_class(device(DeviceKind::gpu, "v100"));
  const auto g0 = b.add_device(gpu, {.name = "gpu0"});
  const auto g1 = b.add_device(gpu, {.name = "gpu1"});
  const auto g2 = b.add_device(gpu, {.name = "gpu2"});
  const auto cpu = b.add_device(b.device_class(device(DeviceKind::cpu, "grace")), {.name = "cpu0"});
  b.add_link({g0, g1}, b.link_class(nvlink_link_class(2, 2)));
  b.add_link({g1, g2}, b.link_class(nvlink_link_class(2, 1)));
  LinkClass c2c = testing::on_die();
  c2c.kind = LinkKind::c2c;
  for (const auto g : {g0, g1, g2}) b.add_link({g, cpu}, b.link_class(c2c));
  b.end_server();
  const Fabric f = std::move(b).build();
  EXPECT_EQ(between(f, "gpu0", "gpu1"), "NV2");
  EXPECT_EQ(between(f, "gpu1", "gpu2"), "NV1");
  EXPECT_EQ(between(f, "gpu0", "cpu0"), "C2C");
  EXPECT_EQ(between(f, "gpu0", "gpu2"), "NODE");  // a GPU between does not forward
}

TEST(PathClass, AnotherServerIsNetUnlessNvlinkReachesIt) {
  const auto c = testing::cluster(testing::hgx(), LinkKind::infiniband, true);
  EXPECT_EQ(between(c.fabric, "a/gpu0", "c/gpu0"), "NET");
}

TEST(PathClass, EquallyNearNicsAreDealtOutInOrder) {
  const auto c = testing::cluster(testing::hgx(), LinkKind::infiniband, true);
  for (int i = 0; i < 8; ++i) {
    const auto nic = nearest_nic(c.fabric, c.at(fmt::format("a/gpu{}", i)));
    ASSERT_TRUE(nic.has_value());
    EXPECT_EQ(c.fabric.name(*nic), fmt::format("a/nic{}", i));
  }
  EXPECT_FALSE(nearest_nic(testing::hgx(), testing::hgx().find("gpu0").value()).has_value());
}

TEST(TopologyMatrix, RowsAreGpusThenNicsWithTheirAffinity) {
  FabricBuilder b;
  const Fabric server = testing::hgx();
  const DeviceId first = b.append_server(server, "n");
  const DeviceId gpu0(first.index() + server.find("gpu0")->index());
  const DeviceId nic0(first.index() + server.find("nic0")->index());
  b.set_label(gpu0, "cpu_affinity", "0-31,64-95");
  b.set_label(nic0, "nic_name", "mlx5_0");
  const Fabric f = std::move(b).build();
  const TopologyMatrix m = topology_matrix(f, ServerId(0));
  ASSERT_EQ(m.devices.size(), 16u);
  EXPECT_EQ(m.headers.front(), "GPU0");
  EXPECT_EQ(m.headers.back(), "NIC7");
  EXPECT_EQ(m.cpu_affinity[0], "0-31,64-95");
  EXPECT_EQ(m.cpu_affinity[1], "N/A");
  EXPECT_EQ(m.numa_affinity[7], "1");
  EXPECT_EQ(m.nic_legend[0].second, "mlx5_0");
  EXPECT_EQ(m.nic_legend[1].second, "n/nic1");
  for (std::size_t i = 0; i < 16; ++i) {
    EXPECT_EQ(m.cells[i][i].kind, PathKind::self);
    for (std::size_t j = 0; j < 16; ++j) EXPECT_EQ(m.cells[i][j], m.cells[j][i]);
  }
}

}  // namespace
}  // namespace weft::fabric
