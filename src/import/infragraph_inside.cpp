#include "import/infragraph_inside.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/text.h"
#include "fabric/nvlink.h"
#include "import/server_sketch.h"

namespace weft::import {

namespace {

using fabric::LinkKind;
using Kind = ServerSketch::Kind;
using End = ServerSketch::End;

bool says(const std::string& lower, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return lower.find(word) != std::string::npos; });
}

const InfraDevice* composed(const InfraGraph& graph, const InfraComponent& component) {
  if (component.kind != InfraKind::device) return nullptr;
  const auto found =
      std::find_if(graph.devices.begin(), graph.devices.end(),
                   [&](const InfraDevice& device) { return device.name == component.name; });
  return found == graph.devices.end() ? nullptr : &*found;
}

bool has_kind(const InfraDevice& device, InfraKind kind) {
  return std::any_of(device.components.begin(), device.components.end(),
                     [kind](const InfraComponent& c) { return c.kind == kind && c.count > 0; });
}

// The number behind "gen" or "pcie": "PCIE_GEN5 x16", "PCIe 3.0", "Gen 4".
int generation_in(const std::string& lower) {
  for (const std::string_view word : {"gen", "pcie", "pci express"}) {
    const std::size_t at = lower.find(word);
    if (at == std::string::npos) continue;
    std::size_t digit = at + word.size();
    while (digit < lower.size() && std::string_view(" _-v").find(lower[digit]) != std::string::npos)
      ++digit;
    if (digit < lower.size() && lower[digit] >= '1' && lower[digit] <= '7')
      return lower[digit] - '0';
  }
  return 0;
}

PciSpeed pcie_speed(const InfraLink& link) {
  constexpr std::array<double, 7> kTransfers{2.5, 5, 8, 16, 32, 64, 128};
  constexpr double kNear = 0.1;  // rates are written rounded: 32 GB/s for 31.5
  PciSpeed speed{0, 16};
  for (std::size_t g = 0; g < kTransfers.size(); ++g) {
    const bool by_transfers = link.gigatransfers == kTransfers[g];
    const double sixteen_lanes = kTransfers[g] * 2 * (g < 2 ? 0.8 : 1);
    const double rate = link.rate.gb_per_s();
    const bool by_rate = link.gigatransfers == 0 && rate > 0 &&
                         rate > sixteen_lanes * (1 - kNear) && rate < sixteen_lanes * (1 + kNear);
    if (by_transfers || by_rate) speed.generation = static_cast<int>(g) + 1;
  }
  if (speed.generation == 0)
    speed.generation = generation_in(to_lower(link.name + " " + link.description));
  return speed.generation == 0 ? PciSpeed{} : speed;
}

class InsideBuild {
 public:
  InsideBuild(const InfraGraph& graph, const InfraDevice& device, const std::vector<BitRate>& rates,
              const ImportInputs& inputs)
      : graph_(graph), device_(device), rates_(rates), inputs_(inputs) {}

  std::shared_ptr<const fabric::Fabric> build() && {
    find_parts();
    sketch_.lists_peers = false;
    for (const InfraDevice::Edge& edge : device_.edges) sort_edge(edge);
    for (std::size_t cpu = 0; cpu < cpus_.size(); ++cpu) grow(cpus_[cpu], cpu, {});
    hang_the_rest();
    add_peers();
    complete(sketch_, *inputs_.catalogue, inputs_.hints);
    return std::make_shared<const fabric::Fabric>(build_servers({sketch_}, *inputs_.catalogue));
  }

 private:
  struct Part {
    InfraKind kind = InfraKind::custom;
    bool scale_up = false;   // a chip that joins xpus
    std::size_t number = 0;  // among its kind
  };

  void find_parts() {
    parts_.resize(device_.nodes);
    std::size_t xpus = 0, nics = 0, chips = 0;
    for (const InfraComponent& component : device_.components) {
      const std::string words =
          to_lower(component.name + " " + component.description + " " + component.type);
      for (std::size_t node = component.first; node < component.first + component.count; ++node) {
        Part& part = parts_[node];
        part.kind = is_nic(graph_, component) ? InfraKind::nic : component.kind;
        if (part.kind == InfraKind::cpu) {
          part.number = cpus_.size();
          cpus_.push_back(node);
          add_cpu(words);
        } else if (part.kind == InfraKind::xpu) {
          part.number = xpus++;
        } else if (part.kind == InfraKind::nic) {
          part.number = nics++;
        } else if ((part.kind == InfraKind::switch_chip || part.kind == InfraKind::custom) &&
                   says(words, {"nvsw", "nvlsw", "nv-sw", "nvlink", "nvswitch", "ualink"})) {
          part.scale_up = true;
          part.number = chips++;
        }
      }
    }
    if (cpus_.empty()) {
      add_cpu("");
      sketch_.assume(fmt::format("device {} names no CPU: one is drawn", device_.name));
    }
    for (std::size_t c = 0; c < sketch_.cpus.size(); ++c) sketch_.host_bridges.push_back({c});
  }

  void add_cpu(const std::string& words) {
    ServerSketch::Cpu cpu;
    cpu.numa = static_cast<int>(sketch_.cpus.size());
    if (says(words, {"amd", "epyc"})) {
      cpu.vendor = fabric::Vendor::amd;
    } else if (says(words, {"intel", "xeon"})) {
      cpu.vendor = fabric::Vendor::intel;
    } else if (says(words, {"grace", "arm", "neoverse"})) {
      cpu.vendor = fabric::Vendor::arm;
      cpu.architecture = "arm64";
    }
    sketch_.cpus.push_back(cpu);
  }

  // Edges between xpus and to chips are scale-up, of xpus to CPUs when the link says so; the rest
  // are PCIe, or between CPUs, which every server has anyway.
  void sort_edge(const InfraDevice::Edge& edge) {
    const Part &a = parts_[edge.a], &b = parts_[edge.b];
    const InfraLink& link = device_.links[edge.link];
    const std::string words = to_lower(link.name + " " + link.description);
    const bool xpu_a = a.kind == InfraKind::xpu, xpu_b = b.kind == InfraKind::xpu;
    if (a.scale_up || b.scale_up) {
      if (xpu_a || xpu_b) scale_up_.push_back(edge);
      return;  // the management port of a chip
    }
    if (xpu_a && xpu_b) {
      scale_up_.push_back(edge);
    } else if ((xpu_a || xpu_b) && (a.kind == InfraKind::cpu || b.kind == InfraKind::cpu) &&
               says(words, {"c2c", "nvlink", "chip to chip"})) {
      scale_up_.push_back(edge);
    } else if (a.kind != InfraKind::memory && b.kind != InfraKind::memory) {
      pcie_[edge.a].push_back({edge.b, edge.link});
      pcie_[edge.b].push_back({edge.a, edge.link});
    }
  }

  [[nodiscard]] static bool is_end(const Part& part) {
    return part.kind == InfraKind::xpu || part.kind == InfraKind::nic;
  }

  // Everything beyond `node`, once.
  void grow(std::size_t node, std::size_t cpu, std::optional<std::size_t> parent) {
    std::vector<std::pair<std::size_t, PciSpeed>> below;
    for (const auto& [next, link] : pcie_[node]) {
      if (parts_[next].kind == InfraKind::cpu || parts_[next].scale_up) continue;
      if (parts_[next].kind == InfraKind::port) continue;
      if (!placed_.emplace(next, 0).second) continue;
      below.emplace_back(next, pcie_speed(device_.links[link]));
    }
    for (const auto& [next, speed] : below) {
      if (is_end(parts_[next])) {
        add_end(next, cpu, parent, speed);
        // A NIC that hangs on an xpu shares the switch above.
        grow(next, cpu, parent);
      } else {
        const std::size_t above = add_switch(cpu, parent, speed);
        if (parts_[next].kind != InfraKind::switch_chip) slots_.insert(above);
        grow(next, cpu, above);
      }
    }
  }

  std::size_t add_switch(std::size_t cpu, std::optional<std::size_t> parent, PciSpeed speed) {
    ServerSketch::Node node;
    node.kind = Kind::pcie_switch;
    node.host_bridge = cpu;
    node.parent = parent;
    node.link = speed;
    sketch_.nodes.push_back(std::move(node));
    return sketch_.nodes.size() - 1;
  }

  void add_end(std::size_t at, std::size_t cpu, std::optional<std::size_t> parent, PciSpeed speed) {
    const Part& part = parts_[at];
    ServerSketch::Node node;
    node.host_bridge = cpu;
    node.parent = parent;
    node.link = speed;
    node.rank = static_cast<int>(part.number);
    const InfraComponent& component = device_.component_of(at);
    if (part.kind == InfraKind::xpu) {
      node.kind = Kind::gpu;
      node.model = gpu_model(component);
    } else {
      node.kind = Kind::nic;
      node.port_rate = rates_[part.number];
      node.port_kind = LinkKind::ethernet;
      node.labels = {{"nic_name", fmt::format("{}.{}", component.name, at - component.first)}};
    }
    sketch_.nodes.push_back(std::move(node));
    placed_[at] = sketch_.nodes.size() - 1;
  }

  // The catalogue's GPU whose family ("h100") the description or the name of the device has.
  std::string gpu_model(const InfraComponent& component) {
    const std::string words =
        to_lower(component.name + " " + component.description + " " + device_.name);
    std::string best;
    for (const std::string& name : inputs_.catalogue->names(fabric::DeviceKind::gpu)) {
      if (!says(words, {std::string_view(name).substr(0, name.find('-'))})) continue;
      const bool module = says(name, {"sxm", "oam"});
      if (best.empty() || (module && !says(best, {"sxm", "oam"}))) best = name;
    }
    if (!best.empty())
      sketch_.assume(
          fmt::format("{} of device {} is taken as {}", component.name, device_.name, best));
    return best;
  }

  // Parts without a way to a CPU: those that edges join share a switch, spread over the CPUs.
  void hang_the_rest() {
    std::size_t groups = 0;
    for (std::size_t node = 0; node < parts_.size(); ++node) {
      if (!is_end(parts_[node]) || placed_.contains(node)) continue;
      const std::size_t cpu = groups++ % sketch_.cpus.size();
      placed_.emplace(node, 0);
      const std::size_t above = add_switch(cpu, {}, {});
      slots_.insert(above);
      add_end(node, cpu, above, {});
      grow(node, cpu, above);
    }
    if (groups > 0)
      sketch_.assume(
          fmt::format("device {}: parts that no CPU reaches are drawn under {} PCIe "
                      "switches",
                      device_.name, groups));
    std::set<std::size_t> drop;
    for (std::size_t s = 0; s < sketch_.nodes.size(); ++s) collapse(s, drop);
    // Nodes are numbered anew after a drop, and peers with them: peers are added later by rank.
    drop_nodes(sketch_, drop);
    drop_empty_bridges(sketch_);
  }

  // A slot with one part below: the part takes its place.
  void collapse(std::size_t s, std::set<std::size_t>& drop) {
    if (!slots_.contains(s)) return;
    std::vector<std::size_t> below;
    for (std::size_t n = 0; n < sketch_.nodes.size(); ++n) {
      if (sketch_.nodes[n].parent == s && !drop.contains(n)) below.push_back(n);
    }
    if (below.size() != 1) return;
    sketch_.nodes[below[0]].parent = sketch_.nodes[s].parent;
    drop.insert(s);
  }

  void add_peers() {
    std::map<std::size_t, std::size_t> gpu;  // number of an xpu -> its node
    for (std::size_t n = 0; n < sketch_.nodes.size(); ++n) {
      if (sketch_.nodes[n].kind == Kind::gpu)
        gpu[static_cast<std::size_t>(*sketch_.nodes[n].rank)] = n;
    }
    std::map<std::tuple<std::size_t, End, std::size_t>, ServerSketch::Peers> bundles;
    for (const InfraDevice::Edge& edge : scale_up_) {
      const bool first = parts_[edge.a].kind == InfraKind::xpu;
      const Part& own = parts_[first ? edge.a : edge.b];
      const Part& other = parts_[first ? edge.b : edge.a];
      ServerSketch::Peers peers;
      peers.gpu = gpu.at(own.number);
      peers.links = 0;
      if (other.kind == InfraKind::xpu) {
        peers.end = End::gpu;
        peers.other = gpu.at(other.number);
        if (peers.other < peers.gpu) std::swap(peers.gpu, peers.other);
      } else {
        peers.end = other.kind == InfraKind::cpu ? End::cpu : End::nvswitch;
        peers.other = other.number;
        if (peers.end == End::cpu) peers.kind = LinkKind::c2c;
      }
      const InfraLink& link = device_.links[edge.link];
      if (says(to_lower(link.name + " " + link.description), {"xgmi", "infinity"}))
        peers.kind = LinkKind::xgmi;
      ServerSketch::Peers& bundle =
          bundles.try_emplace({peers.gpu, peers.end, peers.other}, peers).first->second;
      constexpr int kMostLinks = 64;
      bundle.links = std::min(bundle.links + 1, kMostLinks);
      bundle.rate = bundle.rate + link.rate;
    }
    for (const auto& [ends, bundle] : bundles) sketch_.peers.push_back(bundle);
    sketch_.lists_peers = !sketch_.peers.empty();
  }

  const InfraGraph& graph_;
  const InfraDevice& device_;
  const std::vector<BitRate>& rates_;
  const ImportInputs& inputs_;
  ServerSketch sketch_;
  std::vector<Part> parts_;  // by node
  std::vector<std::size_t> cpus_;
  std::vector<InfraDevice::Edge> scale_up_;
  std::map<std::size_t, std::vector<std::pair<std::size_t, std::size_t>>> pcie_;
  std::map<std::size_t, std::size_t> placed_;  // part -> its node of the sketch
  std::set<std::size_t> slots_;                // nodes that are no switch by themselves
};

}  // namespace

bool is_nic(const InfraGraph& graph, const InfraComponent& component) {
  if (component.kind == InfraKind::nic) return true;
  const InfraDevice* inner = composed(graph, component);
  return inner != nullptr && !has_kind(*inner, InfraKind::xpu) &&
         (has_kind(*inner, InfraKind::port) || has_kind(*inner, InfraKind::nic));
}

std::vector<std::size_t> nics_of(const InfraGraph& graph, const InfraDevice& device) {
  std::vector<std::size_t> nodes;
  for (const InfraComponent& component : device.components) {
    if (!is_nic(graph, component)) continue;
    for (std::size_t i = 0; i < component.count; ++i) nodes.push_back(component.first + i);
  }
  return nodes;
}

InfraRole role_of(const InfraGraph& graph, const InfraDevice& device) {
  if (has_kind(device, InfraKind::xpu)) return InfraRole::host;
  const bool host = has_kind(device, InfraKind::cpu) && !has_kind(device, InfraKind::port) &&
                    !nics_of(graph, device).empty();
  return host ? InfraRole::host : InfraRole::network_switch;
}

std::shared_ptr<const fabric::Fabric> build_inside(const InfraGraph& graph,
                                                   const InfraDevice& device,
                                                   const std::vector<BitRate>& rates,
                                                   const ImportInputs& inputs) {
  return InsideBuild(graph, device, rates, inputs).build();
}

}  // namespace weft::import
