#include "import/server_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "fabric/pcie.h"

namespace weft::import {

namespace {

using fabric::DeviceKind;
using fabric::LinkKind;
using Kind = PcieNode::Kind;

constexpr std::int64_t kMostDevices = 1024;  // of one server: bounds what nested counts can ask for
constexpr int kDeepest = 8;                  // PCIe switches below one another

DeviceKind device_kind(Kind kind) {
  switch (kind) {
    case Kind::gpu:
      return DeviceKind::gpu;
    case Kind::nic:
      return DeviceKind::nic;
    case Kind::pcie_switch:
      return DeviceKind::pcie_switch;
  }
  return DeviceKind::gpu;
}

std::string width_text(PcieWidth width) {
  return fmt::format("gen{} x{}", width.generation, width.lanes);
}

void collect(const std::vector<PcieNode>& nodes, Kind kind, std::vector<const PcieNode*>& out) {
  for (const PcieNode& node : nodes) {
    if (node.kind == kind) out.push_back(&node);
    collect(node.below, kind, out);
  }
}

}  // namespace

std::vector<const PcieNode*> in_order(const ServerFile& file, Kind kind) {
  std::vector<const PcieNode*> all;
  for (const NumaNode& numa : file.numa_nodes) {
    for (const auto& bridge : numa.host_bridges) collect(bridge, kind, all);
  }
  std::stable_sort(all.begin(), all.end(), [](const PcieNode* a, const PcieNode* b) {
    return a->index.value_or(0) < b->index.value_or(0);
  });
  return all;
}

ServerFile ServerReader::read(const YamlNode& root) {
  Fields top(root, "server file", diagnostics_);
  if (top.required_string("weft") != "server/1" && top.has("weft")) {
    top.complain("weft", "this is not a server file", "its first line is 'weft: server/1'");
  }
  file_.acs = top.optional_bool("acs").value_or(false);
  for (const YamlNode& item : top.optional_list("provenance")) read_provenance(item);
  if (!top.has("numa_nodes") && root.kind == YamlNode::Kind::mapping) {
    top.complain("numa_nodes", "server file has no 'numa_nodes'",
                 "add 'numa_nodes:' with one entry a NUMA node");
  }
  for (const YamlNode& item : top.optional_list("numa_nodes")) read_numa_node(item);
  if (const YamlNode* list = top.optional_node("numa_nodes");
      list != nullptr && list->kind == YamlNode::Kind::sequence && list->items.empty()) {
    top.complain("numa_nodes", "a server has at least one NUMA node", "add '- cpu: MODEL'");
  }
  if (const YamlNode* node = top.optional_node("inter_socket")) read_inter_socket(*node);
  check_numbers(Kind::gpu, "GPU");
  check_numbers(Kind::nic, "NIC");
  PeerReader peers(catalogue_, diagnostics_, file_);
  for (const YamlNode& item : top.optional_list("nvlink")) peers.read_nvlink(item);
  for (const YamlNode& item : top.optional_list("xgmi")) peers.read_xgmi(item);
  for (const YamlNode& item : top.optional_list("c2c")) peers.read_c2c(item);
  peers.check();
  top.finish();
  return std::move(file_);
}

void ServerReader::read_provenance(const YamlNode& node) {
  Fields fields(node, "provenance", diagnostics_);
  const std::string what = fields.required_string("what");
  const std::string source = fields.required_string("source");
  if (!fields.has("confidence")) {
    fields.complain("confidence", "provenance has no 'confidence'",
                    "one of: datasheet, measured, standard, estimate");
  }
  const auto confidence =
      fields.optional_choice("confidence", {"datasheet", "measured", "standard", "estimate"});
  fields.finish();
  constexpr std::size_t kEstimate = 3;
  if (confidence == kEstimate) {
    file_.assumptions.push_back(fmt::format("{}: an estimate ({})", what, source));
  }
}

std::int64_t ServerReader::read_count(Fields& fields, std::int64_t times) {
  const std::int64_t count = fields.optional_int("count", 1, 256).value_or(1);
  if (count * times <= kMostDevices) return count;
  if (!too_many_) {
    fields.complain("count", fmt::format("this makes more than {} devices", kMostDevices),
                    "describe one server; the cluster file says how many there are");
  }
  too_many_ = true;
  return 1;
}

std::string ServerReader::known_model(Fields& fields, std::string_view key, DeviceKind kind) {
  const std::string model = fields.required_string(key);
  const CataloguePart* part = catalogue_.part(model);
  if (part != nullptr && part->device.kind == kind) return model;
  if (part != nullptr) {
    fields.complain(
        key,
        fmt::format("'{}' is a {}, not a {}", model, to_text(part->device.kind), to_text(kind)),
        fmt::format("name a {} of 'weft list parts'", to_text(kind)));
  } else if (!model.empty()) {
    fields.complain(key, fmt::format("unknown {} '{}'", to_text(kind), model),
                    suggest(model, catalogue_.names(kind)));
  }
  return {};
}

void ServerReader::read_numa_node(const YamlNode& node) {
  Fields fields(node, "NUMA node", diagnostics_);
  NumaNode numa;
  numa.cpu = known_model(fields, "cpu", DeviceKind::cpu);
  const std::int64_t count = read_count(fields, 1);
  const auto socket = fields.optional_int("socket", 0, 63);
  const std::vector<std::string> affinity = read_affinity(fields, count);
  for (const YamlNode& item : fields.optional_list("host_bridges")) {
    Fields bridge(item, "host bridge", diagnostics_);
    const std::int64_t bridges = read_count(bridge, count);
    std::vector<PcieNode> below = read_host_bridge(bridge, count * bridges);
    for (std::int64_t i = 0; i < bridges; ++i) numa.host_bridges.push_back(below);
  }
  fields.finish();
  for (std::int64_t i = 0; i < count; ++i) {
    const auto next = static_cast<int>(file_.numa_nodes.size());
    numa.socket = socket ? static_cast<int>(*socket) : next;
    numa.affinity = affinity.empty() ? "" : affinity[static_cast<std::size_t>(i)];
    file_.numa_nodes.push_back(numa);
  }
}

// "0-23" for one node, or a list with one text for each of `count` nodes.
std::vector<std::string> ServerReader::read_affinity(Fields& fields, std::int64_t count) {
  const YamlNode* node = fields.optional_node("affinity");
  if (node == nullptr) return {};
  std::vector<std::string> out;
  if (node->kind == YamlNode::Kind::scalar) out.push_back(node->text);
  for (const YamlNode& item : node->items) out.push_back(item.text);
  if (out.size() == static_cast<std::size_t>(count)) return out;
  fields.complain("affinity", fmt::format("{} core lists for {} NUMA nodes", out.size(), count),
                  "write one text, or a list with one text for each of 'count' nodes");
  return {};
}

std::vector<PcieNode> ServerReader::read_host_bridge(Fields& fields, std::int64_t times) {
  std::vector<PcieNode> below = read_children(fields.optional_list("below"), times, 0);
  fields.finish();
  return below;
}

std::vector<PcieNode> ServerReader::read_children(const std::vector<YamlNode>& items,
                                                  std::int64_t times, int depth) {
  std::vector<PcieNode> out;
  for (const YamlNode& item : items) read_child(item, times, depth, out);
  return out;
}

void ServerReader::read_child(const YamlNode& node, std::int64_t times, int depth,
                              std::vector<PcieNode>& out) {
  Fields fields(node, "PCIe device", diagnostics_);
  PcieNode child;
  child.where = node.where;
  const bool gpu = fields.has("gpu"), nic = fields.has("nic"), is_switch = fields.has("switch");
  if (gpu + nic + is_switch != 1) {
    if (node.kind == YamlNode::Kind::mapping) {
      diagnostics_.add(node.where, "this says not what hangs here",
                       "give it exactly one of 'gpu:', 'nic:' and 'switch:'");
    }
    return;
  }
  child.kind = gpu ? Kind::gpu : nic ? Kind::nic : Kind::pcie_switch;
  child.model = known_model(fields, gpu ? "gpu" : nic ? "nic" : "switch", device_kind(child.kind));
  const std::int64_t count = read_count(fields, times);
  read_link(fields, child);
  if (child.kind != Kind::pcie_switch) read_index(fields, child, count * times > 1);
  if (nic) read_nic_fields(fields, child);
  if (is_switch) {
    child.acs = fields.optional_bool("acs").value_or(file_.acs);
    const auto& below = fields.optional_list("below");
    if (depth >= kDeepest) {
      fields.complain("below", fmt::format("more than {} switches below one another", kDeepest),
                      "real servers have one or two");
    } else {
      child.below = read_children(below, times * count, depth + 1);
    }
  }
  fields.finish();
  for (std::int64_t i = 0; i < count; ++i) out.push_back(child);
}

void ServerReader::read_link(Fields& fields, PcieNode& child) {
  const CataloguePart* part = catalogue_.part(child.model);
  const PcieWidth most = part != nullptr ? part->pcie : PcieWidth{};
  const auto text = fields.optional_string("pcie");
  child.link_given = text.has_value();
  if (!text) {
    child.link = most;
    if (child.kind == Kind::pcie_switch || (part != nullptr && most.lanes == 0)) {
      fields.complain("pcie", fmt::format("{} has no 'pcie'", child.model),
                      "add the link to what is above, 'pcie: gen4 x16'");
    }
    return;
  }
  const auto width = parse_pcie_width(*text);
  static const std::set<int> kWidths = {1, 2, 4, 8, 12, 16};
  if (!width || !kWidths.contains(width->lanes)) {
    fields.complain("pcie", fmt::format("'{}' is not a PCIe link", *text),
                    "write 'gen4 x16': generation 1 to 7 and x1, x2, x4, x8, x12 or x16");
    return;
  }
  child.link = *width;
  if (most.lanes == 0) return;
  if (width->generation > most.generation || width->lanes > most.lanes) {
    fields.complain("pcie",
                    fmt::format("{} has PCIe {}, which cannot run as {}", child.model,
                                width_text(most), width_text(*width)),
                    fmt::format("write at most 'pcie: {}'", width_text(most)));
  }
}

void ServerReader::read_index(Fields& fields, PcieNode& child, bool repeated) {
  const auto index = fields.optional_int("index", 0, kMostDevices - 1);
  if (!index) return;
  if (repeated) {
    fields.complain("index", "a device that 'count' repeats cannot have one index",
                    "leave out 'index' or write the devices out");
    return;
  }
  child.index = static_cast<int>(*index);
}

void ServerReader::read_nic_fields(Fields& fields, PcieNode& child) {
  child.functions = static_cast<int>(fields.optional_int("functions", 1, 8).value_or(1));
  child.ports = static_cast<int>(fields.optional_int("ports", 1, 8).value_or(1));
  child.port_rate = fields.optional_rate("rate");
  child.name = fields.optional_string("name").value_or("");
  const auto speaks = fields.optional_choice("speaks", {"ethernet", "infiniband"});
  if (!speaks) return;
  child.port_kind = *speaks == 0 ? LinkKind::ethernet : LinkKind::infiniband;
  const CataloguePart* part = catalogue_.part(child.model);
  if (part == nullptr) return;
  if (std::find(part->speaks.begin(), part->speaks.end(), *child.port_kind) == part->speaks.end()) {
    fields.complain("speaks",
                    fmt::format("{} does not speak {}", child.model, to_text(*child.port_kind)),
                    "leave out 'speaks'");
  }
}

void ServerReader::read_inter_socket(const YamlNode& node) {
  Fields fields(node, "inter_socket", diagnostics_);
  if (const auto links = fields.optional_int("links", 1, 16)) {
    file_.socket_links = static_cast<int>(*links);
  }
  if (const auto name = fields.optional_string("link")) {
    const auto link = catalogue_.link(*name);
    if (!link || link->kind != LinkKind::inter_socket) {
      fields.complain("link", fmt::format("'{}' is no link between sockets", *name),
                      suggest(*name, catalogue_.link_names()));
    } else {
      file_.socket_link = *name;
    }
  }
  fields.finish();
}

// Numbers are given to all of a kind or to none, from 0 without gaps.
void ServerReader::check_numbers(Kind kind, std::string_view what) {
  const auto all = in_order(file_, kind);
  const auto given = std::count_if(all.begin(), all.end(),
                                   [](const PcieNode* node) { return node->index.has_value(); });
  if (given == 0) return;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i]->index) {
      diagnostics_.add(all[i]->where, fmt::format("this {} has no 'index', others have", what),
                       fmt::format("give every {} an index or none", what));
    } else if (given == static_cast<std::ptrdiff_t>(all.size()) &&
               *all[i]->index != static_cast<int>(i)) {
      diagnostics_.add(all[i]->where,
                       fmt::format("{} index {} where {} comes next", what, *all[i]->index, i),
                       "number them from 0 without gaps or repeats");
      return;
    }
  }
}

ServerFile parse_server_file(std::string_view text, const std::string& file,
                             const Catalogue& catalogue) {
  const YamlNode root = parse_yaml(text, file);
  Diagnostics diagnostics;
  ServerFile server = ServerReader(catalogue, diagnostics).read(root);
  diagnostics.throw_if_any(text);
  return server;
}

}  // namespace weft::import
