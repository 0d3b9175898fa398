#include "import/server_sketch.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace weft::import {

namespace {

using Kind = ServerSketch::Kind;

// Text of everything below one place of the tree, sorted: GPUs, NICs, then switches.
std::string shape_below(const ServerSketch& sketch, std::size_t host_bridge,
                        std::optional<std::size_t> parent) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < sketch.nodes.size(); ++i) {
    const ServerSketch::Node& node = sketch.nodes[i];
    if (node.host_bridge != host_bridge || node.parent != parent) continue;
    if (node.kind == Kind::gpu) parts.emplace_back("g");
    if (node.kind == Kind::nic) parts.emplace_back("n");
    if (node.kind == Kind::slot) parts.push_back(shape_below(sketch, host_bridge, i));
    if (node.kind == Kind::pcie_switch) {
      parts.push_back("~(" + shape_below(sketch, host_bridge, i) + ")");  // '~' sorts last
    }
  }
  std::sort(parts.begin(), parts.end());
  std::string out;
  for (const std::string& part : parts) out += part.starts_with('~') ? part.substr(1) : part;
  return out;
}

}  // namespace

std::vector<std::size_t> ServerSketch::of_kind(Kind kind) const {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].kind == kind) found.push_back(i);
  }
  std::stable_sort(found.begin(), found.end(), [this](std::size_t a, std::size_t b) {
    const auto key = [this](std::size_t i) {
      return std::make_tuple(!nodes[i].rank.has_value(), nodes[i].rank.value_or(0));
    };
    return key(a) < key(b);
  });
  return found;
}

std::string shape_of(const ServerSketch& sketch) {
  std::vector<std::string> cpus;
  for (std::size_t cpu = 0; cpu < sketch.cpus.size(); ++cpu) {
    std::string below;
    for (std::size_t bridge = 0; bridge < sketch.host_bridges.size(); ++bridge) {
      if (sketch.host_bridges[bridge].cpu == cpu) below += shape_below(sketch, bridge, {});
    }
    cpus.push_back("[" + below + "]");
  }
  std::sort(cpus.begin(), cpus.end());
  std::string out;
  for (const std::string& cpu : cpus) out += cpu;
  return out;
}

void rank_by_address(ServerSketch& sketch) {
  for (const Kind kind : {Kind::gpu, Kind::nic}) {
    std::vector<std::size_t> found = sketch.of_kind(kind);
    const bool can = std::all_of(found.begin(), found.end(), [&](std::size_t i) {
      return !sketch.nodes[i].rank && sketch.nodes[i].address;
    });
    if (!can) continue;
    std::stable_sort(found.begin(), found.end(), [&](std::size_t a, std::size_t b) {
      return *sketch.nodes[a].address < *sketch.nodes[b].address;
    });
    for (std::size_t k = 0; k < found.size(); ++k) {
      sketch.nodes[found[k]].rank = static_cast<int>(k);
    }
  }
}

void drop_nodes(ServerSketch& sketch, const std::set<std::size_t>& drop) {
  std::vector<std::size_t> renumbered(sketch.nodes.size(), 0);
  std::vector<ServerSketch::Node> kept;
  for (std::size_t i = 0; i < sketch.nodes.size(); ++i) {
    if (drop.contains(i)) continue;
    renumbered[i] = kept.size();
    kept.push_back(std::move(sketch.nodes[i]));
  }
  for (ServerSketch::Node& node : kept) {
    if (node.parent) node.parent = renumbered[*node.parent];
  }
  for (ServerSketch::Peers& peers : sketch.peers) {
    peers.gpu = renumbered[peers.gpu];
    if (peers.end == ServerSketch::End::gpu) peers.other = renumbered[peers.other];
  }
  sketch.nodes = std::move(kept);
}

void drop_empty_bridges(ServerSketch& sketch) {
  while (true) {
    std::set<std::size_t> drop;
    for (const std::size_t i : sketch.of_kind(Kind::pcie_switch)) drop.insert(i);
    for (const ServerSketch::Node& node : sketch.nodes) {
      if (node.parent) drop.erase(*node.parent);
    }
    if (drop.empty()) break;
    drop_nodes(sketch, drop);
  }
  std::vector<std::size_t> renumbered(sketch.host_bridges.size(), 0);
  std::set<std::size_t> used;
  for (const ServerSketch::Node& node : sketch.nodes) used.insert(node.host_bridge);
  std::vector<ServerSketch::HostBridge> kept;
  for (const std::size_t i : used) {
    renumbered[i] = kept.size();
    kept.push_back(sketch.host_bridges[i]);
  }
  for (ServerSketch::Node& node : sketch.nodes) node.host_bridge = renumbered[node.host_bridge];
  sketch.host_bridges = std::move(kept);
}

void join_functions(ServerSketch& sketch) {
  using Place = std::tuple<std::size_t, std::optional<std::size_t>, PciAddress>;
  std::map<Place, std::vector<std::size_t>> cards;
  for (std::size_t i = 0; i < sketch.nodes.size(); ++i) {
    const ServerSketch::Node& node = sketch.nodes[i];
    if (node.kind != Kind::nic || !node.address) continue;
    PciAddress slot = *node.address;
    slot.function = 0;
    cards[{node.host_bridge, node.parent, slot}].push_back(i);
  }
  for (const auto& [place, functions] : cards) {
    if (functions.size() < 2) continue;
    ServerSketch::Node slot;
    slot.kind = Kind::slot;
    slot.host_bridge = std::get<0>(place);
    slot.parent = std::get<1>(place);
    slot.link = sketch.nodes[functions.front()].link;
    slot.address = std::get<2>(place);
    const std::size_t at = sketch.nodes.size();
    sketch.nodes.push_back(std::move(slot));
    for (const std::size_t function : functions) sketch.nodes[function].parent = at;
  }
}

}  // namespace weft::import
