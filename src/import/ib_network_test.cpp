// InfiniBand dumps: real ones with what is known of them, and the names and rates they are read by.
#include "import/ib_network.h"

#include <gtest/gtest.h>

#include "fabric/network_survey.h"
#include "import/dump_test_support.h"

namespace weft::import {
namespace {

using fabric::DeviceKind;
using fabric::NetworkSurvey;

bool finds(const NetworkSurvey& survey, std::string_view kind, std::string_view part) {
  return std::any_of(survey.findings.begin(), survey.findings.end(), [&](const auto& finding) {
    return finding.kind == kind && finding.text.find(part) != std::string::npos;
  });
}

// 31 leaves (a grid of 4 rails by 8 units less LEAF-03-01), 9 spines, two cables a pair: 31 x 9 x 2
// = 558 are due; counted in the file by hand, 532 are there.
TEST(IbDump, RealNdrFabricShowsItsTiersRailsAndMissingCables) {
  const fabric::Fabric f = import_data("ib/topograph_ndr_40_switches.txt");
  const NetworkSurvey s = fabric::survey_network(f);
  ASSERT_EQ(s.tiers.size(), 2u);
  EXPECT_EQ(s.tiers[0].switches, 31u);
  EXPECT_EQ(s.tiers[1].switches, 9u);
  EXPECT_EQ(s.nics, 582u - 40u) << "582 adapters, 40 of them aggregation nodes";
  EXPECT_EQ(s.tiers[0].cables_up, 532u);
  EXPECT_EQ(s.expected_cables, 558);
  EXPECT_EQ(s.missing_cables, 26);
  EXPECT_EQ(s.missing.size(), 16u);
  ASSERT_EQ(s.rails.size(), 4u);
  EXPECT_EQ(s.rails[2].number, 4) << "HCA-5 and mlx5_4 are one";
  EXPECT_EQ(s.rails[2].leaves, 7u) << "8 less LEAF-03-01";
  EXPECT_TRUE(finds(s, "few_uplinks", "r01-P1-IBLEAF-01-02 has 14 uplinks, its peers 18"));
  EXPECT_TRUE(finds(s, "name_gap", "IBLEAF-03-01"));
  EXPECT_TRUE(finds(s, "few_nics", "11 hosts show 3 of 4 NICs"));
  EXPECT_NEAR(s.worst_oversubscription, 18.0 / 15.0, 1e-9);
  EXPECT_EQ(s.worst_leaf, "r01-P1-IBLEAF-02-03");
}

TEST(IbDump, SpeedsNamesAndAPeerWithoutARecord) {
  const fabric::Fabric f = import_data("ib/two_leaves.txt");
  ASSERT_EQ(f.server_count(), 2u);
  EXPECT_TRUE(f.find("leaf1"));
  const auto nic = f.find("n1/nic1");
  ASSERT_TRUE(nic) << "only met as a peer of leaf2";
  EXPECT_EQ(f.label(*nic, "nic_name"), "mlx5_1");
  EXPECT_EQ(f.label(*f.find("leaf1"), "ports"), "1 2 7 8");
  const NetworkSurvey s = fabric::survey_network(f);
  EXPECT_EQ(s.cables, 6u);
  // 4 lanes of NDR carry 400 Gb/s, 2 lanes 200.
  EXPECT_TRUE(finds(s, "slow_link", "2xNDR (200 Gbps), its peers 400 Gbps"));
}

TEST(IbDump, PortListsCountDeadPortsAndDoNotCallThemSlow) {
  const fabric::Fabric f = import_data("ib/exporter_ports1.txt");
  const NetworkSurvey s = fabric::survey_network(f);
  EXPECT_EQ(s.cables, 4u);
  EXPECT_FALSE(finds(s, "slow_link", ""));
  EXPECT_TRUE(assumes(f, "2 ports without a cable"));
}

TEST(IbDump, HostsBecomeCopiesOfTheServerThatIsNamed) {
  const fabric::Fabric server = import_data("nccl/aws_p4d.xml");
  const std::size_t nics = count(server, DeviceKind::nic), gpus = count(server, DeviceKind::gpu);
  std::string text = "Switch 64 \"leaf\"\n";
  for (std::size_t n = 0; n < 2 * nics; ++n) {
    text += "[" + std::to_string(n + 1) + "] \"h" + std::to_string(n / nics) + "/nic" +
            std::to_string(n % nics) + "\"[1]\n";
  }
  ImportInputs inputs = dump_test_context();
  inputs.host = &server;
  const fabric::Fabric f = import_any({"dump", text}, inputs);
  EXPECT_EQ(f.server_count(), 2u);
  EXPECT_EQ(count(f, DeviceKind::gpu), 2 * gpus);
  EXPECT_TRUE(assumes(f, "2 of 2 hosts"));
}

// "h/nic0" is the name of host h's first NIC, so the switch has to give way.
TEST(IbDump, ASwitchNamedLikeANicKeepsAnotherName) {
  const fabric::Fabric f = import_dump("Switch 8 \"h/nic0\"\n[1] \"h/nic1\"[1]\n");
  EXPECT_EQ(f.kind(*f.find("h/nic0")), DeviceKind::nic);
  EXPECT_EQ(count(f, DeviceKind::network_switch), 1u);
}

// Blanks are no part of a name, and an id may be nothing else. Found by fuzzing.
TEST(IbDump, NodesWhoseIdIsBlankStillHaveNames) {
  const fabric::Fabric f =
      import_dump("Switch 8 \" \" \"\"\n[1] \"  \"[1]\nCa 1 \"  \" \"\"\n[1] \" \"[1]\n");
  ASSERT_EQ(count(f, DeviceKind::network_switch), 1u);
  EXPECT_EQ(f.name(f.of_kind(DeviceKind::network_switch)[0]), "_");
  EXPECT_EQ(f.name(f.of_kind(DeviceKind::nic)[0]), "__/nic0") << "the switch has the name _";
}

TEST(IbDump, RatesFollowFromLanesAndCoding) {
  EXPECT_EQ(*ib_rate(4, "SDR"), BitRate::gigabits_per_second(8));  // 4 x 2.5 GBd x 8/10
  EXPECT_EQ(*ib_rate(4, "QDR"), BitRate::gigabits_per_second(32));
  EXPECT_EQ(*ib_rate(4, "EDR"), BitRate::gigabits_per_second(100));  // 4 x 25.78 x 64/66
  EXPECT_EQ(*ib_rate(2, "NDR"), BitRate::gigabits_per_second(200));
  EXPECT_FALSE(ib_rate(4, "???"));
  EXPECT_FALSE(parse_ib_speed("3xEDR"));
}

TEST(NaturalOrder, DigitsCompareAsNumbers) {
  EXPECT_TRUE(natural_less("node2", "node10"));
  EXPECT_FALSE(natural_less("node10", "node2"));
  EXPECT_TRUE(natural_less("a1-9", "a1-10"));
  EXPECT_FALSE(natural_less("x", "x"));
}

}  // namespace
}  // namespace weft::import
