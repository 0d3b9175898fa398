#include <gtest/gtest.h>

#include "base/text.h"
#include "import/importer.h"
#include "import/shipped_catalogue.h"

namespace weft::import {
namespace {

using fabric::DeviceKind;

fabric::Fabric read(const std::string& text) {
  const Catalogue& catalogue = shipped_catalogue();
  ImportInputs inputs;
  inputs.catalogue = &catalogue;
  return find_importer("ns3_topo")->read({"t.topo", text}, inputs);
}

// SimAI: 2 servers of 2 GPUs, an NVSwitch each, rail g on switch 6 + g.
TEST(Ns3Topo, ReadsSimAisServersAndRails) {
  const std::string text =
      read_file(std::string(WEFT_SOURCE_DIR) + "/tests/data/ns3/simai_rail_2x2.topo");
  ASSERT_TRUE(find_importer("ns3_topo")->recognises({"t", text}));
  const fabric::Fabric built = read(text);
  EXPECT_EQ(built.server_count(), 2u);
  EXPECT_EQ(built.of_kind(DeviceKind::gpu).size(), 4u);
  EXPECT_EQ(built.of_kind(DeviceKind::nic).size(), 4u);
  EXPECT_EQ(built.of_kind(DeviceKind::nvswitch).size(), 2u);
  EXPECT_EQ(built.of_kind(DeviceKind::network_switch).size(), 2u);
}

// Two links of one GPU to switches are two ports of one NIC.
TEST(Ns3Topo, DualTopOfRackIsOneNicWithTwoPorts) {
  const fabric::Fabric built = read(
      "4 2 4\n2 3\n0 2 200Gbps 0.0005ms 0\n0 3 200Gbps 0.0005ms 0\n"
      "1 2 200Gbps 0.0005ms 0\n1 3 200Gbps 0.0005ms 0\n");
  ASSERT_EQ(built.of_kind(DeviceKind::nic).size(), 2u);
  EXPECT_EQ(built.device_class(built.of_kind(DeviceKind::nic)[0]).ports, 2);
}

TEST(Ns3Topo, RefusesAnEmptyText) {
  EXPECT_THROW(read(""), InputError);
  EXPECT_THROW(read("3 1\n2\n0 2 200Gbps 0.005ms 0\n"), InputError);
}

TEST(Ns3Topo, NamesEveryFaultyLink) {
  try {
    read("3 1 3\n2\n0 2 200Gbps 0.005ms 0\n1 9 200Gbps 0.005ms 0\n1 2 200 0.005ms 0\n");
    FAIL();
  } catch (const InputError& error) {
    ASSERT_EQ(error.diagnostics().size(), 3u);
    EXPECT_EQ(error.diagnostics()[0].where.line, 1);  // node1 has no link left
    EXPECT_EQ(error.diagnostics()[1].where.line, 4);  // there is no node 9
    EXPECT_EQ(error.diagnostics()[2].where.line, 5);  // 200 of what
  }
}

}  // namespace
}  // namespace weft::import
