// import_folder [--matrix] PATH...: imports every file given, or in the folders given, and prints
// one line each: what it became, or why it was refused. For looking at piles of dumps by hand.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "base/text.h"
#include "fabric/path_class.h"
#include "import/dump_test_support.h"

namespace {

using namespace weft;

std::vector<std::string> files_in(const std::string& path) {
  if (!std::filesystem::is_directory(path)) return {path};
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
    if (entry.is_regular_file()) files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string summary(const fabric::Fabric& f) {
  using fabric::DeviceKind;
  const auto gpus = f.of_kind(DeviceKind::gpu);
  std::size_t nvlinks = 0;
  for (std::size_t l = 0; l < f.link_count(); l += 2) {
    const auto kind = f.link_class(fabric::LinkId(l)).kind;
    if (kind == fabric::LinkKind::nvlink || kind == fabric::LinkKind::xgmi) ++nvlinks;
  }
  return fmt::format(
      "{} cpu, {} switch, {} gpu ({}), {} nic, {} nvswitch, {} scale-up bundles, {} "
      "assumptions",
      f.of_kind(DeviceKind::cpu).size(), f.of_kind(DeviceKind::pcie_switch).size(), gpus.size(),
      gpus.empty() ? "-" : f.device_class(gpus[0]).model, f.of_kind(DeviceKind::nic).size(),
      f.of_kind(DeviceKind::nvswitch).size(), nvlinks, f.assumptions().size());
}

void print_matrix(const fabric::Fabric& f) {
  const auto matrix = fabric::topology_matrix(f, fabric::ServerId(0));
  for (std::size_t i = 0; i < matrix.cells.size(); ++i) {
    fmt::print("    {:6}", matrix.headers[i]);
    for (const auto& cell : matrix.cells[i]) fmt::print(" {:4}", fabric::to_text(cell));
    if (i < matrix.cpu_affinity.size()) {
      fmt::print(" {} {} {}", matrix.cpu_affinity[i], matrix.numa_affinity[i],
                 matrix.gpu_numa_id[i]);
    }
    fmt::print("\n");
  }
  for (const std::string& assumption : f.assumptions()) fmt::print("    * {}\n", assumption);
}

}  // namespace

int main(int argc, char** argv) {
  bool matrix = false;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--matrix") {
      matrix = true;
      continue;
    }
    for (const std::string& path : files_in(argv[i])) {
      try {
        const import::Source source{path, read_file(path)};
        const fabric::Fabric f = import::import_any(source, import::dump_test_context());
        fmt::print("{}: {}\n", path, summary(f));
        if (matrix) print_matrix(f);
      } catch (const InputError& error) {
        const Diagnostic& first = error.diagnostics().front();
        fmt::print("{}: REFUSED ({} fault(s)) {}:{} {} [{}]\n", path, error.diagnostics().size(),
                   first.where.line, first.where.column, first.what, first.hint);
      }
    }
  }
}
