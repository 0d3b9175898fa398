#include <gtest/gtest.h>

#include <map>
#include <set>

#include "emit/emitter.h"
#include "import/dump_test_support.h"

namespace weft::emit {
namespace {

std::string written(const fabric::Fabric& f) {
  return slurm_topology_emitter().write(f, {"test", 1, 1});
}

// Which switch or server is above which.
std::set<std::pair<std::string, std::string>> edges_of(const fabric::Fabric& f) {
  std::set<std::pair<std::string, std::string>> edges;
  for (const fabric::DeviceId s : f.of_kind(fabric::DeviceKind::network_switch)) {
    for (const fabric::LinkId link : f.out_links(s)) {
      const std::string_view to = f.name(f.to(link));
      edges.emplace(f.name(s), to.substr(0, to.rfind('/')));
    }
  }
  return edges;
}

TEST(SlurmEmitter, ATreeThatIsReadAndWrittenIsTheSameTree) {
  for (const char* name :
       {"slurm/topograph_tree.conf", "htsim/leaf_spine_tiny.topo", "htsim/fat_tree_128_8os.topo"}) {
    const fabric::Fabric f = import::import_data(name);
    EXPECT_EQ(edges_of(f), edges_of(import::import_dump(written(f)))) << name;
  }
}

TEST(SlurmEmitter, WritesHostlistsAndRates) {
  EXPECT_EQ(written(import::import_data("htsim/leaf_spine_tiny.topo")),
            "# Slurm topology/tree, written by weft\n"
            "SwitchName=tor0 Nodes=node[0-7] LinkSpeed=100\n"
            "SwitchName=tor1 Nodes=node[8-15] LinkSpeed=100\n"
            "SwitchName=tor2 Nodes=node[16-23] LinkSpeed=100\n"
            "SwitchName=tor3 Nodes=node[24-31] LinkSpeed=100\n"
            "SwitchName=agg0 Switches=tor[0-3] LinkSpeed=100\n"
            "SwitchName=agg1 Switches=tor[0-3] LinkSpeed=100\n");
}

// Two servers of two NICs, NIC g on rail g: both leaves are one entry.
TEST(SlurmEmitter, RailsAreOneEntry) {
  EXPECT_EQ(written(import::import_data("ns3/simai_rail_2x2.topo")),
            "# Slurm topology/tree, written by weft\n"
            "SwitchName=switch6..switch7 Nodes=node[0-1] LinkSpeed=400\n");
}

// A ring of three switches with a server each is no tree.
TEST(SlurmEmitter, SwitchesOfOneTierGetOneOnTop) {
  const fabric::Fabric f = import::import_dump(
      "6 3 6\n3 4 5\n0 3 100Gbps 1us 0\n1 4 100Gbps 1us 0\n2 5 100Gbps 1us 0\n"
      "3 4 100Gbps 1us 0\n4 5 100Gbps 1us 0\n5 3 100Gbps 1us 0\n");
  const std::string text = written(f);
  EXPECT_NE(text.find("SwitchName=joined Switches=switch[3-5]"), std::string::npos) << text;
}

TEST(SlurmEmitter, AServerAloneIsRefused) {
  EXPECT_THROW(static_cast<void>(written(import::import_data("nccl/aws_p4d.xml"))), InputError);
}

}  // namespace
}  // namespace weft::emit
