#include "fabric/fabric.h"

#include <gtest/gtest.h>

#include "fabric/fabric_builder.h"

namespace weft::fabric {
namespace {

DeviceClass named(DeviceKind kind, std::string model) {
  DeviceClass c;
  c.kind = kind;
  c.model = std::move(model);
  return c;
}

LinkClass wire(LinkKind kind, std::int64_t gbps, int width = 1) {
  LinkClass c;
  c.kind = kind;
  c.name = std::string(to_text(kind));
  c.raw_rate = BitRate::gigabits_per_second(gbps);
  c.width = width;
  return c;
}

// One CPU, one switch below it, two GPUs below the switch.
Fabric small_server() {
  FabricBuilder b;
  const auto gpu = b.device_class(named(DeviceKind::gpu, "g"));
  const auto cpu = b.device_class(named(DeviceKind::cpu, "c"));
  const auto plx = b.device_class(named(DeviceKind::pcie_switch, "p"));
  const auto pcie = b.link_class(wire(LinkKind::pcie, 504));
  b.begin_server();
  const DeviceId c = b.add_device(cpu, {.name = "cpu0", .numa = 0});
  const DeviceId p = b.add_device(plx, {.name = "plx0", .numa = 0, .acs_redirect = true});
  const DeviceId g0 = b.add_device(gpu, {.name = "gpu0", .numa = 0});
  const DeviceId g1 = b.add_device(gpu, {.name = "gpu1", .numa = 0});
  b.add_link({c, p}, pcie);
  b.add_link({p, g0}, pcie);
  b.add_link({p, g1}, pcie);
  b.end_server();
  b.set_label(g0, "bus_id", "first");
  b.set_label(g1, "bus_id", "0000:1b:00.0");
  b.set_label(g0, "bus_id", "0000:1a:00.0");
  b.assume("PCIe width not given: taken as x16");
  return std::move(b).build();
}

TEST(Fabric, KnowsItsDevicesByNameAndByKind) {
  const Fabric f = small_server();
  ASSERT_EQ(f.device_count(), 4u);
  const DeviceId gpu1 = f.find("gpu1").value();
  EXPECT_EQ(f.name(gpu1), "gpu1");
  EXPECT_EQ(f.info(gpu1).local_index, 1u);
  EXPECT_EQ(f.kind(gpu1), DeviceKind::gpu);
  EXPECT_FALSE(f.find("gpu2").has_value());
  EXPECT_FALSE(f.find("").has_value());
  EXPECT_EQ(f.of_kind(DeviceKind::gpu).size(), 2u);
  EXPECT_EQ(f.of_kind(DeviceKind::gpu, ServerId(0)).size(), 2u);
  EXPECT_TRUE(f.of_kind(DeviceKind::ocs).empty());
  EXPECT_TRUE(f.info(f.find("plx0").value()).acs_redirect);
}

TEST(Fabric, ACableIsTwoDirectedLinks) {
  const Fabric f = small_server();
  ASSERT_EQ(f.link_count(), 6u);  // three cables
  const DeviceId plx = f.find("plx0").value();
  const DeviceId gpu0 = f.find("gpu0").value();
  const LinkId down = f.find_link(plx, gpu0).value();
  EXPECT_EQ(f.from(down), plx);
  EXPECT_EQ(f.to(down), gpu0);
  EXPECT_EQ(f.to(reverse(down)), plx);
  EXPECT_EQ(f.link_name(reverse(down)), "gpu0 -> plx0");
  EXPECT_EQ(f.out_links(plx).size(), 3u);  // up, gpu0, gpu1 in the order added
  EXPECT_EQ(f.to(f.out_links(plx)[1]), gpu0);
  EXPECT_FALSE(f.find_link(gpu0, f.find("gpu1").value()).has_value());
}

TEST(Fabric, TheLastLabelSetWins) {
  const Fabric f = small_server();
  EXPECT_EQ(f.label(f.find("gpu0").value(), "bus_id"), "0000:1a:00.0");
  EXPECT_EQ(f.label(f.find("gpu1").value(), "bus_id"), "0000:1b:00.0");
  EXPECT_EQ(f.label(f.find("gpu1").value(), "colour"), "");
  EXPECT_EQ(f.label(f.find("cpu0").value(), "bus_id"), "");
}

TEST(FabricBuilder, StoresEqualClassesOnce) {
  FabricBuilder b;
  EXPECT_EQ(b.device_class(named(DeviceKind::gpu, "a")),
            b.device_class(named(DeviceKind::gpu, "a")));
  EXPECT_NE(b.device_class(named(DeviceKind::gpu, "a")),
            b.device_class(named(DeviceKind::gpu, "b")));
  LinkClass longer = wire(LinkKind::ethernet, 400);
  longer.latency = Duration::nanoseconds(250);
  EXPECT_EQ(b.link_class(wire(LinkKind::ethernet, 400)),
            b.link_class(wire(LinkKind::ethernet, 400)));
  EXPECT_NE(b.link_class(wire(LinkKind::ethernet, 400)), b.link_class(longer));
}

TEST(FabricBuilder, StampsAServerUnderAPrefix) {
  const Fabric server = small_server();
  FabricBuilder b;
  EXPECT_EQ(b.append_server(server, "node0"), DeviceId(0));
  // A switch between two servers stays outside both.
  const auto leaf = b.device_class(named(DeviceKind::network_switch, "l"));
  const DeviceId leaf0 = b.add_device(leaf, {.name = "leaf0", .tier = 1});
  const DeviceId first = b.append_server(server, "node1", true);
  const DeviceId leaf1 = b.add_device(leaf, {.name = "leaf1", .tier = 1});
  const Fabric f = std::move(b).build();

  ASSERT_EQ(f.server_count(), 2u);
  EXPECT_EQ(f.devices_of(ServerId(1)).first, first.index());
  EXPECT_EQ(f.devices_of(ServerId(1)).last, first.index() + 4);
  EXPECT_FALSE(f.info(leaf0).server.valid());
  EXPECT_EQ(f.info(leaf1).local_index, 1u);
  const DeviceId gpu1 = f.find("node1/gpu1").value();
  EXPECT_EQ(gpu1, DeviceId(first.index() + server.find("gpu1").value().index()));
  EXPECT_EQ(f.info(gpu1).server, ServerId(1));
  EXPECT_EQ(f.info(gpu1).local_index, 1u);
  EXPECT_EQ(f.label(gpu1, "bus_id"), "0000:1b:00.0");
  EXPECT_EQ(f.label(f.find("node0/gpu1").value(), "bus_id"), "");
  EXPECT_TRUE(f.find_link(f.find("node1/plx0").value(), gpu1).has_value());
  EXPECT_EQ(f.assumptions().size(), 1u);  // the same assumption twice is said once
  EXPECT_EQ(f.device_classes().size(), 4u);
  EXPECT_EQ(f.link_classes().size(), 1u);
}

TEST(FabricBuilder, RefusesWhatReadersMustHaveCaught) {
  FabricBuilder b;
  const auto gpu = b.device_class(named(DeviceKind::gpu, "g"));
  const auto pcie = b.link_class(wire(LinkKind::pcie, 504));
  const DeviceId g = b.add_device(gpu, {.name = "g"});
  EXPECT_DEATH(b.add_device(gpu, {.name = "g"}), "");  // the name is taken
  EXPECT_DEATH(b.add_link({g, g}, pcie), "");
  EXPECT_DEATH(b.add_link({g, DeviceId(7)}, pcie), "");
  EXPECT_DEATH(b.link_class(wire(LinkKind::pcie, 0)), "");
}

TEST(FabricBuilder, ABundleOfNvlinksTakesAPortForEach) {
  FabricBuilder b;
  DeviceClass nvswitch = named(DeviceKind::nvswitch, "two ports");
  nvswitch.radix = 2;
  const DeviceId s = b.add_device(b.device_class(nvswitch), {.name = "s"});
  const DeviceId g = b.add_device(b.device_class(named(DeviceKind::gpu, "g")), {.name = "g"});
  b.add_link({g, s}, b.link_class(wire(LinkKind::nvlink, 600, 3)));
  EXPECT_DEATH(static_cast<void>(std::move(b).build()), "radix");
}

// The largest cluster Weft promises: 131,072 GPUs are 16,384 servers of 8.
TEST(FabricBuilder, StampsSixteenThousandServersCompactly) {
  FabricBuilder t;
  const auto gpu = t.device_class(named(DeviceKind::gpu, "g"));
  const auto pcie = t.link_class(wire(LinkKind::pcie, 504));
  t.begin_server();
  std::vector<DeviceId> devices;
  for (int i = 0; i < 40; ++i) {
    devices.push_back(t.add_device(gpu, {.name = "device" + std::to_string(i)}));
    if (i > 0) t.add_link({devices[static_cast<std::size_t>(i) / 2], devices.back()}, pcie);
  }
  t.end_server();
  const Fabric server = std::move(t).build();
  FabricBuilder b;
  for (int i = 0; i < 16'384; ++i) b.append_server(server, "node" + std::to_string(i));
  const Fabric f = std::move(b).build();
  EXPECT_EQ(f.device_count(), 655'360u);
  EXPECT_EQ(f.link_count(), 2u * 39 * 16'384);
  EXPECT_EQ(f.name(f.find("node16383/device39").value()), "node16383/device39");
  // 16 B a device and ~19 of name, 4 B of offset, 16 B of hash slots at most; 12 B a directed link.
  EXPECT_LT(f.memory_bytes(), std::size_t{160} << 20);
}

}  // namespace
}  // namespace weft::fabric
