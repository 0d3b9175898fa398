#include "congestion/congestion.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/check.h"

namespace weft::congestion {

#define X(name) const Control& name##_control();
#include "congestion/list.def"
#undef X

std::span<const Control* const> all_controls() {
  static const std::array kTable = {
#define X(name) &name##_control(),
#include "congestion/list.def"
#undef X
  };
  return kTable;
}

const Control* find_control(std::string_view name) {
  for (const Control* control : all_controls())
    if (control->name() == name) return control;
  return nullptr;
}

std::string refuse_settings(const Control& control, const Settings& settings) {
  for (const auto& [name, value] : settings) {
    const auto parameters = control.parameters();
    const auto found = std::find_if(parameters.begin(), parameters.end(),
                                    [&](const Parameter& p) { return p.name == name; });
    if (found == parameters.end())
      return fmt::format("{} has no parameter '{}'", control.name(), name);
    if (!(value >= found->least && value <= found->most))
      return fmt::format("{} of {} is {}, but must lie between {} and {} {}", name, control.name(),
                         value, found->least, found->most, found->unit);
  }
  return {};
}

std::unique_ptr<Control> configured(const Control& control, const Settings& settings) {
  CHECK(refuse_settings(control, settings).empty());
  std::vector<double> values;
  for (const Parameter& parameter : control.parameters()) {
    const auto found = settings.find(std::string(parameter.name));
    values.push_back(found == settings.end() ? parameter.value : found->second);
  }
  return control.with(values);
}

}  // namespace weft::congestion
