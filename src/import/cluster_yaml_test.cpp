#include "import/cluster_yaml.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/text.h"

namespace weft::import {
namespace {

ClusterSpec shipped(const std::string& name) {
  const std::string path = std::string(WEFT_SOURCE_DIR) + "/data/clusters/" + name + ".yaml";
  return parse_cluster(read_file(path), path);
}

TEST(ClusterFile, KeepsNamesAsTextWithTheirPositions) {
  const ClusterSpec spec = parse_cluster(R"(weft: cluster/1
servers:
  - {type: hgx-h100, count: 2}
  - {type: topo.xml, count: 2}
  - {type: hgx-h100, name: "gpu[08-10]"}
stack: rocev2
fabric:
  topology: leaf_spine
  link: {kind: ethernet, rate: 400Gbps, length: 30m, medium: fibre}
  uplink: 800gbe
  switch: [sn5400, {model: spectrum4, latency: 400ns}]
  oversubscription: 3:2
  spines: 4
)",
                                         "c.yaml");
  ASSERT_EQ(spec.servers.size(), 3u);
  EXPECT_EQ(spec.server_count(), 7u);
  EXPECT_EQ(spec.servers[0].names, (std::vector<std::string>{"node0", "node1"}));
  EXPECT_EQ(spec.servers[1].names, (std::vector<std::string>{"node2", "node3"}));
  EXPECT_EQ(spec.servers[2].names, (std::vector<std::string>{"gpu08", "gpu09", "gpu10"}));
  EXPECT_EQ(spec.servers[1].type.text, "topo.xml");
  EXPECT_EQ(spec.servers[1].type.where.line, 4);
  EXPECT_EQ(spec.servers[1].type.where.column, 12);
  ASSERT_TRUE(spec.network);
  EXPECT_EQ(spec.network->topology->text, "leaf_spine");
  EXPECT_EQ(spec.network->link->kind, fabric::LinkKind::ethernet);
  EXPECT_EQ(spec.network->link->rate, BitRate::gigabits_per_second(400));
  EXPECT_EQ(spec.network->link->length_m, 30);
  EXPECT_EQ(spec.network->uplink->name->text, "800gbe");
  ASSERT_EQ(spec.network->switches.size(), 2u);
  EXPECT_EQ(spec.network->switches[1].latency, Duration::nanoseconds(400));
  ASSERT_EQ(spec.network->parameters.size(), 2u);
  EXPECT_EQ(spec.network->parameters[0].name, "oversubscription");
  EXPECT_DOUBLE_EQ(spec.network->parameters[0].value, 1.5);
  EXPECT_EQ(spec.network->parameters[1].name_at.line, 13);
  EXPECT_EQ(spec.network->parameters[1].value_at.column, 11);
}

TEST(ClusterFile, ReadsDrawnLinks) {
  const ClusterSpec spec = shipped("drawn-2leaf-2spine");
  EXPECT_EQ(spec.switches.size(), 4u);
  EXPECT_EQ(spec.switches[3].name, "spine2");
  EXPECT_EQ(spec.switches[3].tier, 2);
  ASSERT_EQ(spec.links.size(), 8u);
  EXPECT_EQ(spec.links[0].ends[0].device, "node0");
  EXPECT_EQ(spec.links[0].ends[0].port, "nic0");
  EXPECT_TRUE(spec.links[0].ends[0].on_server);
  EXPECT_FALSE(spec.links[0].ends[1].on_server);
  EXPECT_FALSE(spec.links[0].link);
  EXPECT_EQ(spec.links[7].link->name->text, "200gbe");
}

TEST(ClusterFile, ReadsTheScaleUpDomain) {
  const ClusterSpec spec = shipped("nvl72-rack");
  ASSERT_TRUE(spec.scale_up);
  EXPECT_EQ(spec.scale_up->chip->text, "nvswitch4");
  EXPECT_EQ(spec.scale_up->servers_per_domain, 18);
  EXPECT_EQ(spec.scale_up->chips, 18);
  EXPECT_EQ(spec.scale_up->links_per_chip, 1);
}

// Every server that a shipped cluster names is shipped as well.
TEST(ClusterFile, ShippedClustersNameShippedServers) {
  const std::string data = std::string(WEFT_SOURCE_DIR) + "/data";
  for (const auto& entry : std::filesystem::directory_iterator(data + "/clusters")) {
    const ClusterSpec spec = shipped(entry.path().stem().string());
    for (const auto& group : spec.servers) {
      EXPECT_TRUE(std::filesystem::exists(data + "/servers/" + group.type.text + ".yaml"))
          << entry.path() << " " << group.type.text;
    }
  }
}

TEST(ClusterFile, ReportsEveryFaultAtOnce) {
  try {
    parse_cluster(R"(weft: cluster/1
servers:
  - {type: hgx-h100, count: 0}
  - {typ: hgx-h100}
fabric:
  topology: rail
  link: {kind: infiniband, length: 30}
  oversubscription: twice
)",
                  "c.yaml");
    FAIL() << "accepted a broken file";
  } catch (const InputError& error) {
    std::vector<std::string> found;
    for (const Diagnostic& d : error.diagnostics()) {
      EXPECT_FALSE(d.hint.empty()) << d.what;
      found.push_back(std::to_string(d.where.line) + ":" + std::to_string(d.where.column) + " " +
                      d.what);
    }
    EXPECT_EQ(found, (std::vector<std::string>{
                         "3:29 count 0 is outside 1 to 200000",
                         "4:5 server group has no 'type'",
                         "4:6 unknown key 'typ' in server group",
                         "7:9 this link has neither a name nor a kind and a rate",
                         "7:36 length needs a unit",
                         "8:21 the topology parameter 'oversubscription' is not a number",
                     }));
  }
}

// The examples of the documentation, in both languages, are read as they stand.
TEST(ClusterFile, TheDocumentationShowsValidFiles) {
  for (const char* page : {"docs/cluster-file.md", "docs/zh-CN/cluster-file.md"}) {
    const std::string text = read_file(std::string(WEFT_SOURCE_DIR) + "/" + page);
    const std::string fence = "```yaml\n";
    std::size_t count = 0;
    for (std::size_t at = text.find(fence); at != std::string::npos; at = text.find(fence, at)) {
      at += fence.size();
      const ClusterSpec spec = parse_cluster(text.substr(at, text.find("```", at) - at), page);
      EXPECT_GT(spec.server_count(), 1u);
      ++count;
    }
    EXPECT_EQ(count, 4u) << page;
  }
}

TEST(ClusterFile, IsRecognisedByItsHeader) {
  EXPECT_TRUE(is_cluster_file("# text\n\nweft: cluster/1\n"));
  EXPECT_FALSE(is_cluster_file("weft: server/1\n"));
  EXPECT_FALSE(is_cluster_file("servers: []\n"));
}

}  // namespace
}  // namespace weft::import
