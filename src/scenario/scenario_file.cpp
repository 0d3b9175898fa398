#include "scenario/scenario_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "base/yaml.h"
#include "work/work.h"

namespace weft::scenario {
namespace {

std::optional<TextAt> optional_text(Fields& fields, std::string_view key) {
  const SourcePosition where = fields.where_of(key);
  if (auto text = fields.optional_string(key)) return TextAt{*text, where};
  return std::nullopt;
}

// For a key that is there, with whatever value.
TextAt text_of(Fields& fields, std::string_view key) {
  return {fields.required_string(key), fields.where_of(key)};
}

// `after: a` or `after: [a, b]`.
std::vector<TextAt> read_after(Fields& fields, Diagnostics& diagnostics) {
  std::vector<TextAt> ids;
  const YamlNode* node = fields.optional_node("after");
  if (node == nullptr) return ids;
  if (node->kind == YamlNode::Kind::scalar) return {{node->text, node->where}};
  if (node->kind != YamlNode::Kind::sequence) {
    diagnostics.add(node->where, "after takes an id or a list of ids",
                    "write after: [first, second]");
    return ids;
  }
  for (const YamlNode& item : node->items) ids.push_back({item.text, item.where});
  return ids;
}

void read_transfer(Fields& fields, Diagnostics& diagnostics, WorkItem& item) {
  item.form = WorkItem::Form::transfer;
  const std::vector<YamlNode>& ends = fields.optional_list("transfer");
  if (ends.size() != 2 || ends[0].text.empty() || ends[1].text.empty()) {
    diagnostics.add(fields.where_of("transfer"), "transfer takes two ends",
                    "write transfer: [0, 8] (ranks) or [node0/gpu0, node1/gpu0] (devices)");
    return;
  }
  item.from = {ends[0].text, ends[0].where};
  item.to = {ends[1].text, ends[1].where};
}

// The shape of a mixture-of-experts exchange; its bytes follow from it.
work::MoeShape read_moe(Fields& fields, Diagnostics& diagnostics, bool dispatch, WorkItem& item) {
  work::MoeShape shape = dispatch ? work::dispatch_shape() : work::combine_shape();
  const auto whole = [&](const char* key, std::int64_t most, std::int64_t fallback) {
    return fields.optional_int(key, 1, most).value_or(fallback);
  };
  shape.tokens = whole("tokens", 1'000'000, shape.tokens);
  shape.hidden = whole("hidden", 1'000'000, shape.hidden);
  shape.experts = static_cast<int>(whole("experts", 65536, shape.experts));
  shape.top_k = static_cast<int>(whole("top_k", 256, shape.top_k));
  shape.max_nodes = static_cast<int>(whole("max_nodes", 65536, 0));
  if (const auto type = optional_text(fields, "type")) {
    const bool fp8 = type->text == "fp8";
    if (!fp8 && type->text != "bf16")
      diagnostics.add(type->where, fmt::format("there is no type '{}' here", type->text),
                      "one of: fp8, bf16");
    shape.element_bytes = fp8 ? 1 : 2;
    shape.scale_block = fp8 ? 128 : 0;
  }
  shape.skew = fields.optional_double("skew", 0, 3).value_or(0);
  const auto routing = optional_text(fields, "routing");
  if (routing && routing->text != "expected" && routing->text != "drawn")
    diagnostics.add(routing->where, fmt::format("there is no routing '{}'", routing->text),
                    "one of: expected, drawn");
  if (routing && routing->text == "expected" && shape.skew > 0)
    diagnostics.add(routing->where, "a skew has no closed form", "write routing: drawn");
  shape.drawn = shape.skew > 0 || (routing && routing->text == "drawn");
  const auto seed = fields.optional_int("seed", 0, INT64_MAX);
  shape.seed = static_cast<std::uint64_t>(seed.value_or(1));
  item.moe_seed_given = seed.has_value();
  return shape;
}

void read_form(Fields& fields, Diagnostics& diagnostics, WorkItem& item) {
  const bool collective = fields.has("collective"), transfer = fields.has("transfer");
  const bool compute = fields.has("compute"), pattern = fields.has("pattern");
  const bool matrix = fields.has("matrix");
  if (collective + transfer + compute + pattern + matrix != 1) {
    diagnostics.add(fields.where(),
                    "a work item is one of collective, transfer, compute, pattern, matrix",
                    "write for example: - collective: all_reduce");
  }
  if (collective) {
    item.form = WorkItem::Form::collective;
    item.name = text_of(fields, "collective");
  } else if (pattern) {
    item.form = WorkItem::Form::pattern;
    item.name = text_of(fields, "pattern");
    item.at_once = fields.optional_int("at_once", 1, 1'000'000).value_or(0);
    item.steps = fields.optional_int("steps", 1, 1'000'000).value_or(0);
  } else if (matrix) {
    item.form = WorkItem::Form::matrix;
    item.name = text_of(fields, "matrix");
    item.start_unit = optional_text(fields, "start_unit");
    return;
  } else if (transfer) {
    read_transfer(fields, diagnostics, item);
  } else if (compute) {
    item.form = WorkItem::Form::compute;
    item.time = fields.optional_duration("compute").value_or(Duration());
    return;
  }
  const auto kind = collective ? work::parse_collective(item.name.text) : std::nullopt;
  if (kind && work::is_moe(*kind)) {
    item.moe = read_moe(fields, diagnostics, *kind == work::CollectiveKind::moe_dispatch, item);
    return;
  }
  if (const auto size = fields.optional_bytes("size")) {
    item.size = *size;
  } else if (!fields.has("size")) {
    diagnostics.add(fields.where(), "this work item has no size", "add size: 256MiB");
  }
}

WorkItem read_item(const YamlNode& node, Diagnostics& diagnostics) {
  WorkItem item;
  item.where = node.where;
  Fields fields(node, "work item", diagnostics);
  if (node.kind != YamlNode::Kind::mapping) return item;
  read_form(fields, diagnostics, item);
  item.ranks = optional_text(fields, "ranks");
  item.root = fields.optional_int("root", 0, UINT32_MAX).value_or(0);
  item.algorithm = optional_text(fields, "algorithm");
  item.protocol = optional_text(fields, "protocol");
  item.channels = static_cast<int>(fields.optional_int("channels", 1, 1024).value_or(0));
  item.repeat = static_cast<int>(fields.optional_int("repeat", 1, 1'000'000).value_or(1));
  item.at = fields.optional_duration("at").value_or(Duration());
  item.id = fields.optional_string("id").value_or("");
  item.after = read_after(fields, diagnostics);
  fields.finish();
  return item;
}

// `link: A -> B` is one direction, `link: [A, B]` both.
void read_link(Fields& fields, Diagnostics& diagnostics, LinkChangeItem& item) {
  const char* hint = "write link: [leaf0, spine0] (both directions) or \"leaf0 -> spine0\" (one)";
  const YamlNode* node = fields.required_node("link");
  if (node == nullptr) return;
  if (node->kind == YamlNode::Kind::sequence && node->items.size() == 2) {
    item.from = {node->items[0].text, node->items[0].where};
    item.to = {node->items[1].text, node->items[1].where};
  } else if (const std::size_t arrow = node->text.find("->"); arrow != std::string::npos) {
    item.both = false;
    item.from = {std::string(trim(node->text.substr(0, arrow))), node->where};
    item.to = {std::string(trim(node->text.substr(arrow + 2))), node->where};
  }
  if (item.from.text.empty() || item.to.text.empty())
    diagnostics.add(node->where, "link takes the two devices that it joins", hint);
}

LinkChangeItem read_link_change(const YamlNode& node, Diagnostics& diagnostics) {
  LinkChangeItem item;
  item.where = node.where;
  Fields fields(node, "link change", diagnostics);
  if (node.kind != YamlNode::Kind::mapping) return item;
  read_link(fields, diagnostics, item);
  if (!fields.has("at"))
    diagnostics.add(node.where, "this link change has no time", "add at: 10ms");
  item.at = fields.optional_duration("at").value_or(Duration());
  if (fields.has("rate") == fields.has("share"))
    diagnostics.add(node.where, "a link change has either a rate or a share",
                    "write rate: 200Gbps or share: 0.5; share: 0 is a link that is down");
  item.rate = fields.optional_rate("rate");
  item.share = fields.optional_double("share", 0, 1).value_or(1);
  fields.finish();
  return item;
}

// Ids are unique and every `after` names an earlier item, so that no cycle can be written.
void check_ids(const ScenarioFile& scenario, Diagnostics& diagnostics) {
  std::vector<std::string> known;
  for (const WorkItem& item : scenario.work) {
    for (const TextAt& id : item.after) {
      if (std::find(known.begin(), known.end(), id.text) == known.end()) {
        diagnostics.add(id.where, fmt::format("no earlier work item has the id '{}'", id.text),
                        known.empty() ? "give the earlier item an id" : suggest(id.text, known));
      }
    }
    if (item.id.empty()) continue;
    if (std::find(known.begin(), known.end(), item.id) != known.end()) {
      diagnostics.add(item.where, fmt::format("the id '{}' is used twice", item.id),
                      "ids are unique");
    }
    known.push_back(item.id);
  }
}

void check_header(Fields& fields) {
  const auto format = fields.required_string("weft");
  if (!format.empty() && format != "scenario/1") {
    fields.complain("weft", fmt::format("this is a '{}' file, not a scenario", format),
                    "a scenario begins with weft: scenario/1");
  }
}

}  // namespace

ScenarioFile parse_scenario(std::string_view text, const std::string& file) {
  Diagnostics diagnostics;
  const YamlNode root = parse_yaml(text, file);
  ScenarioFile scenario;
  scenario.file = file;
  Fields fields(root, "scenario", diagnostics);
  if (root.kind == YamlNode::Kind::mapping) {
    check_header(fields);
    scenario.cluster = optional_text(fields, "cluster");
    scenario.stack = optional_text(fields, "stack");
    scenario.engine = optional_text(fields, "engine");
    scenario.via = optional_text(fields, "via");
    scenario.routing = optional_text(fields, "routing");
    scenario.nodes = fields.optional_int("nodes", 1, 1'000'000);
    scenario.seed = fields.optional_int("seed", 0, INT64_MAX).value_or(1);
    scenario.queue_pairs = static_cast<int>(fields.optional_int("queue_pairs", 1, 256).value_or(1));
    if (fields.required_node("work") != nullptr) {
      for (const YamlNode& node : fields.optional_list("work")) {
        scenario.work.push_back(read_item(node, diagnostics));
      }
    }
    for (const YamlNode& node : fields.optional_list("link_changes"))
      scenario.link_changes.push_back(read_link_change(node, diagnostics));
    check_ids(scenario, diagnostics);
    fields.finish();
  }
  diagnostics.throw_if_any(text);
  return scenario;
}

std::optional<std::vector<std::uint32_t>> parse_rank_list(std::string_view text,
                                                          std::uint32_t limit) {
  std::set<std::uint32_t> ranks;
  for (std::string_view piece : split(text, ',')) {
    const auto ends = split(trim(piece), '-');
    if (ends.size() > 2) return std::nullopt;
    const auto first = parse_int(ends.front()), last = parse_int(ends.back());
    if (!first || !last || *first < 0 || *last < *first || *last >= limit) return std::nullopt;
    for (std::int64_t rank = *first; rank <= *last; ++rank)
      ranks.insert(static_cast<std::uint32_t>(rank));
  }
  return std::vector<std::uint32_t>(ranks.begin(), ranks.end());
}

}  // namespace weft::scenario
