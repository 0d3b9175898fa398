#include "topology/parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/text.h"
#include "topology/ports.h"
#include "topology/scale_up_domain.h"

namespace weft::topology {

namespace {

const Parameter* find_parameter(std::span<const Parameter> table, std::string_view name) {
  const auto at = std::find_if(table.begin(), table.end(),
                               [&](const Parameter& row) { return row.name == name; });
  return at == table.end() ? nullptr : &*at;
}

std::string unknown_parameter(std::span<const Parameter> table, const std::string& name) {
  std::vector<std::string> names;
  for (const Parameter& row : table) names.push_back(row.name);
  return fmt::format("unknown parameter '{}', {}", name, suggest(name, names));
}

std::string with_unit(double number, const std::string& unit) {
  return unit.empty() ? fmt::format("{}", number) : fmt::format("{} {}", number, unit);
}

}  // namespace

double value(const Inputs& inputs, std::span<const Parameter> table, std::string_view name) {
  const Parameter* const row = find_parameter(table, name);
  CHECK(row != nullptr);
  const auto given = inputs.parameters.find(row->name);
  return given == inputs.parameters.end() ? row->default_value : given->second;
}

std::optional<std::int64_t> whole_value(const Inputs& inputs, std::span<const Parameter> table,
                                        std::string_view name) {
  const double number = value(inputs, table, name);
  if (std::isnan(number)) return std::nullopt;
  return std::llround(number);
}

std::vector<std::string> check_parameters(const Inputs& inputs, std::span<const Parameter> table) {
  std::vector<std::string> faults;
  for (const auto& [name, number] : inputs.parameters) {
    const Parameter* const row = find_parameter(table, name);
    if (row == nullptr) {
      faults.push_back(unknown_parameter(table, name));
    } else if (!(number >= row->min && number <= row->max)) {  // catches NaN too
      faults.push_back(fmt::format("{} is {}, it must lie between {} and {}", name, number,
                                   row->min, with_unit(row->max, row->unit)));
    } else if (row->whole && number != std::floor(number)) {
      faults.push_back(fmt::format("{} is {}, it must be a whole number", name, number));
    }
  }
  return faults;
}

std::vector<std::string> check_inputs(const Inputs& inputs, std::span<const Parameter> table) {
  std::vector<std::string> faults = check_parameters(inputs, table);
  if (inputs.servers.empty()) {
    faults.emplace_back("there are no servers to connect");
  } else if (HostPorts(inputs).count() == 0) {
    faults.emplace_back("no server has a NIC port to connect");
  }
  if (inputs.host_link.raw_rate.bps() <= 0) faults.emplace_back("the host link has no rate");
  if (inputs.fabric_link.raw_rate.bps() <= 0) faults.emplace_back("the fabric link has no rate");
  if (!fabric::is_network(inputs.host_link.kind) || !fabric::is_network(inputs.fabric_link.kind)) {
    faults.emplace_back("host and fabric links must be network links, such as ethernet");
  }
  for (int tier = 1; tier <= 4; ++tier) {
    if (tier_class(inputs, tier).kind != fabric::DeviceKind::network_switch) {
      faults.push_back(fmt::format("'{}' is not a network switch", tier_class(inputs, tier).model));
      break;
    }
  }
  if (faults.empty() && inputs.scale_up) return refuse_scale_up(inputs, *inputs.scale_up);
  return faults;
}

fabric::DeviceClass tier_class(const Inputs& inputs, int tier) {
  const auto at = static_cast<std::size_t>(tier - 1);
  if (at < inputs.tier_switch_classes.size()) return inputs.tier_switch_classes[at];
  fabric::DeviceClass chosen = inputs.switch_class;
  const auto radix = inputs.parameters.find("radix");
  if (radix != inputs.parameters.end()) chosen.radix = static_cast<int>(radix->second);
  return chosen;
}

Parameter radix_parameter() {
  return {.name = "radix",
          .unit = "ports",
          .default_value = kDerived,
          .min = 2,
          .max = 65536,
          .meaning =
              "ports of a switch; default: those of the switch model. Give it for another "
              "breakout of the same box (64 x 800G = 128 x 400G)",
          .whole = true};
}

Parameter oversubscription_parameter(std::string name, std::string_view of) {
  return {.name = std::move(name),
          .unit = "ratio",
          .default_value = 1,
          .min = 0.01,
          .max = 1000,
          .meaning = fmt::format("bandwidth down over bandwidth up of {}; 1 is non-blocking, below "
                                 "1 there is more bandwidth up than down",
                                 of)};
}

Parameter leaf_hosts_parameter() {
  return {.name = "leaf_hosts",
          .unit = "ports",
          .default_value = kDerived,
          .min = 1,
          .max = 65536,
          .meaning = "host links of a leaf; default: as many as radix and oversubscription leave",
          .whole = true};
}

}  // namespace weft::topology
