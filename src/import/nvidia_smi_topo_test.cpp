// nvidia-smi topo -m: what is read back from the rebuilt server is the very matrix, for every
// published one, whatever has happened to the text on its way.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/text.h"
#include "fabric/path_class.h"
#include "import/dump_test_support.h"
#include "import/topo_table.h"

namespace weft::import {
namespace {

using fabric::DeviceKind;

fabric::Fabric import_text(const std::string& text) {
  return import_any({"topo.txt", text}, dump_test_context());
}

std::string data(const std::string& name) {
  return read_file(std::string(WEFT_SOURCE_DIR) + "/tests/data/topo_m/" + name + ".txt");
}

std::vector<std::string> all_matrices() {
  std::vector<std::string> names;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(WEFT_SOURCE_DIR) + "/tests/data/topo_m")) {
    names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// The words of a published text by the plainest of means: split at blanks.
struct Words {
  std::vector<std::string> names;
  std::vector<std::vector<std::string>> rows;  // cells, then affinity columns
};

Words words_of(const std::string& text) {
  Words out;
  for (const std::string_view line : split(text, '\n')) {
    const auto words = split_whitespace(line);
    if (words.empty()) continue;
    if (words[0] == "NIC" || words[0] == "Legend:") break;
    if (out.names.empty()) {
      for (const std::string_view word : words) {
        if (word == "CPU" || word == "NUMA" || word == "GPU") break;
        out.names.emplace_back(word);
      }
    } else {
      out.rows.emplace_back(words.begin() + 1, words.end());
    }
  }
  return out;
}

class Published : public testing::TestWithParam<std::string> {};

TEST_P(Published, MatrixAndAffinityComeBackAsPrinted) {
  const std::string text = data(GetParam());
  const Words words = words_of(text);
  const fabric::Fabric f = import_text(text);
  const auto matrix = fabric::topology_matrix(f, fabric::ServerId(0));
  const std::size_t n = words.names.size();
  ASSERT_EQ(matrix.cells.size(), n);
  ASSERT_EQ(words.rows.size(), n);
  for (std::size_t row = 0; row < n; ++row) {
    ASSERT_GE(words.rows[row].size(), n);
    for (std::size_t column = 0; column < n; ++column) {
      EXPECT_EQ(fabric::to_text(matrix.cells[row][column]), words.rows[row][column])
          << words.names[row] << " - " << words.names[column];
    }
    if (row >= matrix.cpu_affinity.size()) continue;
    const std::vector<std::string> found = {matrix.cpu_affinity[row], matrix.numa_affinity[row],
                                            matrix.gpu_numa_id[row]};
    for (std::size_t k = n; k < words.rows[row].size(); ++k) {
      EXPECT_EQ(found[k - n], words.rows[row][k]) << words.names[row];
    }
  }
}

TEST_P(Published, EveryLinkHasARateAndEveryAssumptionIsTold) {
  const fabric::Fabric f = import_text(data(GetParam()));
  for (std::size_t i = 0; i < f.link_count(); ++i) {
    EXPECT_GT(f.link_class(fabric::LinkId(i)).raw_rate.bps(), 0);
  }
  EXPECT_FALSE(f.assumptions().empty());  // the matrix never names models or speeds
}

INSTANTIATE_TEST_SUITE_P(All, Published, testing::ValuesIn(all_matrices()),
                         [](const auto& info) { return info.param; });

std::string model_of_first_gpu(const fabric::Fabric& f) {
  return f.device_class(f.of_kind(DeviceKind::gpu)[0]).model;
}

TEST(NvidiaSmiTopo, NamesTheGpuByItsNvlinks) {
  EXPECT_EQ(model_of_first_gpu(import_text(data("a100_p4d_8gpu_aws"))), "a100-sxm4-80gb");
  EXPECT_EQ(model_of_first_gpu(import_text(data("h100_8gpu_nonic"))), "h100-sxm5-80gb");
  EXPECT_EQ(model_of_first_gpu(import_text(data("nv8_8gpu_6nic"))), "h800-sxm5-80gb");
  EXPECT_EQ(model_of_first_gpu(import_text(data("v100_8gpu_hybridcubemesh_nonic"))),
            "v100-sxm2-32gb");
  EXPECT_EQ(model_of_first_gpu(import_text(data("l4_8gpu_phb_2socket"))), "unknown-gpu");
}

TEST(NvidiaSmiTopo, SaysThatEighteenNvlinksFitSeveralGpus) {
  const fabric::Fabric f = import_text(data("b200_gke_a4_8gpu_8nic_roce"));
  const auto says = [](const std::string& a) { return a.find("B200") != std::string::npos; };
  EXPECT_TRUE(std::any_of(f.assumptions().begin(), f.assumptions().end(), says));
}

TEST(NvidiaSmiTopo, SpreadsNvlinksOverTheChipsOfTheBoard) {
  const fabric::Fabric a100 = import_text(data("a100_p4d_8gpu_aws"));
  EXPECT_EQ(a100.of_kind(DeviceKind::nvswitch).size(), 6u);  // 12 links, 2 to each of 6 chips
  const fabric::Fabric h100 = import_text(data("h100_8gpu_nonic"));
  EXPECT_EQ(h100.of_kind(DeviceKind::nvswitch).size(), 4u);  // 18 = 5 + 4 + 4 + 5
  EXPECT_EQ(import_text(data("nv4mesh_4gpu_2nic")).of_kind(DeviceKind::nvswitch).size(), 0u);
}

TEST(NvidiaSmiTopo, GivesGraceHopperItsChipToChipLink) {
  const fabric::Fabric f = import_text(data("gh200_1gpu_2nic"));
  const fabric::DeviceId gpu = f.of_kind(DeviceKind::gpu)[0];
  int c2c = 0;
  for (const fabric::LinkId link : f.out_links(gpu)) {
    if (f.link_class(link).kind != fabric::LinkKind::c2c) continue;
    ++c2c;
    EXPECT_EQ(f.kind(f.to(link)), DeviceKind::cpu);
    EXPECT_EQ(f.link_class(link).raw_rate.gb_per_s(), 450);  // NVLink-C2C: 900 GB/s both ways
  }
  EXPECT_EQ(c2c, 1);
}

TEST(NvidiaSmiTopo, DrawsPortsOfOneCardOnOneLink) {
  const fabric::Fabric f = import_text(data("pcie_4gpu_2dualport"));
  const auto nics = f.of_kind(DeviceKind::nic);
  ASSERT_EQ(nics.size(), 4u);
  EXPECT_EQ(f.to(f.out_links(nics[0])[0]), f.to(f.out_links(nics[1])[0]));
  EXPECT_NE(f.to(f.out_links(nics[0])[0]), f.to(f.out_links(nics[2])[0]));
}

// ---- what happens to such texts on their way

constexpr const char* kPlain =
    "\tGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity\n"
    "GPU0\t X \tNV4\tPIX\t0-15\t0\n"
    "GPU1\tNV4\t X \tSYS\t16-31\t1\n"
    "NIC0\tPIX\tSYS\t X \n";

void expect_as_plain(const std::string& text) {
  const fabric::Fabric plain_fabric = import_text(kPlain), fabric = import_text(text);
  const auto plain = fabric::topology_matrix(plain_fabric, fabric::ServerId(0));
  const auto found = fabric::topology_matrix(fabric, fabric::ServerId(0));
  EXPECT_EQ(found.cells, plain.cells);
  EXPECT_EQ(found.cpu_affinity, plain.cpu_affinity);
  EXPECT_EQ(found.numa_affinity, plain.numa_affinity);
}

TEST(NvidiaSmiTopo, ReadsTheUnderlinedHeaderOfATerminal) {
  expect_as_plain(
      "\t\x1b[4mGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity\x1b[0m\n"
      "GPU0\t X \tNV4\tPIX\t0-15\t0\n"
      "GPU1\tNV4\t X \tSYS\t16-31\t1\n"
      "NIC0\tPIX\tSYS\t X \n");
  expect_as_plain(
      "\t[4mGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity[0m\r\n"
      "GPU0\t X \tNV4\tPIX\t0-15\t0\r\n"
      "GPU1\tNV4\t X \tSYS\t16-31\t1\r\n"
      "NIC0\tPIX\tSYS\t X \r\n");
}

TEST(NvidiaSmiTopo, ReadsACopyWithPromptFenceQuotesAndNoTabs) {
  expect_as_plain(
      "user@node:~$ nvidia-smi topo -m\n"
      "```\n"
      "> GPU0 GPU1 NIC0 CPU Affinity NUMA Affinity\n"
      "> GPU0 X NV4 PIX 0-15 0\n"
      "> GPU1 NV4 X SYS 16-31 1\n"
      "> NIC0 PIX SYS X\n"
      "```\n");
}

TEST(NvidiaSmiTopo, ReadsLinesThatATerminalWrapped) {
  expect_as_plain(
      "        GPU0    GPU1\n    NIC0    CPU Affinity    NUMA Affinity\n"
      "GPU0     X      NV4 \n    PIX     0-15    0\n"
      "GPU1    NV4      X  \n    SYS     16-31   1\n"
      "NIC0    PIX     SYS \n     X\n");
}

TEST(NvidiaSmiTopo, TakesNicNamesFromTheLegendOrTheHeader) {
  const fabric::Fabric legend = import_text(
      std::string(kPlain) + "\nLegend:\n\n  X    = Self\n\nNIC Legend:\n\n  NIC0: mlx5_3\n");
  EXPECT_EQ(legend.label(legend.of_kind(DeviceKind::nic)[0], "nic_name"), "mlx5_3");
  const fabric::Fabric header = import_text(data("v100_ndv2_8gpu_4nic_tabs"));
  const auto nics = header.of_kind(DeviceKind::nic);
  const std::vector<std::string> order = {"mlx5_0", "mlx5_2", "mlx5_1",
                                          "mlx5_3"};  // as the columns
  for (std::size_t i = 0; i < nics.size(); ++i) {
    EXPECT_EQ(header.label(nics[i], "nic_name"), order[i]);
  }
}

TEST(NvidiaSmiTopo, WorksOutNicDistancesWhenTheirRowsWereCutOff) {
  // One GPU sees the NICs at PIX and SYS, so they are SYS apart; both see NIC1 and NIC2 at SYS.
  const fabric::Fabric f = import_text(
      "\tGPU0\tGPU1\tmlx5_0\tmlx5_1\tmlx5_2\tNUMA\n"
      "GPU0\tX\tNV4\tPIX\tSYS\tSYS\t0\n"
      "GPU1\tNV4\tX\tSYS\tPIX\tPIX\t1\n");
  const auto m = fabric::topology_matrix(f, fabric::ServerId(0));
  EXPECT_EQ(fabric::to_text(m.cells[2][3]), "SYS");
  EXPECT_EQ(fabric::to_text(m.cells[3][4]), "PIX");
}

TEST(NvidiaSmiTopo, CountsGpusFromZeroAndSaysSo) {
  const fabric::Fabric f = import_text(
      "\tGPU0\tGPU1\tGPU4\tNUMA\nGPU0\tX\tPIX\tSYS\t0\nGPU1\tPIX\tX\tSYS\t0\nGPU4\tSYS\tSYS\tX\t1"
      "\n");
  EXPECT_EQ(f.of_kind(DeviceKind::gpu).size(), 3u);
  const auto says = [](const std::string& a) {
    return a.starts_with("GPU4 of the source is GPU2");
  };
  EXPECT_TRUE(std::any_of(f.assumptions().begin(), f.assumptions().end(), says));
}

TEST(NvidiaSmiTopo, ReadsSocOfOldDriversAsSys) {
  const fabric::Fabric f = import_text("\tGPU0\tGPU1\nGPU0\tX\tSOC\nGPU1\tSOC\tX\n");
  const auto m = fabric::topology_matrix(f, fabric::ServerId(0));
  EXPECT_EQ(fabric::to_text(m.cells[0][1]), "SYS");
}

TEST(NvidiaSmiTopo, NamesBothCellsThatDisagree) {
  try {
    import_text("\tGPU0\tGPU1\nGPU0\tX\tSYS\nGPU1\tNODE\tX\n");
    FAIL() << "accepted an asymmetric matrix";
  } catch (const InputError& error) {
    const Diagnostic& d = error.diagnostics().front();
    EXPECT_EQ(d.where.line, 3);
    EXPECT_EQ(d.where.column, 6);
    EXPECT_NE(d.what.find("GPU0 - GPU1 says SYS (line 2, column 8)"), std::string::npos) << d.what;
  }
}

TEST(NvidiaSmiTopo, DoesNotClaimOtherTables) {
  EXPECT_FALSE(looks_like_topo_table("# gpu plane Gbps\n0-7 8 1000\n"));
  EXPECT_FALSE(looks_like_topo_table("GPU0: NVIDIA A100\nGPU1: NVIDIA A100\n"));
  EXPECT_FALSE(looks_like_topo_table("GPU0000000000000000000000000000000000\n"));
  EXPECT_TRUE(looks_like_topo_table(kPlain));
}

}  // namespace
}  // namespace weft::import
