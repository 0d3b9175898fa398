#include "import/cluster_yaml.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "base/yaml.h"
#include "import/hostlist.h"

namespace weft::import {

namespace {

using fabric::LinkKind;
using Spec = ClusterSpec;

constexpr std::int64_t kMostServers = 200'000;  // 1.6 million GPUs by eights

class ClusterReader {
 public:
  explicit ClusterReader(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}
  Spec read(const YamlNode& root);

 private:
  void read_catalogues(Fields& top);
  void read_group(const YamlNode& node);
  std::vector<std::string> group_names(Fields& fields);
  std::vector<std::string> listed_names(Fields& fields, const std::string& list,
                                        std::optional<std::int64_t> count);
  Spec::Link read_link(const YamlNode& node);
  void read_link_fields(const YamlNode& node, Spec::Link& link);
  Spec::Switch read_switch(const YamlNode& node);
  void read_switch_figures(Fields& fields, Spec::Switch& out);
  void read_network(const YamlNode& node, bool drawn);
  void read_parameter(const YamlNode& key, const YamlNode& value);
  void read_scale_up(const YamlNode& node);
  void read_drawn_switch(const YamlNode& node);
  void read_drawn_link(const YamlNode& node);
  std::optional<Spec::DrawnEnd> read_end(const YamlNode& node);
  void check_whole(Fields& top, bool is_mapping);
  std::optional<NameAt> optional_name(Fields& fields, std::string_view key);
  void claim(const std::string& name, const SourcePosition& where);

  Diagnostics& diagnostics_;
  Spec spec_;
  std::map<std::string, std::int64_t> next_number_;  // by name prefix
  std::set<std::string> server_names_, switch_names_;
  std::set<std::pair<std::string, std::string>> used_ports_;
};

std::optional<NameAt> ClusterReader::optional_name(Fields& fields, std::string_view key) {
  const auto text = fields.optional_string(key);
  if (!text) return std::nullopt;
  if (text->empty())
    fields.complain(key, fmt::format("{} is empty", key), "name one or leave it out");
  return NameAt{*text, fields.where_of(key)};
}

Spec ClusterReader::read(const YamlNode& root) {
  Fields top(root, "cluster file", diagnostics_);
  if (top.required_string("weft") != "cluster/1" && top.has("weft")) {
    top.complain("weft", "this is not a cluster file", "its first line is 'weft: cluster/1'");
  }
  spec_.description = top.optional_string("description");
  for (const YamlNode& item : top.optional_list("servers")) read_group(item);
  spec_.stack = optional_name(top, "stack");
  read_catalogues(top);
  for (const YamlNode& item : top.optional_list("switches")) read_drawn_switch(item);
  for (const YamlNode& item : top.optional_list("links")) read_drawn_link(item);
  const bool drawn = top.has("links") || top.has("switches");
  if (const YamlNode* node = top.optional_node("fabric")) read_network(*node, drawn);
  if (const YamlNode* node = top.optional_node("scale_up")) read_scale_up(*node);
  check_whole(top, root.kind == YamlNode::Kind::mapping);
  top.finish();
  return std::move(spec_);
}

// One file, or a list of them.
void ClusterReader::read_catalogues(Fields& top) {
  const YamlNode* node = top.optional_node("catalogue");
  if (node == nullptr) return;
  std::vector<YamlNode> files = node->items;
  if (node->kind == YamlNode::Kind::scalar) files = {*node};
  for (const YamlNode& file : files) {
    if (file.kind == YamlNode::Kind::scalar && !file.text.empty()) {
      spec_.catalogues.push_back({file.text, file.where});
      continue;
    }
    diagnostics_.add(file.where, "this is not the name of a catalogue file",
                     "write 'catalogue: parts.yaml', or a list of files");
  }
  if (!files.empty()) return;
  top.complain("catalogue", "catalogue names no file", "write 'catalogue: parts.yaml'");
}

void ClusterReader::check_whole(Fields& top, bool is_mapping) {
  const std::size_t count = spec_.server_count();
  if (!is_mapping) return;
  if (!top.has("servers")) {
    top.complain("servers", "cluster file has no 'servers'",
                 "add 'servers: [{type: hgx-h100, count: 8}]'");
  } else if (spec_.servers.empty()) {
    top.complain("servers", "a cluster has at least one server",
                 "add '- {type: hgx-h100, count: 8}'");
  }
  if (count > 1 && !spec_.network && !spec_.scale_up && spec_.links.empty()) {
    diagnostics_.add(top.where(), fmt::format("{} servers and no network between them", count),
                     "add 'fabric: {topology: rail, link: ndr, switch: quantum2}'");
  }
  if (spec_.scale_up && spec_.scale_up->servers_per_domain > static_cast<std::int64_t>(count)) {
    diagnostics_.add(spec_.scale_up->where,
                     fmt::format("a domain of {} servers, the cluster has {}",
                                 spec_.scale_up->servers_per_domain, count),
                     "write at most the number of servers, or leave the key out");
  }
}

void ClusterReader::claim(const std::string& name, const SourcePosition& where) {
  if (server_names_.contains(name) || switch_names_.contains(name)) {
    diagnostics_.add(where, fmt::format("the name '{}' is used twice", name),
                     "give one of them another name");
  }
}

void ClusterReader::read_group(const YamlNode& node) {
  Fields fields(node, "server group", diagnostics_);
  Spec::ServerGroup group;
  group.where = node.where;
  group.type = {fields.required_string("type"), fields.where_of("type")};
  if (fields.has("type") && group.type.text.empty()) {
    fields.complain("type", "type is empty", "name a shipped server (weft list servers) or a file");
  }
  group.names = group_names(fields);
  for (const std::string& name : group.names) {
    claim(name, fields.where_of("name"));
    server_names_.insert(name);
  }
  fields.finish();
  spec_.servers.push_back(std::move(group));
}

std::vector<std::string> ClusterReader::group_names(Fields& fields) {
  const auto count = fields.optional_int("count", 1, kMostServers);
  const std::string name = fields.optional_string("name").value_or("node");
  if (name.find_first_of("[],") != std::string::npos) return listed_names(fields, name, count);
  static constexpr std::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
  if (name.empty() || name.find_first_not_of(kAllowed) != std::string::npos) {
    fields.complain("name", fmt::format("'{}' cannot be a server's name", name),
                    "use letters, digits, '-', '_' and '.', or a list such as node[001-008]");
    return {};
  }
  std::vector<std::string> names;
  std::int64_t& next = next_number_[name];
  if (static_cast<std::int64_t>(server_names_.size()) + count.value_or(1) > kMostServers) {
    fields.complain("count", fmt::format("more than {} servers", kMostServers),
                    "describe a smaller cluster");
    return {};
  }
  for (std::int64_t i = 0; i < count.value_or(1); ++i)
    names.push_back(name + std::to_string(next++));
  return names;
}

std::vector<std::string> ClusterReader::listed_names(Fields& fields, const std::string& list,
                                                     std::optional<std::int64_t> count) {
  const std::size_t room = static_cast<std::size_t>(kMostServers) - server_names_.size();
  Hostlist hosts = expand_hostlist(list, room);
  if (!hosts.fault.empty()) {
    fields.complain("name", fmt::format("'{}' is not a list of names: {}", list, hosts.fault),
                    "write for example node[001-008,010]");
  } else if (count && static_cast<std::size_t>(*count) != hosts.names.size()) {
    fields.complain("count",
                    fmt::format("count is {}, the list has {} names", *count, hosts.names.size()),
                    "leave out 'count'");
  }
  return std::move(hosts.names);
}

Spec::Link ClusterReader::read_link(const YamlNode& node) {
  Spec::Link link;
  link.where = node.where;
  if (node.kind == YamlNode::Kind::scalar) {
    link.name = NameAt{node.text, node.where};
    if (node.text.empty()) diagnostics_.add(node.where, "link is empty", "write for example 'ndr'");
  } else {
    read_link_fields(node, link);
  }
  return link;
}

void ClusterReader::read_link_fields(const YamlNode& node, Spec::Link& link) {
  Fields fields(node, "link", diagnostics_);
  link.name = optional_name(fields, "name");
  if (const auto kind = fields.optional_choice("kind", {"ethernet", "infiniband"})) {
    link.kind = *kind == 0 ? LinkKind::ethernet : LinkKind::infiniband;
  }
  link.rate = fields.optional_rate("rate");
  link.length_m = fields.optional_length_m("length");
  constexpr double kLongest = 2e7;  // half way round the earth
  if (link.length_m && *link.length_m > kLongest) {
    fields.complain("length", "no cable is that long", "write for example 'length: 30m'");
  }
  link.medium = optional_name(fields, "medium");
  link.latency = fields.optional_duration("latency");
  const bool has_name = fields.has("name"), has_kind = fields.has("kind");
  if (has_name && (has_kind || fields.has("rate"))) {
    fields.complain(has_kind ? "kind" : "rate", "the link's name already says that",
                    "give either 'name', or 'kind' and 'rate'");
  } else if (!has_name && !(has_kind && fields.has("rate"))) {
    if (node.kind == YamlNode::Kind::mapping) {
      diagnostics_.add(node.where, "this link has neither a name nor a kind and a rate",
                       "write 'name: ndr' or 'kind: infiniband, rate: 400Gbps'");
    }
  }
  fields.finish();
}

Spec::Switch ClusterReader::read_switch(const YamlNode& node) {
  Spec::Switch out;
  out.where = node.where;
  if (node.kind == YamlNode::Kind::scalar) {
    out.model = NameAt{node.text, node.where};
    if (node.text.empty()) {
      diagnostics_.add(node.where, "switch is empty", "write for example 'quantum2'");
    }
    return out;
  }
  Fields fields(node, "switch", diagnostics_);
  read_switch_figures(fields, out);
  fields.finish();
  return out;
}

void ClusterReader::read_switch_figures(Fields& fields, Spec::Switch& out) {
  out.model = optional_name(fields, "model");
  if (const auto radix = fields.optional_int("radix", 2, 100'000)) {
    out.radix = static_cast<int>(*radix);
  }
  out.latency = fields.optional_duration("latency");
  out.buffer = fields.optional_bytes("buffer");
}

void ClusterReader::read_network(const YamlNode& node, bool drawn) {
  Fields fields(node, "fabric", diagnostics_);
  Spec::Network network;
  network.where = node.where;
  network.topology = optional_name(fields, "topology");
  if (drawn && network.topology) {
    fields.complain("topology", "the file draws its links and names a topology as well",
                    "keep either 'links' and 'switches', or 'topology'");
  } else if (!drawn && !fields.has("topology") && node.kind == YamlNode::Kind::mapping) {
    fields.complain("topology", "fabric has no 'topology'", "see 'weft list topologies'");
  }
  if (const YamlNode* link = fields.optional_node("link")) network.link = read_link(*link);
  if (const YamlNode* link = fields.optional_node("uplink")) network.uplink = read_link(*link);
  if (const YamlNode* s = fields.optional_node("switch")) {
    if (s->kind == YamlNode::Kind::sequence) {
      for (const YamlNode& item : s->items) network.switches.push_back(read_switch(item));
    } else {
      network.switches.push_back(read_switch(*s));
    }
  }
  network.routing = optional_name(fields, "routing");
  network.sharp_at = fields.where_of("sharp");
  network.sharp = fields.optional_bool("sharp").value_or(false);
  spec_.network = std::move(network);
  if (node.kind != YamlNode::Kind::mapping) return;
  static const std::set<std::string_view> kOwn = {"topology", "link",    "uplink",
                                                  "switch",   "routing", "sharp"};
  for (const auto& [key, value] : node.entries) {
    if (!kOwn.contains(key.text)) read_parameter(key, value);
  }
}

// Any other key of `fabric` is a number that the topology understands.
void ClusterReader::read_parameter(const YamlNode& key, const YamlNode& value) {
  const auto parts = split(value.text, ':');
  std::optional<double> number;
  if (parts.size() == 2) {
    const auto down = parse_double(parts[0]), up = parse_double(parts[1]);
    if (down && up && *up > 0) number = *down / *up;
  } else {
    number = parse_double(value.text);
  }
  if (value.kind == YamlNode::Kind::scalar && number) {
    spec_.network->parameters.push_back({key.text, *number, key.where, value.where});
    return;
  }
  diagnostics_.add(
      value.where, fmt::format("the topology parameter '{}' is not a number", key.text),
      "write a number or a ratio such as 2:1; 'weft list topologies' names the parameters");
}

void ClusterReader::read_scale_up(const YamlNode& node) {
  Fields fields(node, "scale_up", diagnostics_);
  Spec::ScaleUp scale_up;
  scale_up.where = node.where;
  scale_up.chip = optional_name(fields, "switch");
  if (!fields.has("switch") && node.kind == YamlNode::Kind::mapping) {
    fields.complain("switch", "scale_up has no 'switch'", "name the chip, 'switch: nvswitch4'");
  }
  scale_up.servers_per_domain =
      fields.optional_int("servers_per_domain", 1, kMostServers).value_or(0);
  scale_up.chips = fields.required_int("chips", 1, 1024);
  scale_up.links_per_chip = fields.optional_int("links_per_chip", 1, 72).value_or(1);
  fields.finish();
  spec_.scale_up = scale_up;
}

void ClusterReader::read_drawn_switch(const YamlNode& node) {
  Fields fields(node, "switch", diagnostics_);
  Spec::DrawnSwitch drawn;
  drawn.where = node.where;
  const std::string name = fields.required_string("name");
  drawn.figures.where = node.where;
  read_switch_figures(fields, drawn.figures);
  drawn.tier = static_cast<int>(fields.optional_int("tier", 1, 8).value_or(1));
  fields.finish();
  if (!fields.has("name")) return;
  const Hostlist names = expand_hostlist(name, 100'000);
  if (!names.fault.empty()) {
    fields.complain("name", fmt::format("'{}' is not a list of names: {}", name, names.fault),
                    "write for example leaf[1-4]");
  }
  for (const std::string& each : names.names) {
    claim(each, fields.where_of("name"));
    switch_names_.insert(each);
    drawn.name = each;
    spec_.switches.push_back(drawn);
  }
}

// "leaf1:e1" or "node0:nic3"
std::optional<Spec::DrawnEnd> ClusterReader::read_end(const YamlNode& node) {
  const std::size_t colon = node.text.find(':');
  Spec::DrawnEnd end;
  end.where = node.where;
  end.device = node.text.substr(0, colon);
  if (colon != std::string::npos) end.port = node.text.substr(colon + 1);
  if (end.device.empty() || end.port.empty()) {
    diagnostics_.add(node.where, fmt::format("'{}' is not a device and a port", node.text),
                     "write \"leaf1:e1\" for a switch, \"node0:nic0\" for a server");
    return std::nullopt;
  }
  end.on_server = server_names_.contains(end.device);
  if (!end.on_server && !switch_names_.contains(end.device)) {
    std::vector<std::string> known(switch_names_.begin(), switch_names_.end());
    known.insert(known.end(), server_names_.begin(), server_names_.end());
    const std::string hint = suggest(end.device, known);
    diagnostics_.add(node.where, fmt::format("no switch or server is called '{}'", end.device),
                     hint.empty() ? "define it under 'servers' or 'switches'" : hint);
    return std::nullopt;
  }
  if (end.on_server && (!starts_with(end.port, "nic") || !parse_int(end.port.substr(3)))) {
    diagnostics_.add(node.where, fmt::format("'{}' is not a port of a server", end.port),
                     "number the NICs from 0: nic0, nic1");
    return std::nullopt;
  }
  if (!used_ports_.insert({end.device, end.port}).second) {
    diagnostics_.add(node.where,
                     fmt::format("port {} of '{}' already has a cable", end.port, end.device),
                     "a port takes one cable");
  }
  return end;
}

void ClusterReader::read_drawn_link(const YamlNode& node) {
  Fields fields(node, "link", diagnostics_);
  Spec::DrawnLink drawn;
  drawn.where = node.where;
  if (fields.required_node("endpoints") != nullptr) {
    const auto& ends = fields.optional_list("endpoints");
    if (ends.size() != 2 && node.find("endpoints")->kind == YamlNode::Kind::sequence) {
      fields.complain("endpoints", fmt::format("a link has two ends, not {}", ends.size()),
                      "write endpoints: [\"leaf1:e1\", \"node0:nic0\"]");
    } else if (ends.size() == 2) {
      const auto a = read_end(ends[0]), b = read_end(ends[1]);
      if (a && b && a->device == b->device) {
        fields.complain("endpoints", fmt::format("both ends are on '{}'", a->device),
                        "a link joins two devices");
      } else if (a && b) {
        drawn.ends = {*a, *b};
      }
    }
  }
  if (const YamlNode* link = fields.optional_node("link")) drawn.link = read_link(*link);
  fields.finish();
  spec_.links.push_back(std::move(drawn));
}

}  // namespace

std::size_t ClusterSpec::server_count() const {
  std::size_t count = 0;
  for (const ServerGroup& group : servers) count += group.names.size();
  return count;
}

bool is_cluster_file(std::string_view text) {
  for (const std::string_view line : split(text.substr(0, 4096), '\n')) {
    const std::string_view words = trim(line);
    if (words.empty() || words.front() == '#' || words == "---") continue;
    return starts_with(words, "weft:") && words.find("cluster/") != std::string_view::npos;
  }
  return false;
}

ClusterSpec parse_cluster(std::string_view text, const std::string& file) {
  const YamlNode root = parse_yaml(text, file);
  Diagnostics diagnostics;
  ClusterSpec spec = ClusterReader(diagnostics).read(root);
  spec.file = file;
  diagnostics.throw_if_any(text);
  return spec;
}

}  // namespace weft::import
