// The fingerprints file: every name in it is one of the catalogue, and a wrong one is refused.
#include "import/server_hints.h"

#include <gtest/gtest.h>

#include "import/dump_test_support.h"
#include "import/server_sketch.h"

namespace weft::import {
namespace {

TEST(ServerHints, EveryModelIsInTheCatalogue) {
  const ServerHints& hints = shipped_hints();
  const auto known = [](const std::string& model) {
    return model.empty() || shipped_catalogue().part(model) != nullptr;
  };
  for (const ServerFingerprint& server : hints.servers) {
    EXPECT_TRUE(known(server.gpu)) << server.gpu;
    EXPECT_TRUE(known(server.nic)) << server.nic;
  }
  for (const auto& by : hints.by_nvlinks) EXPECT_TRUE(known(by.model)) << by.model;
  for (const auto& by : hints.by_number) EXPECT_TRUE(known(by.model)) << by.model;
}

// A wiring by pairs uses no more links than the GPU has.
TEST(ServerHints, WiringsFitTheGpus) {
  for (const auto& usual : shipped_hints().wirings) {
    if (usual.wiring.kind != NvlinkWiring::Kind::pairs) continue;
    std::vector<int> used(static_cast<std::size_t>(usual.gpus), 0);
    for (const GpuPair& pair : usual.wiring.pairs) {
      ASSERT_LT(std::max(pair.a, pair.b), usual.gpus) << usual.wiring.name;
      used[static_cast<std::size_t>(pair.a)] += pair.links;
      used[static_cast<std::size_t>(pair.b)] += pair.links;
    }
    for (const std::string& model : shipped_catalogue().names(fabric::DeviceKind::gpu)) {
      if (!model.starts_with(usual.model_prefix)) continue;
      for (const int links : used) {
        EXPECT_EQ(links, shipped_catalogue().nvlink_of(model).links)
            << model << " in " << usual.wiring.name;
      }
    }
  }
}

// The links a GPU has over the chips of its board add up to what its model has.
TEST(ServerHints, ChipsAddUpToTheLinksOfSomeGpu) {
  for (const auto& row : shipped_hints().chips) {
    int sum = 0;
    for (const int links : row.links) sum += links;
    bool found = false;
    for (const std::string& model : shipped_catalogue().names(fabric::DeviceKind::gpu)) {
      const NvlinkPort port = shipped_catalogue().nvlink_of(model);
      found = found || (port.generation == row.generation && port.links == sum);
    }
    EXPECT_TRUE(found) << "NVLink " << row.generation << ", " << sum << " links";
  }
}

TEST(ServerHints, AnUnknownWiringIsRefused) {
  try {
    read_hints(
        {"hints.yaml",
         "schema: weft/fingerprints/1\n"
         "usual_wirings:\n"
         "  - {gpu_prefix: a100, gpus: 8, nvlink: nvswich, source: s, confidence: estimate}\n"});
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_EQ(error.diagnostics()[0].where.line, 3);
    EXPECT_NE(error.diagnostics()[0].hint.find("nvswitch"), std::string::npos);
  }
}

TEST(ServerSketch, ShapeIsTheSameWhateverTheOrder) {
  ServerSketch a;
  a.cpus.resize(2);
  a.host_bridges = {{0, true}, {1, true}};
  const auto node = [](ServerSketch::Kind kind, std::size_t bridge,
                       std::optional<std::size_t> parent) {
    ServerSketch::Node n;
    n.kind = kind;
    n.host_bridge = bridge;
    n.parent = parent;
    return n;
  };
  using Kind = ServerSketch::Kind;
  a.nodes = {node(Kind::nic, 0, {}), node(Kind::pcie_switch, 0, {}), node(Kind::nic, 0, 1),
             node(Kind::gpu, 0, 1), node(Kind::gpu, 1, {})};
  EXPECT_EQ(shape_of(a), "[g][n(gn)]");
  ServerSketch b = a;
  b.host_bridges = {{1, true}, {0, true}};  // the sockets change places
  EXPECT_EQ(shape_of(b), shape_of(a));
}

}  // namespace
}  // namespace weft::import
