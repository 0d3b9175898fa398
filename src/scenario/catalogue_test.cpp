// The catalogue where it meets server and cluster files: one truth for a server, parts of the
// user's own, switches that cannot be built from what is published.
#include <gtest/gtest.h>

#include <filesystem>

#include "base/test_folder.h"
#include "base/text.h"
#include "data/embedded.h"
#include "scenario/session.h"

namespace weft::scenario {
namespace {

const Library& library() {
  static const Library kLibrary = [] {
    std::vector<ShippedFile> files;
    for (const data::EmbeddedFile& file : data::embedded_files()) {
      files.push_back({std::string(file.path), std::string(file.text)});
    }
    return Library(std::move(files));
  }();
  return kLibrary;
}

// What is bought and what is wired are one server: the same GPUs, as many NICs between them.
TEST(CatalogueServers, HaveTheGpusAndNicsOfTheirWiring) {
  int wired = 0;
  for (const import::PartRecord* record : library().catalogue().records_of("servers")) {
    const std::string wiring(record->word("wiring"));
    if (wiring.empty()) continue;
    ++wired;
    const Cluster server = open_cluster(library(), wiring, {});
    const auto gpus = server.fabric->of_kind(fabric::DeviceKind::gpu);
    EXPECT_EQ(gpus.size(), record->number("gpus")) << record->name;
    if (const auto nics = record->number("nics")) {
      EXPECT_EQ(server.fabric->of_kind(fabric::DeviceKind::nic).size(), *nics) << record->name;
    }
    if (record->word("gpu").empty()) continue;
    EXPECT_EQ(server.fabric->device_class(gpus.front()).model, record->word("gpu"));
  }
  EXPECT_GE(wired, 3);
}

class OwnCatalogue : public testing::Test {
 protected:
  void SetUp() override {
    write_file(folder_.file("parts.yaml"), R"(weft: catalogue/1
sources: {offer: "An offer"}
switches:
  - {model: my-switch, name: "Mine", kind: network, ports: {400Gbps: 48}, latency: 250ns,
     sources: {all: offer quote}}
)");
  }
  std::string cluster(std::string_view catalogue, std::string_view model) {
    const std::string path = folder_.file("cluster.yaml");
    write_file(path, "weft: cluster/1\n" + std::string(catalogue) +
                         "servers: [{type: hgx-h100, count: 2}]\n"
                         "fabric: {topology: single_switch, link: ndr, switch: " +
                         std::string(model) + "}\n");
    return path;
  }
  TestFolder folder_;
};

TEST_F(OwnCatalogue, OfAClusterFileIsFoundBesideIt) {
  const Cluster own = open_cluster(library(), cluster("catalogue: parts.yaml\n", "my-switch"), {});
  const auto switches = own.fabric->of_kind(fabric::DeviceKind::network_switch);
  ASSERT_FALSE(switches.empty());
  EXPECT_EQ(own.fabric->device_class(switches.front()).forwarding_latency,
            Duration::nanoseconds(250));
  EXPECT_THROW(open_cluster(library(), cluster("", "my-switch"), {}), InputError);
  EXPECT_THROW(open_cluster(library(), cluster("catalogue: none.yaml\n", "my-switch"), {}),
               InputError);
}

TEST_F(OwnCatalogue, OfTheCommandLineServesEveryFile) {
  const Library own = library().with_catalogues({{folder_.file("parts.yaml"), {}}});
  EXPECT_NO_THROW(open_cluster(own, cluster("", "my-switch"), {}));
  EXPECT_EQ(own.catalogue().record("my-switch")->figure("latency")->confidence, "quote");
}

TEST_F(OwnCatalogue, ASwitchWithoutPublishedPortsIsRefusedUnlessTheyAreGiven) {
  EXPECT_THROW(open_cluster(library(), cluster("", "zte-51t"), {}), InputError);
  EXPECT_NO_THROW(open_cluster(library(), cluster("", "{model: zte-51t, radix: 64}"), {}));
}

}  // namespace
}  // namespace weft::scenario
