// Any text through parse_cluster: a spec that holds together, or faults with line and column.
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

#include "base/check.h"
#include "import/cluster_yaml.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  static_cast<void>(weft::import::is_cluster_file(text));
  try {
    const weft::import::ClusterSpec spec = weft::import::parse_cluster(text, "fuzzed");
    std::set<std::string> names;
    for (const auto& group : spec.servers) {
      CHECK(!group.names.empty() && !group.type.text.empty());
      for (const std::string& name : group.names) CHECK(names.insert(name).second);
    }
    CHECK(!names.empty());
    for (const auto& link : spec.links) {
      for (const auto& end : link.ends) CHECK(end.on_server == names.contains(end.device));
    }
  } catch (const weft::InputError& error) {
    CHECK(!error.diagnostics().empty());
    for (const weft::Diagnostic& fault : error.diagnostics()) {
      CHECK(fault.where.line > 0 && fault.where.column > 0 && !fault.what.empty());
    }
  }
  return 0;
}
