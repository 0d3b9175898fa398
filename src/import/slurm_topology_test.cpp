#include <gtest/gtest.h>

#include <map>

#include "base/text.h"
#include "import/dump_test_support.h"

namespace weft::import {
namespace {

using fabric::DeviceKind;

fabric::Fabric read(const std::string& text, const fabric::Fabric* host = nullptr) {
  ImportInputs inputs = dump_test_context();
  inputs.host = host;
  return find_importer("slurm_topology")->read({"topology.conf", text}, inputs);
}

std::vector<Diagnostic> faults_of(const std::string& text) {
  try {
    read(text);
  } catch (const InputError& error) {
    return error.diagnostics();
  }
  return {};
}

std::size_t switches_of_tier(const fabric::Fabric& f, int tier) {
  std::size_t n = 0;
  for (const fabric::DeviceId s : f.of_kind(DeviceKind::network_switch))
    n += f.info(s).tier == tier;
  return n;
}

std::size_t cables(const fabric::Fabric& f, std::string_view a, std::string_view b) {
  std::size_t n = 0;
  for (const fabric::LinkId link : f.out_links(*f.find(a))) n += f.name(f.to(link)) == b;
  return n;
}

// topograph's simulation of an OCI cluster: 12 leaves of 8 nodes, 6 spines, one core.
TEST(SlurmTopology, ReadsATreeOfThreeTiers) {
  const fabric::Fabric f = import_data("slurm/topograph_tree.conf");
  EXPECT_EQ(f.server_count(), 96u);
  EXPECT_EQ(switches_of_tier(f, 1), 12u);
  EXPECT_EQ(switches_of_tier(f, 2), 6u);
  EXPECT_EQ(switches_of_tier(f, 3), 1u);
  EXPECT_EQ(cables(f, "srv1101/nic0", "switch.1.1"), 1u);
  // 8 nodes beneath a leaf, 16 beneath a spine: as many cables go up.
  EXPECT_EQ(cables(f, "switch.1.1", "switch.2.1"), 8u);
  EXPECT_EQ(cables(f, "switch.2.1", "switch.3.1"), 16u);
  EXPECT_TRUE(assumes(f, "400 Gbps"));
  EXPECT_TRUE(assumes(f, "the file gives no cables"));
}

// 12 racks of 8 nodes; sizes 8, 16, 32: pairs of racks, then pairs of pairs, then one on top.
TEST(SlurmTopology, ReadsBlocksAndTheirSizes) {
  const fabric::Fabric f = import_data("slurm/topograph_block.conf");
  EXPECT_EQ(f.server_count(), 96u);
  EXPECT_EQ(switches_of_tier(f, 1), 12u);
  EXPECT_EQ(switches_of_tier(f, 2), 6u);
  EXPECT_EQ(switches_of_tier(f, 3), 3u);
  EXPECT_EQ(switches_of_tier(f, 4), 1u);
  EXPECT_EQ(cables(f, "rack11", "tier2-0"), 8u);
}

TEST(SlurmTopology, KeysOfAnyCaseCommentsContinuationsAndQuotes) {
  const fabric::Fabric f = read(
      "# made by hand\n"
      "switchname = leaf1 NODES=\"n[1-2]\"   # two\n"
      "SWITCHNAME=leaf2 nodes=n[3-\\\n4],n5\n"
      "SwitchName=top Switches=leaf[1-2]\n");
  EXPECT_EQ(f.server_count(), 5u);
  EXPECT_EQ(cables(f, "n5/nic0", "leaf2"), 1u);
  EXPECT_EQ(cables(f, "leaf2", "top"), 3u);
}

// Every leaf under two spines, as Slurm's manual writes a fat tree: 4 cables down, 2 up to each.
TEST(SlurmTopology, SharesUplinksAmongParents) {
  const fabric::Fabric f = read(
      "SwitchName=s0 Nodes=tux[0-3]\nSwitchName=s1 Nodes=tux[4-7]\n"
      "SwitchName=s4 Switches=s[0-1]\nSwitchName=s5 Switches=s[0-1]\n");
  EXPECT_EQ(cables(f, "s0", "s4"), 2u);
  EXPECT_EQ(cables(f, "s0", "s5"), 2u);
  EXPECT_FALSE(assumes(f, "may not reach"));
}

// 8 nodes at 200 Gbps = 1600 Gbps: two cables of 800.
TEST(SlurmTopology, LinkSpeedSetsTheRatesBeneath) {
  const fabric::Fabric f = read(
      "SwitchName=a Nodes=n[1-8] LinkSpeed=200\nSwitchName=top Switches=a LinkSpeed=800Gbps\n");
  EXPECT_EQ(cables(f, "a", "top"), 2u);
  const auto link = f.find_link(*f.find("n1/nic0"), *f.find("a"));
  ASSERT_TRUE(link);
  EXPECT_EQ(f.link_class(*link).raw_rate, BitRate::gigabits_per_second(200));
  EXPECT_TRUE(assumes(f, "LinkSpeed is taken as Gbps on 1 lines"));
  EXPECT_TRUE(assumes(read("SwitchName=a Nodes=n LinkSpeed=1\n"), "passed over on 1 lines"));
}

TEST(SlurmTopology, AGivenServerHasAllItsNicsOnTheLeaf) {
  const fabric::Fabric host = import_data("nccl/aws_p4d.xml");
  const std::size_t nics = count(host, DeviceKind::nic);
  ASSERT_GT(nics, 1u);
  const fabric::Fabric f = read("SwitchName=a Nodes=n[1-2]\n", &host);
  EXPECT_EQ(count(f, DeviceKind::gpu), 16u);
  EXPECT_EQ(f.out_links(*f.find("a")).size(), 2 * nics);
}

TEST(SlurmTopology, PartsThatNothingJoinsAreNamed) {
  EXPECT_TRUE(assumes(read("SwitchName=a Nodes=n1\nSwitchName=b Nodes=n2\n"), "may not reach"));
}

struct Bad {
  const char* text;
  int line, column;
  const char* what;
};

class SlurmFaults : public testing::TestWithParam<Bad> {};

TEST_P(SlurmFaults, AreNamedWithTheirPlace) {
  const auto faults = faults_of(GetParam().text);
  ASSERT_EQ(faults.size(), 1u) << GetParam().text;
  EXPECT_EQ(faults[0].where.line, GetParam().line);
  EXPECT_EQ(faults[0].where.column, GetParam().column);
  EXPECT_NE(faults[0].what.find(GetParam().what), std::string::npos) << faults[0].what;
  EXPECT_FALSE(faults[0].hint.empty());
}

INSTANTIATE_TEST_SUITE_P(
    Files, SlurmFaults,
    testing::Values(
        Bad{"", 1, 1, "no switch and no block"},
        Bad{"SwitchName=a Node=n1\n", 1, 14, "a switch has no 'Node'"},
        Bad{"Switch=a Nodes=n1\n", 1, 1, "cannot open with 'Switch'"},
        Bad{"SwitchName=a Nodes=n[1-\n", 1, 20, "brackets"},
        Bad{"SwitchName=a Nodes=n[1-2],\n", 1, 20, "missing between commas"},
        Bad{"SwitchName=a Nodes=n1\nSwitchName=b Nodes=n[1-2]\n", 2, 20, "line 1"},
        Bad{"SwitchName=a Nodes=n1\nSwitchName=a Nodes=n2\n", 2, 12, "already on line 1"},
        Bad{"SwitchName=a Nodes=n1\nSwitchName=b Switches=c\n", 2, 23, "no switch c"},
        Bad{"SwitchName=a Nodes=n1 Switches=a\n", 1, 1, "both nodes and switches"},
        Bad{"SwitchName=a Switches=b\nSwitchName=b Switches=a\n", 1, 1, "a > b > a"},
        Bad{"SwitchName=a Nodes=n1 LinkSpeed=fast\n", 1, 33, "no link speed"},
        Bad{"SwitchName=a Nodes=\"n1\n", 1, 20, "quote is not closed"},
        Bad{"SwitchName=a Nodes=\n", 1, 14, "no value"},
        Bad{"SwitchName=a Nodes\n", 1, 14, "not followed by '='"},
        Bad{"SwitchName=a/b Nodes=n1\n", 1, 12, "no name of a switch"},
        Bad{"SwitchName=n1 Nodes=n1\n", 1, 1, "of a switch and of a node"},
        Bad{"Include tree.conf\n", 1, 1, "not followed"},
        Bad{"SwitchName=a\n", 1, 1, "no switch has nodes"},
        Bad{"SwitchName=a Nodes=n1 nodes=n2\n", 1, 23, "stands twice"},
        Bad{"SwitchName=a Nodes=n[1-9999999]\n", 1, 20, "more than"},
        Bad{"SwitchName=a Nodes=n1\nBlockName=b Nodes=n2\n", 2, 1, "switches and blocks"},
        Bad{"BlockName=a Nodes=n1\nBlockSizes=4,6\n", 2, 12, "no block size"},
        Bad{"BlockName=a Nodes=n1 Switches=b\n", 1, 22, "a block has no 'Switches'"},
        Bad{"SwitchName=a Nodes=n[1-9999] LinkSpeed=1000Gbps\n"
            "SwitchName=b Switches=a LinkSpeed=1Mbps\n",
            2, 1, "more than a network has"}));

TEST(SlurmTopology, CollectsTheFaultsOfAFile) {
  EXPECT_EQ(faults_of("SwitchName=a Nodes=n[1-\nSwitchName=b Speed=1\nfoo=1\n").size(), 3u);
}

}  // namespace
}  // namespace weft::import
