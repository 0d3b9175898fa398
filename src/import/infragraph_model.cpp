#include "import/infragraph_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "base/yaml.h"
#include "import/infragraph_parts.h"

namespace weft::import {

namespace {

constexpr std::int64_t kMostNodes = kMostInfraParts;
constexpr std::int64_t kMostCopies = 1 << 16;  // of one instance
constexpr std::size_t kMostEnds = 1 << 22;     // of all edges, written out
constexpr std::size_t kMostEdges = 1 << 20;    // of the file, written out

class InfraReader {
 public:
  InfraReader(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  InfraGraph read() && {
    const YamlNode document = parse_yaml(text_, file_);
    const YamlNode* root = &document;
    if (document.kind == YamlNode::Kind::mapping && document.find("infrastructure") != nullptr) {
      Fields outer(document, "the file", diagnostics_);
      root = outer.required_node("infrastructure");
      outer.finish();
    }
    Fields fields(*root, "infrastructure", diagnostics_);
    fields.optional_string("name");
    fields.optional_node("description");
    fields.optional_node("annotations");
    const auto& devices = fields.optional_list("devices");
    const auto& instances = fields.optional_list("instances");
    const YamlNode* connections = fields.optional_node("connections");
    names_of(devices);
    for (std::size_t d = 0; d < graph_.devices.size(); ++d) read_components(*nodes_[d], d);
    graph_.links = read_infra_links(fields.optional_list("links"), diagnostics_);
    for (const YamlNode& node : instances) read_instance(node);
    read_uncounted(connections);
    number_nodes();
    for (std::size_t d = 0; d < graph_.devices.size(); ++d) read_device_edges(d);
    for (const YamlNode& node : fields.optional_list("edges")) read_edge(node);
    if (connections != nullptr) {
      for (const YamlNode& node : connections->items) read_connection(node);
    }
    fields.finish();
    if (graph_.instances.empty() && diagnostics_.empty())
      diagnostics_.add(root->where, "no instances", "name each device that there is, with a count");
    diagnostics_.throw_if_any(text_);
    return std::move(graph_);
  }

 private:
  void complain(const SourcePosition& where, std::string what, std::string hint) {
    diagnostics_.add(where, std::move(what), std::move(hint));
  }

  void names_of(const std::vector<YamlNode>& devices) {
    for (const YamlNode& node : devices) {
      InfraDevice device;
      device.where = node.where;
      const YamlNode* name = node.kind == YamlNode::Kind::mapping ? node.find("name") : nullptr;
      if (name != nullptr) device.name = name->text;
      if (!is_infra_name(device.name))
        complain(node.where, "a device without a name", "add name: with letters, digits, _ and -");
      if (!device_.emplace(device.name, graph_.devices.size()).second)
        complain(node.where, fmt::format("a second device {}", device.name), "name each once");
      graph_.devices.push_back(std::move(device));
      nodes_.push_back(&node);
    }
  }

  void read_components(const YamlNode& node, std::size_t d) {
    InfraDevice& device = graph_.devices[d];
    Fields fields(node, "device", diagnostics_);
    fields.required_string("name");
    device.description = infra_description(fields);
    std::set<std::string> seen;
    for (const YamlNode& item : fields.optional_list("components")) {
      InfraComponent component = read_infra_component(item, diagnostics_);
      if (!is_infra_name(component.name) || !seen.insert(component.name).second)
        complain(item.where, fmt::format("'{}' is no new name of a component", component.name),
                 "letters, digits, _ and -; each once");
      if (component.kind == InfraKind::device && !device_.contains(component.name))
        complain(item.where, fmt::format("there is no device {}", component.name),
                 "a component of choice device has the name of a device");
      device.components.push_back(std::move(component));
    }
    device.links = read_infra_links(fields.optional_list("links"), diagnostics_);
    edges_.push_back(&fields.optional_list("edges"));
    connections_.push_back(&fields.optional_list("connections"));
    fields.finish();
  }

  void read_instance(const YamlNode& node) {
    Fields fields(node, "instance", diagnostics_);
    InfraInstance instance;
    instance.where = node.where;
    instance.name = fields.required_string("name");
    fields.optional_node("description");
    const std::string device = fields.required_string("device");
    const auto count = fields.optional_int("count", 1, kMostCopies);
    instance.count = count ? static_cast<std::size_t>(*count) : kUncounted;
    fields.finish();
    const auto found = device_.find(device);
    if (!is_infra_name(instance.name) ||
        !instance_.emplace(instance.name, graph_.instances.size()).second)
      complain(node.where, fmt::format("'{}' is no new name of an instance", instance.name),
               "letters, digits, _ and -; each once");
    if (found == device_.end()) {
      std::vector<std::string> known;
      for (const InfraDevice& d : graph_.devices) known.push_back(d.name);
      return complain(
          fields.where_of("device"), fmt::format("there is no device {}", device),
          known.empty() ? "the devices are to be in the same file" : suggest(device, known));
    }
    instance.device = found->second;
    graph_.instances.push_back(std::move(instance));
  }

  // Without a count there are as many as the connections name.
  void read_uncounted(const YamlNode* connections) {
    diagnostics_.throw_if_any(text_);  // indexes rest on the instances that are there
    std::map<std::size_t*, std::size_t> used;
    const auto use = [&](std::size_t& count, std::string_view index) {
      const auto number = parse_int(index);
      if (number && *number >= 0 && *number < kMostNodes)
        used[&count] = std::max(used[&count], static_cast<std::size_t>(*number) + 1);
    };
    const auto use_component = [&](InfraDevice& device, std::string_view name,
                                   std::string_view index) {
      for (InfraComponent& component : device.components) {
        if (component.name == name) use(component.count, index);
      }
    };
    for (std::size_t d = 0; d < graph_.devices.size(); ++d) {
      for (const YamlNode& node : *connections_[d]) {
        const auto words = split(node.text, '.');
        if (words.size() != 5) continue;  // complained of later
        use_component(graph_.devices[d], words[0], words[1]);
        use_component(graph_.devices[d], words[3], words[4]);
      }
    }
    if (connections != nullptr && connections->kind != YamlNode::Kind::sequence)
      complain(connections->where, "connections is no list", "- host.0.nic.0.eth.leaf.0.port.0");
    for (const YamlNode& node :
         connections == nullptr ? std::vector<YamlNode>() : connections->items) {
      const auto words = split(node.text, '.');
      for (std::size_t w = 0; words.size() == 9 && w < 9; w += 5) {
        const auto found = instance_.find(words[w]);
        if (found == instance_.end()) continue;
        InfraInstance& instance = graph_.instances[found->second];
        use(instance.count, words[w + 1]);
        use_component(graph_.devices[instance.device], words[w + 2], words[w + 3]);
      }
    }
    for (InfraInstance& instance : graph_.instances) settle(instance.count, used);
    for (InfraDevice& device : graph_.devices) {
      for (InfraComponent& component : device.components) settle(component.count, used);
    }
  }

  static void settle(std::size_t& count, const std::map<std::size_t*, std::size_t>& used) {
    if (count != kUncounted) return;
    const auto found = used.find(&count);
    count = found == used.end() ? 1 : found->second;
  }

  void number_nodes() {
    for (InfraDevice& device : graph_.devices) {
      for (InfraComponent& component : device.components) {
        component.first = device.nodes;
        device.nodes += component.count;
      }
      if (device.nodes > static_cast<std::size_t>(kMostNodes))
        complain(device.where, fmt::format("more than {} parts in one device", kMostNodes),
                 "check the counts");
    }
    diagnostics_.throw_if_any(text_);
  }

  const InfraComponent* component(const InfraDevice& device, const std::string& name,
                                  const SourcePosition& where) {
    std::vector<std::string> known;
    for (const InfraComponent& each : device.components) {
      if (each.name == name) return &each;
      known.push_back(each.name);
    }
    complain(where, fmt::format("device {} has no component {}", device.name, name),
             known.empty() ? "add it to the device" : suggest(name, known));
    return nullptr;
  }

  // The indexes of a slice among `count`; empty after a complaint.
  std::vector<std::size_t> indexes(const InfraSlice& slice, std::size_t count,
                                   const SourcePosition& where) {
    std::vector<std::size_t> out;
    const std::int64_t last = slice.last < 0 ? static_cast<std::int64_t>(count) : slice.last;
    if (last > static_cast<std::int64_t>(count) || slice.first >= last) {
      complain(where, fmt::format("{} has indexes below {}", slice.name, count),
               "name[first:beyond], as Python slices");
      return out;
    }
    for (std::int64_t i = slice.first; i < last; i += slice.step)
      out.push_back(static_cast<std::size_t>(i));
    return out;
  }

  // "cx5[0:2].port[0]": the nodes of `device`; parts inside a composed device count as it.
  std::vector<std::size_t> expand(const InfraDevice& device, std::string_view text,
                                  const SourcePosition& where) {
    std::vector<std::size_t> out;
    const InfraDevice* inner = &device;
    for (const std::string_view piece : split(text, '.')) {
      const auto slice = parse_infra_slice(piece);
      if (!slice) {
        complain(where, fmt::format("'{}' is no component with a slice", piece), "nic or nic[0:2]");
        return {};
      }
      const InfraComponent* part = component(*inner, slice->name, where);
      if (part == nullptr) return {};
      const auto chosen = indexes(*slice, part->count, where);
      if (chosen.empty()) return {};
      if (inner == &device && out.empty()) {
        for (const std::size_t i : chosen) out.push_back(part->first + i);
      } else {
        std::vector<std::size_t> repeated;
        if (!count_ends(out.size() * chosen.size(), where)) return repeated;
        for (const std::size_t node : out) repeated.insert(repeated.end(), chosen.size(), node);
        out = std::move(repeated);
      }
      if (part->kind != InfraKind::device)
        inner = &kNoDevice;
      else
        inner = &graph_.devices[device_.at(part->name)];
    }
    return out;
  }

  // A slip in a slice must not make room for more than a network has.
  bool count_ends(std::size_t more, const SourcePosition& where) {
    ends_ += more;
    if (ends_ > kMostEnds) too_many(where);
    return ends_ <= kMostEnds;
  }
  void too_many(const SourcePosition& where) {
    complain(where, fmt::format("more than {} edges", kMostEdges), "check slices and counts");
  }

  // Applies the scheme; `add` takes the pairs.
  template <class T, class Add>
  void pair_up(const std::vector<T>& a, const std::vector<T>& b, std::size_t scheme,
               const SourcePosition& where, Add add) {
    const std::size_t pairs = scheme == 1 ? a.size() * b.size() : std::min(a.size(), b.size());
    written_ += pairs;
    if (written_ > kMostEdges) return too_many(where);
    if (scheme == 1) {
      for (const T& x : a) {
        for (const T& y : b) {
          if (x != y) add(x, y);
        }
      }
    } else {
      for (std::size_t i = 0; i < pairs; ++i) {
        if (a[i] != b[i]) add(a[i], b[i]);
      }
    }
  }

  struct EdgeFields {
    const YamlNode *ep1 = nullptr, *ep2 = nullptr;
    std::size_t scheme = 0;
    std::optional<std::size_t> link;
  };
  EdgeFields edge_fields(const YamlNode& node, const std::vector<InfraLink>& links) {
    Fields fields(node, "edge", diagnostics_);
    EdgeFields edge;
    edge.ep1 = fields.required_node("ep1");
    edge.ep2 = fields.required_node("ep2");
    static const std::vector<std::string> kSchemes = {"one2one", "many2many", "ring"};
    edge.scheme = fields.optional_choice("scheme", kSchemes).value_or(0);
    if (fields.optional_bool("many2many").value_or(false)) edge.scheme = 1;
    if (edge.scheme == 2)
      fields.complain("scheme", "scheme ring is not read", "write its edges one by one");
    edge.link = link_named(fields.required_string("link"), links, fields.where_of("link"));
    fields.finish();
    return edge;
  }

  std::optional<std::size_t> link_named(const std::string& name,
                                        const std::vector<InfraLink>& links,
                                        const SourcePosition& where) {
    std::vector<std::string> known;
    for (std::size_t l = 0; l < links.size(); ++l) {
      if (links[l].name == name) return l;
      known.push_back(links[l].name);
    }
    if (!name.empty())
      complain(where, fmt::format("there is no link {} here", name),
               known.empty() ? "add it to links" : suggest(name, known));
    return std::nullopt;
  }

  void read_device_edges(std::size_t d) {
    InfraDevice& device = graph_.devices[d];
    const auto end = [&](const YamlNode* node) {
      if (node == nullptr) return std::vector<std::size_t>();
      Fields fields(*node, "endpoint", diagnostics_);
      const std::string part = fields.required_string("component");
      const auto inner = fields.optional_string("device");
      fields.finish();
      if (part.empty()) return std::vector<std::size_t>();
      return expand(device, inner && !inner->empty() ? *inner + "." + part : part, node->where);
    };
    for (const YamlNode& node : *edges_[d]) {
      const EdgeFields edge = edge_fields(node, device.links);
      const auto a = end(edge.ep1), b = end(edge.ep2);
      if (!edge.link) continue;
      pair_up(a, b, edge.scheme, node.where,
              [&](std::size_t x, std::size_t y) { device.edges.push_back({x, y, *edge.link}); });
    }
    for (const YamlNode& node : *connections_[d]) {
      const auto words = split(node.text, '.');
      if (words.size() != 5) {
        complain(node.where, "a connection of a device is component.index.link.component.index",
                 "xpu.0.pcie.nic.0");
        continue;
      }
      const auto a = dotted(device, words[0], words[1], node.where);
      const auto b = dotted(device, words[3], words[4], node.where);
      const auto link = link_named(std::string(words[2]), device.links, node.where);
      if (a && b && link && *a != *b) device.edges.push_back({*a, *b, *link});
    }
  }

  std::optional<std::size_t> dotted(const InfraDevice& device, std::string_view name,
                                    std::string_view index, const SourcePosition& where) {
    const InfraComponent* part = component(device, std::string(name), where);
    const auto number = parse_int(index);
    if (part == nullptr) return std::nullopt;
    if (!number || *number < 0 || *number >= static_cast<std::int64_t>(part->count)) {
      complain(where, fmt::format("{} has indexes below {}", name, part->count), "mend the index");
      return std::nullopt;
    }
    return part->first + static_cast<std::size_t>(*number);
  }

  void read_edge(const YamlNode& node) {
    const EdgeFields edge = edge_fields(node, graph_.links);
    const auto a = ends(edge.ep1), b = ends(edge.ep2);
    if (!edge.link) return;
    pair_up(a, b, edge.scheme, node.where, [&](const InfraGraph::End& x, const InfraGraph::End& y) {
      graph_.edges.push_back({x, y, *edge.link, node.where});
    });
  }

  std::vector<InfraGraph::End> ends(const YamlNode* node) {
    std::vector<InfraGraph::End> out;
    if (node == nullptr) return out;
    Fields fields(*node, "endpoint", diagnostics_);
    const std::string name = fields.required_string("instance");
    const std::string part = fields.required_string("component");
    fields.finish();
    const auto slice = parse_infra_slice(name);
    const auto found = slice ? instance_.find(slice->name) : instance_.end();
    if (found == instance_.end()) {
      std::vector<std::string> known;
      for (const InfraInstance& instance : graph_.instances) known.push_back(instance.name);
      complain(fields.where_of("instance"), fmt::format("there is no instance {}", name),
               suggest(name, known));
      return out;
    }
    const InfraInstance& instance = graph_.instances[found->second];
    const auto nodes = expand(graph_.devices[instance.device], part, fields.where_of("component"));
    const auto copies = indexes(*slice, instance.count, fields.where_of("instance"));
    if (!count_ends(nodes.size() * copies.size(), node->where)) return out;
    for (const std::size_t copy : copies) {
      for (const std::size_t n : nodes) out.push_back({found->second, copy, n});
    }
    return out;
  }

  void read_connection(const YamlNode& node) {
    const auto words = split(node.text, '.');
    if (words.size() != 9)
      return complain(node.where,
                      "a connection is instance.index.component.index.link and the other end",
                      "host.0.nic.0.eth.leaf.0.port.0");
    const auto end = [&](std::size_t w) -> std::optional<InfraGraph::End> {
      const auto found = instance_.find(words[w]);
      const auto copy = parse_int(words[w + 1]);
      if (found == instance_.end() || !copy || *copy < 0 ||
          *copy >= static_cast<std::int64_t>(graph_.instances[found->second].count)) {
        complain(node.where, fmt::format("there is no instance {}.{}", words[w], words[w + 1]),
                 "name it under instances");
        return std::nullopt;
      }
      const InfraDevice& device = graph_.devices[graph_.instances[found->second].device];
      const auto part = dotted(device, words[w + 2], words[w + 3], node.where);
      if (!part) return std::nullopt;
      return InfraGraph::End{found->second, static_cast<std::size_t>(*copy), *part};
    };
    const auto a = end(0), b = end(5);
    const auto link = link_named(std::string(words[4]), graph_.links, node.where);
    if (a && b && link && *a != *b) graph_.edges.push_back({*a, *b, *link, node.where});
  }

  inline static const InfraDevice kNoDevice{};

  std::string_view text_;
  const std::string& file_;
  Diagnostics diagnostics_;
  InfraGraph graph_;
  std::map<std::string, std::size_t, std::less<>> device_, instance_;
  std::vector<const YamlNode*> nodes_;  // by device, as the three below
  std::vector<const std::vector<YamlNode>*> edges_, connections_;
  std::size_t written_ = 0, ends_ = 0;
};

}  // namespace

const InfraComponent& InfraDevice::component_of(std::size_t node) const {
  const auto after = std::find_if(components.begin(), components.end(), [node](const auto& part) {
    return node < part.first + part.count;
  });
  return *after;
}

InfraGraph read_infragraph(std::string_view text, const std::string& file) {
  return InfraReader(text, file).read();
}

}  // namespace weft::import
