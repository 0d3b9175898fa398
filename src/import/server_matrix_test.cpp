// The matrix of `nvidia-smi topo -m`, computed from a server file, equals the one that the machine
// printed. Matrices: tests/data/topo; servers: data/servers, or tests/data/servers for machines
// that are not shipped.
#include <gtest/gtest.h>

#include <filesystem>

#include "base/text.h"
#include "fabric/path_class.h"
#include "import/importer.h"
#include "import/shipped_catalogue.h"

namespace weft::import {
namespace {

struct Published {
  std::vector<std::string> headers;
  std::vector<std::vector<std::string>> cells;
};

Published published(const std::string& name) {
  Published m;
  const std::string text =
      read_file(std::string(WEFT_SOURCE_DIR) + "/tests/data/topo/" + name + ".txt");
  for (const std::string_view line : split(text, '\n')) {
    if (line.empty() || line.front() == '#') continue;
    const auto words = split_whitespace(line);
    if (m.headers.empty()) {
      m.headers.assign(words.begin(), words.end());
    } else {
      m.cells.emplace_back(words.begin() + 1, words.end());
    }
  }
  return m;
}

fabric::Fabric server(const std::string& name) {
  std::string path = std::string(WEFT_SOURCE_DIR) + "/data/servers/" + name + ".yaml";
  if (!std::filesystem::exists(path)) {
    path = std::string(WEFT_SOURCE_DIR) + "/tests/data/servers/" + name + ".yaml";
  }
  return import_any({path, read_file(path)}, {&shipped_catalogue(), nullptr});
}

// Cells that differ, as "GPU0 NIC0: NODE, published SYS". A published matrix without NIC rows is
// compared for the GPUs only.
std::vector<std::string> differences(const std::string& name) {
  const Published expected = published(name);
  const fabric::Fabric fabric = server(name);
  const auto matrix = fabric::topology_matrix(fabric, fabric::ServerId(0));
  std::vector<std::string> out;
  if (matrix.devices.size() < expected.headers.size()) out.push_back("devices are missing");
  for (const auto& row : expected.cells) {
    if (row.size() != expected.headers.size()) return {"the published matrix is not square"};
  }
  if (expected.cells.size() != expected.headers.size()) return {"rows are missing"};
  const std::size_t gpus = fabric.of_kind(fabric::DeviceKind::gpu).size();
  const std::size_t n = std::min(expected.headers.size(), matrix.devices.size());
  if (n != gpus && n != matrix.devices.size()) out.push_back("numbers of NICs differ");
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      const std::string found = to_text(matrix.cells[i][j]);
      if (found == expected.cells[i][j]) continue;
      out.push_back(matrix.headers[i] + " " + matrix.headers[j] + ": " + found + ", published " +
                    expected.cells[i][j]);
    }
  }
  return out;
}

class Matrix : public testing::TestWithParam<const char*> {};

TEST_P(Matrix, EqualsThePublishedOne) {
  EXPECT_EQ(differences(GetParam()), std::vector<std::string>{});
}

INSTANTIATE_TEST_SUITE_P(Shipped, Matrix,
                         testing::Values("dgx1-v100", "aws-p4d", "hgx-h100", "hgx-b200"));
INSTANTIATE_TEST_SUITE_P(Others, Matrix,
                         testing::Values("hgx-h100-12nic", "l4-phb", "pcie-4plus4", "rtx4090-nps4",
                                         "rtx4090-5plus3", "rtx4090-4plus4", "rtx6000ada",
                                         "a100-8x100g", "a100-4gpu-nps4"));

// Leonardo's driver prints SYS between root ports of its one socket (it reports no NUMA node for
// them), where a socket's root ports are NODE to each other. Everything else is equal.
TEST(MatrixOfLeonardo, DiffersOnlyWhereTheDriverKnowsNoNumaNode) {
  const auto found = differences("leonardo-a100x4");
  // 4 GPUs x 3 foreign NICs, both ways, and 4 NICs x 3 others.
  EXPECT_EQ(found.size(), 4u * 3u * 2u + 4u * 3u);
  for (const std::string& difference : found) {
    EXPECT_NE(difference.find(": NODE, published SYS"), std::string::npos) << difference;
  }
}

}  // namespace
}  // namespace weft::import
