// Fields of base/yaml.h: taking one mapping apart.
#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "base/text.h"
#include "base/yaml.h"

namespace weft {

namespace {

std::string_view kind_name(YamlNode::Kind kind) {
  switch (kind) {
    case YamlNode::Kind::null:
      return "empty";
    case YamlNode::Kind::scalar:
      return "a single value";
    case YamlNode::Kind::sequence:
      return "a list";
    case YamlNode::Kind::mapping:
      return "a mapping";
  }
  return "";
}

}  // namespace

// How a quantity is spoken of when its text is wrong.
struct Fields::Quantity {
  std::string_view name;          // "a rate"
  std::string_view examples;      // what may be written: "400Gbps or 50GB/s"
  std::string_view two_readings;  // after a bare number: "write {0}Gbps (bits) or {0}GB/s (bytes)"
};

Fields::Fields(const YamlNode& node, std::string what, Diagnostics& diagnostics)
    : node_(&node), what_(std::move(what)), diagnostics_(&diagnostics) {
  if (node.kind == YamlNode::Kind::mapping) return;
  diagnostics.add(node.where, fmt::format("{} is {}, not a mapping", what_, kind_name(node.kind)),
                  "write it as 'key: value' lines");
}

// The value of `key` and a note that it was asked for. nullptr when absent.
const YamlNode* Fields::take(std::string_view key) {
  if (std::find(asked_.begin(), asked_.end(), key) == asked_.end()) asked_.emplace_back(key);
  return node_->kind == YamlNode::Kind::mapping ? node_->find(key) : nullptr;
}

bool Fields::has(std::string_view key) {
  return take(key) != nullptr;
}

SourcePosition Fields::where_of(std::string_view key) const {
  const YamlNode* value = node_->kind == YamlNode::Kind::mapping ? node_->find(key) : nullptr;
  return value ? value->where : node_->where;
}

void Fields::complain(std::string_view key, std::string what, std::string hint) {
  diagnostics_->add(where_of(key), std::move(what), std::move(hint));
}

void Fields::missing(std::string_view key) {
  if (node_->kind != YamlNode::Kind::mapping) return;  // already reported
  diagnostics_->add(node_->where, fmt::format("{} has no '{}'", what_, key),
                    fmt::format("add '{}:'", key));
}

// The text of a scalar; anything else is reported. nullptr when absent or wrong.
const YamlNode* Fields::scalar(std::string_view key, std::string_view wanted) {
  const YamlNode* value = take(key);
  if (value == nullptr || value->kind == YamlNode::Kind::scalar) return value;
  diagnostics_->add(value->where,
                    fmt::format("{} is {}, not {}", key, kind_name(value->kind), wanted),
                    fmt::format("write one value after '{}:'", key));
  return nullptr;
}

// A scalar that must not stand in quotes: "8" is text.
const YamlNode* Fields::plain(std::string_view key, std::string_view wanted) {
  const YamlNode* value = scalar(key, wanted);
  if (value == nullptr || !value->quoted) return value;
  diagnostics_->add(value->where, fmt::format("{} is text in quotes, not {}", key, wanted),
                    "remove the quotes");
  return nullptr;
}

std::optional<std::string> Fields::optional_string(std::string_view key) {
  const YamlNode* value = scalar(key, "text");
  return value ? std::optional(value->text) : std::nullopt;
}

std::string Fields::required_string(std::string_view key) {
  if (!has(key)) missing(key);
  return optional_string(key).value_or("");
}

std::optional<std::int64_t> Fields::optional_int(std::string_view key, std::int64_t min,
                                                 std::int64_t max) {
  const YamlNode* value = plain(key, "a whole number");
  if (value == nullptr) return std::nullopt;
  const auto number = parse_int(value->text);
  if (!number) {
    complain(key, fmt::format("{} '{}' is not a whole number", key, value->text),
             fmt::format("write a whole number from {} to {}", min, max));
  } else if (*number < min || *number > max) {
    complain(key, fmt::format("{} {} is outside {} to {}", key, *number, min, max),
             "write a value within that range");
  } else {
    return number;
  }
  return std::nullopt;
}

std::int64_t Fields::required_int(std::string_view key, std::int64_t min, std::int64_t max) {
  if (!has(key)) missing(key);
  return optional_int(key, min, max).value_or(min);
}

std::optional<double> Fields::optional_double(std::string_view key, double min, double max) {
  const YamlNode* value = plain(key, "a number");
  if (value == nullptr) return std::nullopt;
  const auto number = parse_double(value->text);
  if (!number) {
    complain(key, fmt::format("{} '{}' is not a number", key, value->text),
             fmt::format("write a number from {} to {}", min, max));
  } else if (*number < min || *number > max) {
    complain(key, fmt::format("{} {} is outside {} to {}", key, *number, min, max),
             "write a value within that range");
  } else {
    return number;
  }
  return std::nullopt;
}

std::optional<bool> Fields::optional_bool(std::string_view key) {
  const YamlNode* value = plain(key, "true or false");
  if (value == nullptr) return std::nullopt;
  if (value->text == "true") return true;
  if (value->text == "false") return false;
  complain(key, fmt::format("{} '{}' is neither true nor false", key, value->text),
           "write true or false");
  return std::nullopt;
}

template <class T, class Parse>
std::optional<T> Fields::quantity(std::string_view key, const Quantity& kind, Parse parse) {
  const YamlNode* value = scalar(key, kind.name);
  if (value == nullptr) return std::nullopt;
  if (const std::optional<T> result = parse(value->text)) return result;
  const auto number = parse_double(trim(value->text));
  if (number && *number >= 0) {
    complain(key, fmt::format("{} needs a unit", key),
             fmt::format(fmt::runtime(kind.two_readings), trim(value->text)));
  } else {
    complain(key, fmt::format("{} '{}' is not {}", key, value->text, kind.name),
             fmt::format("write for example {}", kind.examples));
  }
  return std::nullopt;
}

std::optional<BitRate> Fields::optional_rate(std::string_view key) {
  static constexpr Quantity kKind{"a rate", "400Gbps or 50GB/s",
                                  "write {0}Gbps (bits) or {0}GB/s (bytes)"};
  const auto rate = quantity<BitRate>(key, kKind, parse_bit_rate);
  if (!rate || rate->bps() > 0) return rate;
  complain(key, fmt::format("{} must be more than zero", key), "write for example 400Gbps");
  return std::nullopt;
}

BitRate Fields::required_rate(std::string_view key) {
  if (!has(key)) missing(key);
  return optional_rate(key).value_or(BitRate::gigabits_per_second(1));
}

std::optional<Duration> Fields::optional_duration(std::string_view key) {
  static constexpr Quantity kKind{"a length of time", "500ns, 1.5us or 2ms",
                                  "write {0}ns, {0}us or {0}ms"};
  return quantity<Duration>(key, kKind, parse_duration);
}

std::optional<Bytes> Fields::optional_bytes(std::string_view key) {
  static constexpr Quantity kKind{"a size", "64kB or 2MiB",
                                  "write {0}B, {0}KiB (1024) or {0}kB (1000)"};
  return quantity<Bytes>(key, kKind, parse_bytes);
}

std::optional<double> Fields::optional_length_m(std::string_view key) {
  static constexpr Quantity kKind{"a length", "30m or 2km", "write {0}m or {0}km"};
  return quantity<double>(key, kKind, parse_length_m);
}

std::optional<std::size_t> Fields::optional_choice(std::string_view key,
                                                   const std::vector<std::string>& allowed) {
  const YamlNode* value = scalar(key, "a word");
  if (value == nullptr) return std::nullopt;
  const auto found = std::find(allowed.begin(), allowed.end(), value->text);
  if (found != allowed.end()) return static_cast<std::size_t>(found - allowed.begin());
  complain(key, fmt::format("unknown {} '{}'", key, value->text), suggest(value->text, allowed));
  return std::nullopt;
}

const YamlNode* Fields::optional_node(std::string_view key) {
  return take(key);
}

const YamlNode* Fields::required_node(std::string_view key) {
  const YamlNode* value = take(key);
  if (value == nullptr) missing(key);
  return value;
}

const std::vector<YamlNode>& Fields::optional_list(std::string_view key) {
  static const std::vector<YamlNode> kEmpty;
  const YamlNode* value = take(key);
  if (value == nullptr || value->kind == YamlNode::Kind::sequence) {
    return value ? value->items : kEmpty;
  }
  complain(key, fmt::format("{} is {}, not a list", key, kind_name(value->kind)),
           value->kind == YamlNode::Kind::null ? "write [] for an empty list"
                                               : "write '- item' lines or [a, b]");
  return kEmpty;
}

void Fields::finish() {
  if (node_->kind != YamlNode::Kind::mapping) return;
  for (const auto& [key, value] : node_->entries) {
    if (std::find(asked_.begin(), asked_.end(), key.text) != asked_.end()) continue;
    diagnostics_->add(key.where, fmt::format("unknown key '{}' in {}", key.text, what_),
                      asked_.empty() ? "remove it" : suggest(key.text, asked_));
  }
}

}  // namespace weft
