// The small pieces of an InfraGraph file: names with slices, components, links with the spellings
// that their units have had. Private to the reader of infragraph_model.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/yaml.h"
#include "import/infragraph_model.h"

namespace weft::import {

inline constexpr std::int64_t kMostInfraParts = 4096;  // of one device
inline constexpr std::size_t kUncounted = SIZE_MAX;    // a component or instance without count

// Letters, digits, _ and -.
bool is_infra_name(std::string_view text);

// "nic[0:2]" as its name and the range of indexes; `last` is one beyond.
struct InfraSlice {
  std::string name;
  std::int64_t first = 0, last = -1, step = 1;  // last -1: to the end
};
std::optional<InfraSlice> parse_infra_slice(std::string_view text);

// May be left empty.
std::string infra_description(Fields& fields);
InfraComponent read_infra_component(const YamlNode& node, Diagnostics& diagnostics);
std::vector<InfraLink> read_infra_links(const std::vector<YamlNode>& list,
                                        Diagnostics& diagnostics);

}  // namespace weft::import
