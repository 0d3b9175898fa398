// Reads data/constants/path_costs.yaml. One row of kRows a constant; a constant without a row, or a
// row without a constant, is a fault of the file.
#include <fmt/format.h>

#include <array>
#include <set>
#include <variant>

#include "base/yaml.h"
#include "fabric/path_costs.h"

namespace weft::fabric {

namespace {

using Member =
    std::variant<Duration PathCosts::*, double PathCosts::*, Bytes PathCosts::*, int PathCosts::*>;
struct Row {
  std::string_view name;
  Member member;
};
const std::vector<Row>& rows() {
  static const std::vector<Row> kRows = {
      {"copy_launch", &PathCosts::copy_launch},
      {"copy_engine_nvlink_efficiency", &PathCosts::copy_engine_nvlink_efficiency},
      {"copy_engine_early_nvlink_efficiency", &PathCosts::copy_engine_early_nvlink_efficiency},
      {"sm_nvlink_efficiency", &PathCosts::sm_nvlink_efficiency},
      {"sm_nvlink3_efficiency", &PathCosts::sm_nvlink3_efficiency},
      {"sm_nvlink5_efficiency", &PathCosts::sm_nvlink5_efficiency},
      {"copy_engine_pcie_efficiency", &PathCosts::copy_engine_pcie_efficiency},
      {"c2c_read_efficiency", &PathCosts::c2c_read_efficiency},
      {"c2c_write_efficiency", &PathCosts::c2c_write_efficiency},
      {"gpu_memory_access", &PathCosts::gpu_memory_access},
      {"pcie_read_tags", &PathCosts::pcie_read_tags},
      {"staging_chunk", &PathCosts::staging_chunk},
      {"staging_slots", &PathCosts::staging_slots},
      {"pageable_copy_gb_per_s", &PathCosts::pageable_copy_gb_per_s},
      {"post_wqe", &PathCosts::post_wqe},
      {"doorbell", &PathCosts::doorbell},
      {"wqe_fetch", &PathCosts::wqe_fetch},
      {"completion", &PathCosts::completion},
      {"registration_base", &PathCosts::registration_base},
      {"registration_ns_per_byte", &PathCosts::registration_ns_per_byte},
      {"gpu_direct_extra", &PathCosts::gpu_direct_extra},
      {"system_call", &PathCosts::system_call},
      {"socket_copy_ns_per_byte", &PathCosts::socket_copy_ns_per_byte},
      {"segment_cost", &PathCosts::segment_cost},
      {"segment", &PathCosts::segment},
      {"driver_per_frame", &PathCosts::driver_per_frame},
      {"interrupt", &PathCosts::interrupt},
      {"interrupt_coalescing", &PathCosts::interrupt_coalescing},
      {"wake_up", &PathCosts::wake_up},
      {"tcp_mss", &PathCosts::tcp_mss},
      {"tcp_overhead", &PathCosts::tcp_overhead},
      {"memory_access", &PathCosts::memory_access},
      {"remote_numa_extra", &PathCosts::remote_numa_extra},
      {"pcie_switch_forwarding", &PathCosts::pcie_switch_forwarding},
      {"host_bridge_forwarding", &PathCosts::host_bridge_forwarding},
      {"nvswitch_forwarding", &PathCosts::nvswitch_forwarding},
      {"infiniband_switch_forwarding", &PathCosts::infiniband_switch_forwarding},
      {"ethernet_switch_forwarding", &PathCosts::ethernet_switch_forwarding},
      {"intel_peer_split", &PathCosts::intel_peer_split},
  };
  return kRows;
}

std::vector<std::string> row_names() {
  std::vector<std::string> names;
  for (const Row& row : rows()) names.emplace_back(row.name);
  return names;
}

// Reads "value" as the member's type wants it; a value that is missing or not positive is reported.
void read_value(Fields& fields, const Member& member, PathCosts& costs) {
  bool given = false;
  if (const auto* duration = std::get_if<Duration PathCosts::*>(&member)) {
    const auto value = fields.optional_duration("value");
    given = value && value->ps() > 0;
    if (given) costs.*(*duration) = *value;
  } else if (const auto* size = std::get_if<Bytes PathCosts::*>(&member)) {
    const auto value = fields.optional_bytes("value");
    given = value && value->count() > 0;
    if (given) costs.*(*size) = *value;
  } else if (const auto* count = std::get_if<int PathCosts::*>(&member)) {
    const auto value = fields.optional_int("value", 1, 1'000'000);
    given = value.has_value();
    if (given) costs.*(*count) = static_cast<int>(*value);
  } else {
    const auto value = fields.optional_double("value", 1e-6, 1e6);
    given = value.has_value();
    if (given) costs.*std::get<double PathCosts::*>(member) = *value;
  }
  if (!given) fields.complain("value", "a value above zero is needed");
}

void read_constant(const YamlNode& node, Diagnostics& diagnostics, std::set<std::size_t>& seen,
                   PathCosts& costs) {
  Fields fields(node, "constant", diagnostics);
  const auto index = fields.optional_choice("name", row_names());
  if (index) {
    if (!seen.insert(*index).second) fields.complain("name", "this constant is given twice");
    read_value(fields, rows()[*index].member, costs);
  } else if (!fields.has("name")) {
    fields.complain("name", "a constant needs a name");
  }
  (void)fields.optional_string("unit");
  (void)fields.optional_string("meaning");
  (void)fields.required_string("source");
  const std::vector<std::string> confidences = {"datasheet", "measured", "standard", "estimate"};
  if (!fields.has("confidence")) fields.complain("confidence", "a constant needs a confidence");
  (void)fields.optional_choice("confidence", confidences);
  if (index || fields.has("name")) fields.finish();
}

}  // namespace

PathCosts read_path_costs(std::string_view text, const std::string& file) {
  PathCosts costs;
  const YamlNode root = parse_yaml(text, file);
  Diagnostics diagnostics;
  Fields fields(root, "file", diagnostics);
  if (fields.required_string("weft") != "path_costs/1") {
    fields.complain("weft", "this is no file of path costs", "begin it with 'weft: path_costs/1'");
  }
  std::set<std::size_t> seen;
  for (const YamlNode& node : fields.optional_list("constants")) {
    read_constant(node, diagnostics, seen, costs);
  }
  for (std::size_t i = 0; i < rows().size(); ++i) {
    if (!seen.contains(i)) {
      fields.complain("constants", fmt::format("constant '{}' is missing", rows()[i].name));
    }
  }
  fields.finish();
  diagnostics.throw_if_any(text);
  return costs;
}

}  // namespace weft::fabric
