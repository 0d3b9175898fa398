#include <fmt/format.h>

#include <set>

#include "base/text.h"
#include "validate/validate.h"

namespace weft::validate {
namespace {

std::vector<Filter> read_where(Fields& fields, Diagnostics& diagnostics) {
  std::vector<Filter> filters;
  const YamlNode* node = fields.optional_node("where");
  if (node == nullptr) return filters;
  if (node->kind != YamlNode::Kind::mapping) {
    diagnostics.add(node->where, "where takes columns and their values",
                    "write where: {placement: out_of_place}");
    return filters;
  }
  for (const auto& [key, value] : node->entries) {
    Filter filter{key.text, {}};
    if (value.kind == YamlNode::Kind::sequence) {
      for (const YamlNode& item : value.items) filter.values.push_back(item.text);
    } else {
      filter.values.push_back(value.text);
    }
    filters.push_back(std::move(filter));
  }
  return filters;
}

void read_kind(Fields& fields, Set& set, Diagnostics& diagnostics) {
  std::vector<std::string> names;
  for (const Kind* kind : all_kinds()) names.emplace_back(kind->name());
  const auto chosen = fields.optional_choice("kind", names);
  if (!chosen) {
    if (!fields.has("kind"))
      fields.complain("kind", "a set needs a kind", "one of: " + join(names, ", "));
    return;
  }
  set.kind = all_kinds()[*chosen];
  set.judge = set.kind->read(fields, diagnostics);
}

void read_place(Fields& fields, Set& set) {
  set.cluster = {fields.required_string("cluster"), fields.where_of("cluster")};
  set.nodes = fields.optional_int("nodes", 1, 1'000'000);
  if (fields.has("stack")) {
    const SourcePosition where = fields.where_of("stack");
    set.stack = scenario::TextAt{fields.required_string("stack"), where};
  }
  set.queue_pairs = static_cast<int>(fields.optional_int("queue_pairs", 1, 256).value_or(1));
  const std::vector<std::string> ways = fabric::via_names();
  if (const auto via = fields.optional_choice("via", ways))
    set.via = *fabric::parse_via(ways[*via]);
}

Set read_set(const YamlNode& node, Diagnostics& diagnostics) {
  Set set;
  set.position = node.where;
  Fields fields(node, "set", diagnostics);
  if (node.kind != YamlNode::Kind::mapping) return set;
  set.name = fields.required_string("name");
  set.file = fields.required_string("file");
  const std::vector<std::string> tiers = {"A", "B", "C"};
  set.tier = tiers[fields.optional_choice("tier", tiers).value_or(0)];
  read_place(fields, set);
  set.system = fields.optional_string("system").value_or(set.cluster.text);
  set.where = read_where(fields, diagnostics);
  set.fit = fields.optional_bool("fit").value_or(true);
  set.excuse = fields.optional_string("excuse").value_or("");
  read_kind(fields, set, diagnostics);
  if (set.kind != nullptr) fields.finish();
  return set;
}

NotJudged read_not_judged(const YamlNode& node, Diagnostics& diagnostics) {
  NotJudged entry;
  Fields fields(node, "not_judged", diagnostics);
  if (node.kind != YamlNode::Kind::mapping) return entry;
  entry.file = fields.required_string("file");
  entry.where = read_where(fields, diagnostics);
  entry.reason = fields.required_string("reason");
  fields.finish();
  return entry;
}

}  // namespace

Map parse_map(std::string_view text, const std::string& file) {
  Diagnostics diagnostics;
  const YamlNode root = parse_yaml(text, file);
  Map map{file, {}, {}};
  Fields fields(root, "validation map", diagnostics);
  if (root.kind == YamlNode::Kind::mapping) {
    const std::string format = fields.required_string("weft");
    if (!format.empty() && format != "validation/1") {
      fields.complain("weft", fmt::format("this is a '{}' file, not a validation map", format),
                      "a map begins with weft: validation/1");
    }
    std::set<std::string> names;
    if (fields.required_node("sets") != nullptr) {
      for (const YamlNode& node : fields.optional_list("sets")) {
        map.sets.push_back(read_set(node, diagnostics));
        if (!names.insert(map.sets.back().name).second)
          diagnostics.add(node.where, fmt::format("two sets are named '{}'", map.sets.back().name));
      }
    }
    for (const YamlNode& node : fields.optional_list("not_judged"))
      map.not_judged.push_back(read_not_judged(node, diagnostics));
    fields.finish();
  }
  diagnostics.throw_if_any(text);
  return map;
}

}  // namespace weft::validate
