// Importer row `infragraph`: infrastructure as devices, instances and edges (InfraGraph, YAML).
// Devices with xpus, or with CPUs and NICs, are servers; the others are switches, each as one
// device with its ports.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "import/infragraph_inside.h"
#include "import/infragraph_model.h"
#include "import/network_dump.h"

namespace weft::import {

namespace {

using fabric::LinkKind;

constexpr std::size_t kMostParts = 1 << 21;  // and links, of all copies of all instances
constexpr std::int64_t kUsualGbps = 400;

class InfraNetwork {
 public:
  InfraNetwork(const InfraGraph& graph, const ImportInputs& inputs)
      : graph_(graph), inputs_(inputs), drawn_(graph.devices.size()) {}

  NetworkDump draw(std::string_view text) && {
    check_size();
    diagnostics_.throw_if_any(text);
    find_rates();
    for (std::size_t i = 0; i < graph_.instances.size(); ++i) add_instance(i);
    diagnostics_.throw_if_any(text);
    for (const InfraGraph::Edge& edge : graph_.edges) add_cable(edge);
    diagnostics_.throw_if_any(text);
    if (assumed_ > 0)
      dump_.assumptions.push_back(fmt::format(
          "{} links have no bandwidth in the file: taken as {} Gbps", assumed_, kUsualGbps));
    return std::move(dump_);
  }

 private:
  // What a device is like, found once for all its instances.
  struct Drawn {
    InfraRole role = InfraRole::network_switch;
    std::vector<std::size_t> nics;  // nodes
    std::vector<BitRate> rates;     // of a port, by NIC
    std::shared_ptr<const fabric::Fabric> inside;
    std::map<std::size_t, int> ports;  // of a switch: node -> number
  };

  void check_size() {
    std::size_t parts = 0;
    for (const InfraInstance& instance : graph_.instances) {
      const InfraDevice& device = graph_.devices[instance.device];
      std::size_t cpus = 0;
      for (const InfraComponent& component : device.components)
        cpus += component.kind == InfraKind::cpu ? component.count : 0;
      // CPUs of a server are joined in pairs.
      parts += instance.count * (device.nodes + device.edges.size() + cpus * cpus / 2 + 1);
      if (parts <= kMostParts) continue;
      diagnostics_.add(instance.where,
                       fmt::format("more than {} parts and links in all", kMostParts),
                       "check the counts");
      return;
    }
  }

  void find_rates() {
    for (std::size_t d = 0; d < graph_.devices.size(); ++d) {
      const InfraDevice& device = graph_.devices[d];
      Drawn& drawn = drawn_[d];
      drawn.role = role_of(graph_, device);
      drawn.nics = nics_of(graph_, device);
      drawn.rates.resize(drawn.nics.size());
      for (const InfraComponent& component : device.components) {
        if (component.kind != InfraKind::port && component.kind != InfraKind::nic) continue;
        for (std::size_t n = 0; n < component.count; ++n)
          drawn.ports.emplace(component.first + n, static_cast<int>(drawn.ports.size()) + 1);
      }
    }
    BitRate fastest;
    for (const InfraGraph::Edge& edge : graph_.edges) {
      const BitRate rate = rate_of(graph_.links[edge.link]);
      fastest = std::max(fastest, rate);
      for (const InfraGraph::End* end : {&edge.a, &edge.b}) {
        if (const auto nic = nic_of(*end)) {
          BitRate& known = drawn_[graph_.instances[end->instance].device].rates[*nic];
          known = std::max(known, rate);
        }
      }
    }
    if (fastest.bps() == 0) fastest = BitRate::gigabits_per_second(kUsualGbps);
    for (Drawn& drawn : drawn_) {
      for (BitRate& rate : drawn.rates) {
        if (rate.bps() == 0) rate = fastest;  // a NIC without a cable
      }
    }
  }

  static BitRate rate_of(const InfraLink& link) {
    return link.rate.bps() > 0 ? link.rate : BitRate::gigabits_per_second(kUsualGbps);
  }

  // Its place among the NICs of its device.
  [[nodiscard]] std::optional<std::size_t> nic_of(const InfraGraph::End& end) const {
    const Drawn& drawn = drawn_[graph_.instances[end.instance].device];
    const auto found = std::lower_bound(drawn.nics.begin(), drawn.nics.end(), end.node);
    if (drawn.role != InfraRole::host || found == drawn.nics.end() || *found != end.node)
      return std::nullopt;
    return static_cast<std::size_t>(found - drawn.nics.begin());
  }

  void add_instance(std::size_t i) {
    const InfraInstance& instance = graph_.instances[i];
    const InfraDevice& device = graph_.devices[instance.device];
    Drawn& drawn = drawn_[instance.device];
    if (drawn.role == InfraRole::host && drawn.nics.empty()) {
      diagnostics_.add(device.where, fmt::format("device {} has xpus but no NIC", device.name),
                       "add a component of choice nic");
      return;
    }
    if (drawn.role == InfraRole::host && !drawn.inside) {
      drawn.inside = build_inside(graph_, device, drawn.rates, inputs_);
      for (const std::string& text : drawn.inside->assumptions())
        if (inputs_.host == nullptr) dump_.assumptions.push_back(text);
    }
    for (std::size_t copy = 0; copy < instance.count; ++copy) {
      const std::string name = fmt::format("{}.{}", instance.name, copy);
      if (drawn.role == InfraRole::host) {
        place_[{i, copy}] = dump_.hosts.size();
        NetworkDump::Host host;
        host.name = name;
        host.gpus = true;
        host.inside = drawn.inside;
        host.nics.resize(drawn.nics.size());
        for (std::size_t n = 0; n < host.nics.size(); ++n) {
          const InfraComponent& part = device.component_of(drawn.nics[n]);
          host.nics[n].name = fmt::format("{}.{}", part.name, drawn.nics[n] - part.first);
          host.nics[n].rate = drawn.rates[n];
          host.nics[n].ports = 0;  // counted with the cables
        }
        dump_.hosts.push_back(std::move(host));
      } else {
        place_[{i, copy}] = dump_.switches.size();
        NetworkDump::Switch chassis;
        chassis.name = name;
        dump_.switches.push_back(std::move(chassis));
      }
    }
  }

  void add_cable(const InfraGraph::Edge& edge) {
    const auto a = end_of(edge.a, edge.where), b = end_of(edge.b, edge.where);
    if (!a || !b) return;
    if (!a->on_switch && !b->on_switch && a->device == b->device) {
      diagnostics_.add(edge.where, "both ends are in one server", "put the edge into the device");
      return;
    }
    if (a->on_switch && b->on_switch && a->device == b->device) {
      diagnostics_.add(edge.where, "both ends are on one switch", "a cable joins two devices");
      return;
    }
    const InfraLink& link = graph_.links[edge.link];
    if (link.rate.bps() == 0 && told_.insert(edge.link).second) ++assumed_;
    const std::string words = to_lower(link.name + " " + link.description);
    const bool infiniband = words.find("infiniband") != std::string::npos;
    NetworkDump::Cable cable;
    cable.a = *a;
    cable.b = *b;
    cable.link = network_link(
        *inputs_.catalogue, infiniband ? LinkKind::infiniband : LinkKind::ethernet, rate_of(link));
    if (link.latency) cable.link.latency = *link.latency;
    dump_.cables.push_back(std::move(cable));
  }

  std::optional<NetworkDump::End> end_of(const InfraGraph::End& end, const SourcePosition& where) {
    const std::size_t d = graph_.instances[end.instance].device;
    const InfraDevice& device = graph_.devices[d];
    const InfraComponent& part = device.component_of(end.node);
    NetworkDump::End out;
    out.device = place_.at({end.instance, end.copy});
    if (drawn_[d].role == InfraRole::host) {
      const auto nic = nic_of(end);
      if (!nic) {
        diagnostics_.add(where, fmt::format("{} of {} is no NIC", part.name, device.name),
                         "Weft reads edges of NICs and of switches' ports between devices");
        return std::nullopt;
      }
      out.on_switch = false;
      out.nic = *nic;
      out.port = ++dump_.hosts[out.device].nics[*nic].ports;
      return out;
    }
    const auto port = drawn_[d].ports.find(end.node);
    if (port == drawn_[d].ports.end()) return out;
    out.port = port->second;
    if (!used_.insert(end).second) {
      diagnostics_.add(
          where,
          fmt::format("{}.{} of {}.{} has a cable already", part.name, end.node - part.first,
                      graph_.instances[end.instance].name, end.copy),
          "a port takes one cable");
      return std::nullopt;
    }
    return out;
  }

  const InfraGraph& graph_;
  const ImportInputs& inputs_;
  Diagnostics diagnostics_;
  NetworkDump dump_;
  std::vector<Drawn> drawn_;
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> place_;  // instance, copy
  std::set<InfraGraph::End> used_;
  std::set<std::size_t> told_;
  std::size_t assumed_ = 0;
};

class InfraGraphRow final : public Importer {
 public:
  [[nodiscard]] std::string_view name() const override { return "infragraph"; }
  [[nodiscard]] std::string_view summary() const override {
    return "InfraGraph YAML: devices, instances and the edges between them";
  }
  // The top key `infrastructure`, or devices and instances side by side.
  [[nodiscard]] bool recognises(const Source& source) const override {
    bool devices = false, instances = false;
    for (const std::string_view line : split(source.text, '\n')) {
      if (starts_with(line, "infrastructure:")) return true;
      devices = devices || starts_with(line, "devices:");
      instances = instances || starts_with(line, "instances:");
      if (devices && instances) return true;
    }
    return false;
  }
  [[nodiscard]] fabric::Fabric read(const Source& source,
                                    const ImportInputs& inputs) const override {
    const InfraGraph graph = read_infragraph(source.text, source.file);
    return build_network(InfraNetwork(graph, inputs).draw(source.text), inputs);
  }
};

}  // namespace

const Importer& infragraph_importer() {
  static const InfraGraphRow kImporter;
  return kImporter;
}

}  // namespace weft::import
