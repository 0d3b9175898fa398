#include <gtest/gtest.h>

#include "base/text.h"
#include "import/dump_test_support.h"

namespace weft::import {
namespace {

using fabric::DeviceKind;

std::string text_of(const std::string& name) {
  return read_file(std::string(WEFT_SOURCE_DIR) + "/tests/data/infragraph/" + name);
}

std::size_t cables(const fabric::Fabric& f, std::string_view a, std::string_view b) {
  std::size_t n = 0;
  for (const fabric::LinkId link : f.out_links(*f.find(a))) n += f.name(f.to(link)) == b;
  return n;
}

// InfraGraph's case study in its older form: 4 servers of 4 xpus and NICs at 100 GB/s on a leaf
// each, every leaf on 3 spines at 400 GB/s.
TEST(InfraGraph, ReadsConnectionsOfDottedNames) {
  const fabric::Fabric f = import_data("infragraph/two_tier_clos.yaml");
  EXPECT_EQ(f.server_count(), 4u);
  EXPECT_EQ(count(f, DeviceKind::gpu), 16u);
  EXPECT_EQ(count(f, DeviceKind::nic), 16u);
  EXPECT_EQ(count(f, DeviceKind::nvswitch), 4u);
  EXPECT_EQ(count(f, DeviceKind::network_switch), 7u);
  EXPECT_EQ(cables(f, "server.2/nic3", "leafsw.2"), 1u);
  EXPECT_EQ(cables(f, "leafsw.2", "spinesw.1"), 1u);
  EXPECT_EQ(f.info(*f.find("spinesw.0")).tier, 2);
  const auto up = f.find_link(*f.find("leafsw.0"), *f.find("spinesw.0"));
  EXPECT_EQ(f.link_class(*up).raw_rate, BitRate::gigabits_per_second(3200));
  // One NVLink of each xpu to the switch, of 128 GB/s; xpu and NIC g share a PCIe switch.
  EXPECT_EQ(matrix_row(f, 0), "X NV1 NV1 NV1 PIX PHB PHB PHB");
  EXPECT_TRUE(assumes(f, "names no CPU"));
}

// 2 servers of 4 xpus under 2 PCIe switches; NICs are devices of their own; 2 NVSwitches with one
// link of 225 GB/s from each xpu.
TEST(InfraGraph, ReadsSlicesSchemesAndComposition) {
  const fabric::Fabric f = import_data("infragraph/slices.yaml");
  EXPECT_EQ(f.server_count(), 2u);
  EXPECT_EQ(count(f, DeviceKind::gpu), 8u);
  EXPECT_EQ(count(f, DeviceKind::nic), 8u);
  EXPECT_EQ(count(f, DeviceKind::pcie_switch), 4u);
  EXPECT_EQ(count(f, DeviceKind::nvswitch), 4u);
  EXPECT_EQ(matrix_row(f, 0), "X NV2 NV2 NV2 PIX PIX SYS SYS");
  EXPECT_EQ(matrix_row(f, 3), "NV2 NV2 NV2 X SYS SYS PIX PIX");
  // many to one in the order of the lists: leaf 0's ports 4 to 7 take the spine's eight first.
  EXPECT_EQ(cables(f, "leaf.0", "spine.0"), 4u);
  EXPECT_EQ(cables(f, "leaf.1", "spine.0"), 4u);
  EXPECT_EQ(cables(f, "host.1/nic2", "leaf.1"), 1u);
  const auto link = f.find_link(*f.find("host.0/nic0"), *f.find("leaf.0"));
  ASSERT_TRUE(link);
  EXPECT_EQ(f.link_class(*link).raw_rate, BitRate::gigabits_per_second(400));
  EXPECT_EQ(f.link_class(*link).latency, Duration::nanoseconds(250));
  EXPECT_EQ(f.device_class(*f.find("host.0/gpu0")).model.substr(0, 4), "h100");
  EXPECT_EQ(f.device_class(*f.find("leaf.0")).radix, 0);
  EXPECT_EQ(uplink(f, *f.find("host.0/gpu0")).generation, 5);
}

TEST(InfraGraph, AGivenServerReplacesTheInside) {
  const fabric::Fabric host = import_data("nccl/aws_p4d.xml");
  ImportInputs inputs = dump_test_context();
  inputs.host = &host;
  const fabric::Fabric f = import_any({"slices.yaml", text_of("slices.yaml")}, inputs);
  EXPECT_EQ(count(f, DeviceKind::gpu), 16u);
}

std::string with(std::string text, std::string_view old, std::string_view next) {
  const std::size_t at = text.find(old);
  EXPECT_NE(at, std::string::npos) << old;
  return text.replace(at, old.size(), next);
}

TEST(InfraGraph, FaultsAreNamedWithTheirLine) {
  const std::string good = text_of("slices.yaml");
  struct Bad {
    std::string text;
    int line;
    const char* what;
  };
  const std::vector<Bad> cases = {
      {with(good, "device: server", "device: servers"), 39, "no device servers"},
      {with(good, "component: mgmt", "component: management"), 20, "no component management"},
      {with(good, "xpu[0:2]", "xpu[0:9]"), 21, "xpu has indexes below 4"},
      {with(good, "xpu[0:2]", "xpu[0:2"), 21, "no component with a slice"},
      {with(good, "link: ic}", "link: icc}"), 37, "no link icc"},
      {with(good, "scheme: many2many, link: ic", "scheme: ring, link: ic"), 37, "ring"},
      {with(good, "scheme: many2many, link: ic", "scheme: all, link: ic"), 37, "all"},
      {with(good, "leaf[0]", "leafs[0]"), 48, "no instance leafs[0]"},
      {with(good, "component: \"port[4:8]\"", "component: \"port[3:7]\""), 50,
       "has a cable already"},
      {with(good, "component: cx7}", "component: mgmt}"), 49, "mgmt of server is no NIC"},
      {with(good, "count: 2}\n- {name: leaf", "count: 99999999}\n- {name: leaf"), 39, "count"},
      {with(good, "count: 2}\n- {name: leaf", "count: 65000}\n- {name: leaf"), 39, "in all"},
      {"devices: []\ninstances: []\n", 1, "no instances"},
      {"infrastructure:\n  connections: [a.0.b]\n", 2, "a connection is"},
  };
  for (const Bad& bad : cases) {
    bool found = false;
    std::string all;
    try {
      import_dump(bad.text);
    } catch (const InputError& error) {
      all = error.what();
      for (const Diagnostic& fault : error.diagnostics())
        found = found || (fault.where.line == bad.line &&
                          fault.what.find(bad.what) != std::string::npos && !fault.hint.empty());
    }
    EXPECT_TRUE(found) << bad.what << "\n" << all;
  }
}

}  // namespace
}  // namespace weft::import
