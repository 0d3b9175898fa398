#include "import/infragraph_parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace weft::import {

namespace {

constexpr double kMostRate = 1e6;

// The spelling of the units changed over time.
void read_bandwidth(const YamlNode& node, InfraLink& link, Diagnostics& diagnostics) {
  Fields fields(node, "bandwidth", diagnostics);
  fields.optional_string("choice");
  for (const char* key : {"gigabits_per_second", "giga_bits_per_second", "g_bits_per_second"}) {
    if (const auto value = fields.optional_double(key, 0, kMostRate))
      link.rate = BitRate::from_gigabits_per_second(*value);
  }
  for (const char* key : {"gigabytes_per_second", "giga_bytes_per_second", "g_bytes_per_second"}) {
    if (const auto value = fields.optional_double(key, 0, kMostRate))
      link.rate = BitRate::from_gigabytes_per_second(*value);
  }
  for (const char* key :
       {"gigatransfers_per_second", "giga_transfers_per_second", "g_transfers_per_second"}) {
    if (const auto value = fields.optional_double(key, 0, kMostRate)) link.gigatransfers = *value;
  }
  fields.finish();
}

void read_latency(const YamlNode& node, InfraLink& link, Diagnostics& diagnostics) {
  Fields fields(node, "latency", diagnostics);
  fields.optional_string("choice");
  constexpr double kMostSeconds = 10;
  const std::pair<const char*, double> units[] = {{"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}};
  for (const auto& [unit, seconds] : units) {
    if (const auto value = fields.optional_double(unit, 0, kMostSeconds / seconds))
      link.latency = Duration::from_seconds(*value * seconds);
  }
  fields.finish();
}

}  // namespace

std::string infra_description(Fields& fields) {
  const YamlNode* node = fields.optional_node("description");
  return node == nullptr ? std::string() : node->text;
}

bool is_infra_name(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  });
}

std::optional<InfraSlice> parse_infra_slice(std::string_view text) {
  InfraSlice slice;
  const std::size_t open = text.find('[');
  slice.name = trim(text.substr(0, open));
  if (!is_infra_name(slice.name)) return std::nullopt;
  if (open == std::string_view::npos) return slice;
  if (text.back() != ']') return std::nullopt;
  const auto parts = split(text.substr(open + 1, text.size() - open - 2), ':');
  if (parts.size() > 3) return std::nullopt;
  const auto number = [](std::string_view part, std::int64_t otherwise) {
    return trim(part).empty() ? std::optional(otherwise) : parse_int(trim(part));
  };
  const auto first = number(parts[0], parts.size() == 1 ? -1 : 0);
  if (!first || *first < 0) return std::nullopt;
  slice.first = *first;
  if (parts.size() == 1) {
    slice.last = *first + 1;
    return *first < INT32_MAX ? std::optional(slice) : std::nullopt;
  }
  const auto last = number(parts[1], -1);
  const auto step = parts.size() == 3 ? number(parts[2], 1) : std::optional<std::int64_t>(1);
  if (!last || !step || *step < 1 || (!trim(parts[1]).empty() && *last < 0)) return std::nullopt;
  slice.last = *last;
  slice.step = *step;
  return slice;
}

InfraComponent read_infra_component(const YamlNode& node, Diagnostics& diagnostics) {
  static const std::vector<std::string> kKinds = {"cpu",  "xpu",    "npu",    "gpu",    "nic",
                                                  "port", "switch", "memory", "custom", "device"};
  static const std::vector<InfraKind> kMeanings = {
      InfraKind::cpu,    InfraKind::xpu,   InfraKind::xpu,         InfraKind::xpu,
      InfraKind::nic,    InfraKind::port,  InfraKind::switch_chip, InfraKind::memory,
      InfraKind::custom, InfraKind::device};
  Fields fields(node, "component", diagnostics);
  InfraComponent component;
  component.where = node.where;
  component.name = fields.required_string("name");
  component.description = infra_description(fields);
  const auto count = fields.optional_int("count", 0, kMostInfraParts);
  component.count = count ? static_cast<std::size_t>(*count) : kUncounted;
  const char* key = fields.has("choice") || !fields.has("type") ? "choice" : "type";
  if (const auto kind = fields.optional_choice(key, kKinds)) {
    component.kind = kMeanings[*kind];
  } else if (!fields.has(key)) {
    fields.complain("choice", "a component without a choice", "add choice: xpu, nic, port, ...");
  }
  fields.optional_bool("external");
  for (const char* detail : {"device", "cpu", "xpu", "npu", "nic", "memory", "port", "switch"})
    fields.optional_node(detail);
  if (const YamlNode* custom = fields.optional_node("custom")) {
    Fields inner(*custom, "custom", diagnostics);
    component.type = inner.optional_string("type").value_or("");
    inner.finish();
  }
  fields.finish();
  return component;
}

std::vector<InfraLink> read_infra_links(const std::vector<YamlNode>& list,
                                        Diagnostics& diagnostics) {
  std::vector<InfraLink> links;
  for (const YamlNode& node : list) {
    Fields fields(node, "link", diagnostics);
    InfraLink link;
    link.where = node.where;
    link.name = fields.required_string("name");
    link.description = infra_description(fields);
    if (const YamlNode* bandwidth = fields.optional_node("bandwidth"))
      read_bandwidth(*bandwidth, link, diagnostics);
    if (const YamlNode* physical = fields.optional_node("physical")) {
      Fields inner(*physical, "physical", diagnostics);
      if (const YamlNode* bandwidth = inner.optional_node("bandwidth"))
        read_bandwidth(*bandwidth, link, diagnostics);
      if (const YamlNode* latency = inner.optional_node("latency"))
        read_latency(*latency, link, diagnostics);
      inner.finish();
    }
    fields.finish();
    const bool known = std::any_of(links.begin(), links.end(),
                                   [&](const InfraLink& old) { return old.name == link.name; });
    if (known)
      diagnostics.add(node.where, fmt::format("a second link {}", link.name), "name each once");
    links.push_back(std::move(link));
  }
  return links;
}

}  // namespace weft::import
