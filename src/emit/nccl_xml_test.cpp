// A server that is written for NCCL and read again has the path classes that it had.
#include <gtest/gtest.h>

#include <filesystem>

#include "emit/emitter.h"
#include "import/dump_test_support.h"

namespace weft::emit {
namespace {

// NCCL knows one host bridge a CPU, so what went between two bridges of one goes through one.
std::vector<std::vector<std::string>> matrix_of(const fabric::Fabric& f) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& row : fabric::topology_matrix(f, fabric::ServerId(0)).cells) {
    auto& cells = rows.emplace_back();
    for (const fabric::PathClass& cell : row) {
      const std::string text = fabric::to_text(cell);
      cells.push_back(text == "NODE" ? "PHB" : text);
    }
  }
  return rows;
}

std::string written(const fabric::Fabric& f) {
  return nccl_xml_emitter().write(f, {"test", 1, 1});
}

std::vector<std::string> servers() {
  std::vector<std::string> paths;
  const std::string root = WEFT_SOURCE_DIR;
  for (const auto& entry : std::filesystem::directory_iterator(root + "/data/servers"))
    paths.push_back(entry.path().string());
  for (const auto& entry : std::filesystem::directory_iterator(root + "/tests/data/nccl"))
    paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  return paths;
}

TEST(NcclXmlEmitter, EveryShippedServerKeepsItsMatrix) {
  std::size_t tried = 0;
  for (const std::string& path : servers()) {
    if (path.find("graph") != std::string::npos) continue;  // no topology
    if (path.ends_with(".md") || path.ends_with(".txt")) continue;
    const fabric::Fabric f =
        import::import_any({path, read_file(path)}, import::dump_test_context());
    if (f.of_kind(fabric::DeviceKind::gpu).empty()) {
      EXPECT_THROW(static_cast<void>(written(f)), InputError) << path;
      continue;
    }
    EXPECT_EQ(matrix_of(f), matrix_of(import::import_dump(written(f)))) << path << written(f);
    ++tried;
  }
  EXPECT_GT(tried, 40u);
}

// Addresses, names and rates of a real dump are kept.
TEST(NcclXmlEmitter, KeepsWhatTheMachineCalledThings) {
  const fabric::Fabric f = import::import_data("nccl/rccl_8p_90a.xml");
  const fabric::Fabric again = import::import_dump(written(f));
  for (const fabric::DeviceKind kind : {fabric::DeviceKind::gpu, fabric::DeviceKind::nic}) {
    const auto before = f.of_kind(kind), after = again.of_kind(kind);
    ASSERT_EQ(before.size(), after.size());
    ASSERT_FALSE(before.empty());
    for (std::size_t i = 0; i < before.size(); ++i) {
      EXPECT_EQ(f.label(before[i], "bus_id"), again.label(after[i], "bus_id"));
      EXPECT_EQ(f.label(before[i], "nic_name"), again.label(after[i], "nic_name"));
      EXPECT_EQ(f.device_class(before[i]).port_rate, again.device_class(after[i]).port_rate);
    }
  }
  const auto cpu = [](const fabric::Fabric& from) {
    return from.device_class(from.of_kind(fabric::DeviceKind::cpu)[0]);
  };
  EXPECT_EQ(cpu(f), cpu(again));
  for (std::size_t cpu = 0; cpu < f.of_kind(fabric::DeviceKind::cpu).size(); ++cpu)
    EXPECT_EQ(f.label(f.of_kind(fabric::DeviceKind::cpu)[cpu], "cpu_affinity"),
              again.label(again.of_kind(fabric::DeviceKind::cpu)[cpu], "cpu_affinity"));
}

}  // namespace
}  // namespace weft::emit
