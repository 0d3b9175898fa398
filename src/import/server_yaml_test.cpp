// Server files: what is built, and that faults are found. Matrices: server_matrix_test.cpp.
#include <gtest/gtest.h>

#include <filesystem>

#include "base/text.h"
#include "fabric/nvlink.h"
#include "import/importer.h"
#include "import/shipped_catalogue.h"

namespace weft::import {
namespace {

using fabric::DeviceKind;
using fabric::Fabric;
using fabric::LinkKind;
using fabric::ServerId;

Fabric read_text(const std::string& text) {
  return find_importer("server_yaml")->read({"s.yaml", text}, {&shipped_catalogue(), nullptr});
}

Fabric shipped(const std::string& name) {
  const std::string path = std::string(WEFT_SOURCE_DIR) + "/data/servers/" + name + ".yaml";
  return import_any({path, read_file(path)}, {&shipped_catalogue(), nullptr});
}

std::size_t links_of(const Fabric& fabric, LinkKind kind) {
  std::size_t count = 0;
  for (std::size_t l = 0; l < fabric.link_count(); l += 2) {
    count += fabric.link_class(fabric::LinkId(l)).kind == kind ? 1 : 0;
  }
  return count;
}

TEST(ServerYaml, BuildsDevicesInTheOrderOfTheirNumbers) {
  const Fabric f = read_text(R"(# a comment may come first
weft: server/1
numa_nodes:
  - cpu: amd-milan
    count: 2
    affinity: [0-7, 8-15]
    host_bridges:
      - below:
          - switch: pex88096
            pcie: gen4 x16
            acs: true
            below:
              - {gpu: a100-pcie-80gb, count: 2}
              - {nic: connectx6, functions: 2, rate: 100Gbps, speaks: ethernet, name: "mlx5_#"}
)");
  EXPECT_EQ(f.server_count(), 1u);
  EXPECT_EQ(f.of_kind(DeviceKind::gpu).size(), 4u);
  EXPECT_EQ(f.of_kind(DeviceKind::nic).size(), 4u);
  EXPECT_EQ(f.of_kind(DeviceKind::cpu).size(), 2u);
  EXPECT_EQ(f.of_kind(DeviceKind::pcie_switch).size(), 4u);  // two, and a slot for each card
  const auto gpu2 = *f.find("gpu2");
  EXPECT_EQ(f.info(gpu2).numa, 1);
  EXPECT_EQ(f.info(gpu2).local_index, 2u);
  EXPECT_EQ(f.label(gpu2, "cpu_affinity"), "8-15");
  EXPECT_EQ(f.label(*f.find("nic3"), "nic_name"), "mlx5_3");
  EXPECT_EQ(f.device_class(*f.find("nic3")).port_rate, BitRate::gigabits_per_second(100));
  EXPECT_EQ(f.device_class(*f.find("nic3")).port_kind, LinkKind::ethernet);
  EXPECT_TRUE(f.info(*f.find("pcie0")).acs_redirect);
  EXPECT_FALSE(f.info(*f.find("slot0")).acs_redirect);
  // GPUs and NICs took their PCIe width from the catalogue, which the file did not say.
  EXPECT_EQ(f.assumptions().size(), 2u);
  // Two sockets: one link with 4 x 32 GB/s of xGMI, of which peers get 16 GB/s.
  ASSERT_EQ(links_of(f, LinkKind::inter_socket), 1u);
  for (std::size_t l = 0; l < f.link_count(); ++l) {
    const auto& c = f.link_class(fabric::LinkId(l));
    if (c.kind != LinkKind::inter_socket) continue;
    EXPECT_NEAR(c.raw_rate.gb_per_s(), 128, 1e-6);
    EXPECT_NEAR(c.peer_rate.gb_per_s(), 16, 1e-6);
  }
}

TEST(ServerYaml, EveryShippedServerIsRead) {
  std::size_t count = 0;
  const std::string folder = std::string(WEFT_SOURCE_DIR) + "/data/servers";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".yaml") continue;
    const Fabric f = shipped(entry.path().stem().string());
    // Hosts of network tests have adapters only, some drawings of copy tests GPUs only.
    EXPECT_FALSE(f.of_kind(DeviceKind::gpu).empty() && f.of_kind(DeviceKind::nic).empty())
        << entry.path();
    ++count;
  }
  EXPECT_GE(count, 16u);
}

struct Wiring {
  const char* server;
  std::size_t gpus, nics, nvswitches;
  int nvlinks_a_gpu;
};

class ShippedWiring : public testing::TestWithParam<Wiring> {};

// Each GPU uses exactly the NVLinks its model has, whatever the wiring.
TEST_P(ShippedWiring, UsesTheLinksOfEveryGpu) {
  const Wiring& w = GetParam();
  const Fabric f = shipped(w.server);
  EXPECT_EQ(f.of_kind(DeviceKind::gpu).size(), w.gpus);
  EXPECT_EQ(f.of_kind(DeviceKind::nic).size(), w.nics);
  EXPECT_EQ(f.of_kind(DeviceKind::nvswitch).size(), w.nvswitches);
  for (const auto gpu : f.of_kind(DeviceKind::gpu)) {
    int links = 0;
    for (const auto link : f.out_links(gpu)) {
      if (f.link_class(link).kind == LinkKind::nvlink) links += f.link_class(link).width;
    }
    EXPECT_EQ(links, w.nvlinks_a_gpu);
  }
}

INSTANTIATE_TEST_SUITE_P(All, ShippedWiring,
                         testing::Values(Wiring{"dgx1-v100", 8, 4, 0, 6},    // 2 x 2 + 2 x 1
                                         Wiring{"dgx2", 16, 8, 12, 6},       // 6 chips x 1
                                         Wiring{"dgx-a100", 8, 8, 6, 12},    // 6 chips x 2
                                         Wiring{"azure-ndv4", 8, 8, 6, 12},  //
                                         Wiring{"azure-ndv2", 8, 1, 0, 6},   //
                                         Wiring{"aws-p4d", 8, 4, 6, 12},     //
                                         Wiring{"aws-p5", 8, 32, 4, 18},     // 5 + 4 + 4 + 5
                                         Wiring{"hgx-h100", 8, 8, 4, 18},    //
                                         Wiring{"hgx-h200", 8, 8, 4, 18},    //
                                         Wiring{"hgx-b200", 8, 8, 2, 18},    // 2 chips x 9
                                         Wiring{"gb200-nvl72-tray", 4, 4, 0,
                                                0},  // its NVLinks leave the tray
                                         Wiring{"leonardo-a100x4", 4, 4, 0, 12},  // 3 peers x 4
                                         Wiring{"mi300x-oam", 8, 8, 0, 0},        // xGMI
                                         Wiring{"gh200", 1, 2, 0, 0}),
                         [](const auto& info) {
                           std::string name = info.param.server;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(ServerYaml, JoinsMi300xPairwise) {
  const Fabric f = shipped("mi300x-oam");
  EXPECT_EQ(links_of(f, LinkKind::xgmi), 28u);  // 8 * 7 / 2
}

// The catalogue's NVLink rows and the NVLink model state the same rates.
TEST(ServerYaml, NvlinkRatesOfCatalogueAndModelAgree) {
  for (int generation = 1; generation <= fabric::kMaxNvlinkGeneration; ++generation) {
    const auto link = shipped_catalogue().link("nvlink" + std::to_string(generation));
    ASSERT_TRUE(link);
    EXPECT_EQ(link->raw_rate, fabric::nvlink_stated_rate(generation)) << generation;
  }
}

TEST(ServerYaml, ReportsEveryFaultAtOnce) {
  try {
    read_text(R"(weft: server/1
numa_nodes:
  - cpu: intel-skylake
    host_bridges:
      - below:
          - {gpu: h100-sxm5-80, pcie: gen5 x16}
          - {gpu: v100-sxm2-16gb, pcie: gen4 x16}
          - {switch: pex88096, below: []}
nvlink:
  - {pairs: [0-1, 0-9, 1-1], links: 8}
)");
    FAIL() << "accepted a broken file";
  } catch (const InputError& error) {
    std::vector<std::string> found;
    for (const Diagnostic& d : error.diagnostics()) {
      EXPECT_FALSE(d.hint.empty()) << d.what;
      found.push_back(std::to_string(d.where.line) + ":" + std::to_string(d.where.column) + " " +
                      d.what);
    }
    EXPECT_EQ(found, (std::vector<std::string>{
                         "3:10 unknown cpu 'intel-skylake'",
                         "6:19 unknown gpu 'h100-sxm5-80'",
                         "7:41 v100-sxm2-16gb has PCIe gen3 x16, which cannot run as gen4 x16",
                         "8:13 pex88096 has no 'pcie'",
                         "10:5 GPU 1 uses 8 NVLinks, v100-sxm2-16gb has 6",
                         "10:19 '0-9' names a device that the file does not have",
                         "10:24 '1-1' joins a device to itself",
                     }));
  }
}

TEST(ServerYaml, RecognisesItsHeaderOnly) {
  const Importer& row = *find_importer("server_yaml");
  EXPECT_TRUE(row.recognises({"a", "# hello\n\nweft: server/1\n"}));
  EXPECT_FALSE(row.recognises({"a", "weft: cluster/1\n"}));
  EXPECT_FALSE(row.recognises({"a", "<system/>"}));
  EXPECT_FALSE(row.recognises({"a", ""}));
}

}  // namespace
}  // namespace weft::import
