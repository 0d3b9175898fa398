// For tests only: real dumps of tests/data, imported in the context that the program gives them.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "fabric/path_class.h"
#include "import/importer.h"
#include "import/server_hints.h"
#include "import/shipped_catalogue.h"

namespace weft::import {

inline const ServerHints& shipped_hints() {
  static const ServerHints kHints = [] {
    const std::string path = std::string(WEFT_SOURCE_DIR) + "/data/fingerprints/servers.yaml";
    return read_hints({path, read_file(path)});
  }();
  return kHints;
}

inline ImportInputs dump_test_context() {
  return {.catalogue = &shipped_catalogue(), .loader = nullptr, .hints = &shipped_hints()};
}

// "nccl/aws_p4d.xml"
inline fabric::Fabric import_data(const std::string& name) {
  const std::string path = std::string(WEFT_SOURCE_DIR) + "/tests/data/" + name;
  return import_any({path, read_file(path)}, dump_test_context());
}

inline fabric::Fabric import_dump(const std::string& text) {
  return import_any({"dump", text}, dump_test_context());
}

inline std::size_t count(const fabric::Fabric& f, fabric::DeviceKind kind) {
  return f.of_kind(kind).size();
}

inline bool assumes(const fabric::Fabric& f, std::string_view part) {
  return std::any_of(f.assumptions().begin(), f.assumptions().end(),
                     [part](const std::string& a) { return a.find(part) != a.npos; });
}

inline fabric::DeviceId device_at(const fabric::Fabric& f, std::string_view bus_id) {
  for (std::size_t i = 0; i < f.device_count(); ++i) {
    if (f.label(fabric::DeviceId(i), "bus_id") == bus_id) return fabric::DeviceId(i);
  }
  return {};
}

// The PCIe link of a device towards the CPU: links are added from above to below.
inline const fabric::LinkClass& uplink(const fabric::Fabric& f, fabric::DeviceId device) {
  for (const fabric::LinkId link : f.out_links(device)) {
    const bool up = link.index() % 2 == 1;
    if (up && f.link_class(link).kind == fabric::LinkKind::pcie) return f.link_class(link);
  }
  static const fabric::LinkClass kNone;
  return kNone;
}

// Cells of row `i` of the matrix, blanks between.
inline std::string matrix_row(const fabric::Fabric& f, std::size_t i) {
  const auto matrix = fabric::topology_matrix(f, fabric::ServerId(0));
  std::string out;
  for (const fabric::PathClass& cell : matrix.cells[i]) {
    if (!out.empty()) out += ' ';
    out += fabric::to_text(cell);
  }
  return out;
}

// The first fault that `text` is refused for; fails when it is not.
inline Diagnostic fault_of(const std::string& text) {
  try {
    import_dump(text);
  } catch (const InputError& error) {
    return error.diagnostics().front();
  }
  return {{}, "accepted", {}, {}};
}

}  // namespace weft::import
