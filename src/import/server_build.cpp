// build_servers(): a completed sketch as devices and links.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/check.h"
#include "fabric/fabric_builder.h"
#include "fabric/nvlink.h"
#include "fabric/pcie.h"
#include "import/server_sketch.h"

namespace weft::import {

namespace {

using fabric::DeviceClass;
using fabric::DeviceId;
using fabric::DeviceKind;
using fabric::LinkClass;
using fabric::LinkKind;
using End = ServerSketch::End;
using Kind = ServerSketch::Kind;
using Node = ServerSketch::Node;

constexpr int kUsualNvlinkGeneration = 3;  // for a GPU that no catalogue row names

class ServerBuild {
 public:
  // `most_links`: NVLinks at the NVSwitch chip that has the most of them.
  ServerBuild(const ServerSketch& sketch, const Catalogue& catalogue,
              fabric::FabricBuilder& builder, int most_links)
      : sketch_(sketch), catalogue_(catalogue), builder_(builder), most_links_(most_links) {}

  // `shared`: NVSwitch chips outside the server, when several hosts share them.
  void run(const std::vector<DeviceId>& shared) {
    nvswitches_ = shared;
    builder_.begin_server();
    add_cpus();
    add_host_bridges();
    devices_.resize(sketch_.nodes.size());
    add_nodes(Kind::pcie_switch, "pcie");
    add_nodes(Kind::slot, "slot");
    add_nodes(Kind::gpu, "gpu");
    add_nodes(Kind::nic, "nic");
    for (std::size_t chip = nvswitches_.size(); chip < nvswitch_chips(); ++chip) {
      nvswitches_.push_back(builder_.add_device(nvswitch_class(), {name("nvswitch", chip)}));
    }
    builder_.end_server();
    link_cpus();
    link_nodes();
    link_peers();
    for (const std::string& assumption : sketch_.assumptions) builder_.assume(assumption);
  }

  [[nodiscard]] std::size_t nvswitch_chips() const {
    std::size_t chips = 0;
    for (const ServerSketch::Peers& peers : sketch_.peers) {
      if (peers.end == End::nvswitch) chips = std::max(chips, peers.other + 1);
    }
    return chips;
  }

  fabric::DeviceClassId nvswitch_class() {
    int generation = kUsualNvlinkGeneration;
    for (const ServerSketch::Peers& peers : sketch_.peers) {
      if (peers.end == End::nvswitch) generation = nvlink_generation(peers.gpu);
    }
    // NVSwitch 1 came with NVLink 2, and so on.
    const std::string model = fmt::format("nvswitch{}", std::max(1, generation - 1));
    DeviceClass c = catalogue_.device(model).value_or(DeviceClass{});
    c.kind = DeviceKind::nvswitch;
    c.model = model;
    if (c.radix != 0 && most_links_ > c.radix) {
      builder_.assume(
          fmt::format("{} NVLinks at one {} of {} ports: drawn as a switch without a limit",
                      most_links_, model, c.radix));
      c.radix = 0;
    }
    return builder_.device_class(c);
  }

 private:
  [[nodiscard]] std::string name(std::string_view what, std::size_t number) const {
    return fmt::format("{}{}{}{}", sketch_.host, sketch_.host.empty() ? "" : "/", what, number);
  }

  [[nodiscard]] std::string cpu_model(std::size_t cpu) const {
    const ServerSketch::Cpu& c = sketch_.cpus[cpu];
    return catalogue_.model_of_cpu({c.vendor, c.architecture, c.family, c.model});
  }

  void add_cpus() {
    for (std::size_t i = 0; i < sketch_.cpus.size(); ++i) {
      const ServerSketch::Cpu& cpu = sketch_.cpus[i];
      const CataloguePart* part = catalogue_.part(cpu_model(i));
      CHECK(part != nullptr);
      fabric::FabricBuilder::DeviceSpec spec;
      spec.name = name("cpu", i);
      spec.numa = static_cast<std::int16_t>(cpu.numa.value_or(-1));
      const DeviceId device = builder_.add_device(builder_.device_class(part->device), spec);
      if (!cpu.cpu_affinity.empty()) builder_.set_label(device, "cpu_affinity", cpu.cpu_affinity);
      cpus_.push_back(device);
    }
  }

  void add_host_bridges() {
    for (std::size_t i = 0; i < sketch_.host_bridges.size(); ++i) {
      const std::size_t cpu = sketch_.host_bridges[i].cpu;
      fabric::FabricBuilder::DeviceSpec spec;
      spec.name = name("bridge", i);
      spec.numa = static_cast<std::int16_t>(sketch_.cpus[cpu].numa.value_or(-1));
      const DeviceClass c = catalogue_.host_bridge_of(cpu_model(cpu));
      host_bridges_.push_back(builder_.add_device(builder_.device_class(c), spec));
    }
  }

  // The catalogue's class of `model`, else of `generic`, else an empty one of that kind.
  [[nodiscard]] DeviceClass named(std::string_view model, std::string_view generic,
                                  DeviceKind kind) const {
    for (const std::string_view candidate : {model, generic}) {
      const CataloguePart* part = candidate.empty() ? nullptr : catalogue_.part(candidate);
      if (part != nullptr && part->device.kind == kind) return part->device;
    }
    DeviceClass c;
    c.kind = kind;
    c.model = model.empty() ? generic : model;
    return c;
  }

  [[nodiscard]] DeviceClass class_of(const Node& node) const {
    if (node.kind == Kind::slot) {
      return named("multifunction-adapter", "", DeviceKind::pcie_switch);
    }
    if (node.kind == Kind::pcie_switch) {
      return named(node.model, "generic-pcie-switch", DeviceKind::pcie_switch);
    }
    if (node.kind == Kind::gpu) {
      DeviceClass c = named(node.model, "unknown-gpu", DeviceKind::gpu);
      if (c.compute_capability == 0) c.compute_capability = node.compute_capability;
      c.gpu_direct_rdma = c.gpu_direct_rdma && node.gpu_direct_rdma;
      return c;
    }
    DeviceClass c = named(node.model, "generic-nic", DeviceKind::nic);
    c.port_rate = node.port_rate;
    c.ports = 1;
    if (node.port_kind) c.port_kind = *node.port_kind;
    c.gpu_direct_rdma = c.gpu_direct_rdma && node.gpu_direct_rdma;
    return c;
  }

  void add_nodes(Kind kind, std::string_view what) {
    std::size_t number = 0;
    for (const std::size_t i : sketch_.of_kind(kind)) {
      const Node& node = sketch_.nodes[i];
      const ServerSketch::HostBridge& bridge = sketch_.host_bridges[node.host_bridge];
      const ServerSketch::Cpu& cpu = sketch_.cpus[bridge.cpu];
      fabric::FabricBuilder::DeviceSpec spec;
      spec.name = name(what, number++);
      if (bridge.numa_known) spec.numa = static_cast<std::int16_t>(cpu.numa.value_or(-1));
      const DeviceId device = builder_.add_device(builder_.device_class(class_of(node)), spec);
      for (const auto& [key, value] : node.labels) builder_.set_label(device, key, value);
      if (kind == Kind::gpu) label_affinity(device, node, cpu);
      devices_[i] = device;
    }
  }

  // Unless the source gave the GPU its own.
  void label_affinity(DeviceId device, const Node& node, const ServerSketch::Cpu& cpu) {
    const auto given = [&](std::string_view key) {
      return std::any_of(node.labels.begin(), node.labels.end(),
                         [key](const auto& label) { return label.first == key; });
    };
    std::string numa = cpu.numa_affinity;
    if (numa.empty() && cpu.numa) numa = std::to_string(*cpu.numa);
    if (!cpu.cpu_affinity.empty() && !given("cpu_affinity")) {
      builder_.set_label(device, "cpu_affinity", cpu.cpu_affinity);
    }
    if (!numa.empty() && !given("numa_affinity")) {
      builder_.set_label(device, "numa_affinity", numa);
    }
  }

  // Nodes of one package talk over its on-die fabric, packages over the socket links; every pair.
  void link_cpus() {
    for (std::size_t i = 0; i < host_bridges_.size(); ++i) {
      const std::size_t cpu = sketch_.host_bridges[i].cpu;
      const auto link = builder_.link_class(catalogue_.on_die_link_of(cpu_model(cpu)));
      builder_.add_link({cpus_[cpu], host_bridges_[i]}, link);
    }
    for (std::size_t a = 0; a < cpus_.size(); ++a) {
      for (std::size_t b = a + 1; b < cpus_.size(); ++b) {
        LinkClass c = catalogue_.socket_link_of(cpu_model(a));
        const auto& package = sketch_.cpus[a].package;
        if (package && package == sketch_.cpus[b].package) {
          c.raw_rate = catalogue_.on_die_link_of(cpu_model(a)).raw_rate;
          c.name = "between NUMA nodes of one package";
        }
        builder_.add_link({cpus_[a], cpus_[b]}, builder_.link_class(c));
      }
    }
  }

  void link_nodes() {
    for (std::size_t i = 0; i < sketch_.nodes.size(); ++i) {
      const Node& node = sketch_.nodes[i];
      const DeviceId above = node.parent ? devices_[*node.parent] : host_bridges_[node.host_bridge];
      const auto link =
          builder_.link_class(fabric::pcie_link_class(node.link.generation, node.link.lanes));
      builder_.add_link({above, devices_[i]}, link);
    }
  }

  [[nodiscard]] int nvlink_generation(std::size_t node) const {
    const NvlinkPort port = catalogue_.nvlink_of(sketch_.nodes[node].model);
    return port.generation > 0 ? port.generation : kUsualNvlinkGeneration;
  }

  // Links named in the catalogue, `links` of them side by side.
  LinkClass bundle(const std::string& row, const std::string& fallback,
                   const ServerSketch::Peers& peers) {
    std::optional<LinkClass> c = catalogue_.link(row);
    if (!c) {
      c = catalogue_.link(fallback);
      builder_.assume(fmt::format("no figures for {}: taken as {}", row, fallback));
    }
    CHECK(c.has_value());
    LinkClass all = fabric::bundled(*c, peers.links);
    all.kind = peers.kind;
    if (peers.rate.bps() > 0) all.raw_rate = peers.rate;
    return all;
  }

  LinkClass class_of(const ServerSketch::Peers& peers) {
    const std::string& model = sketch_.nodes[peers.gpu].model;
    if (peers.kind == LinkKind::c2c) return bundle("nvlink-c2c", "nvlink-c2c", peers);
    if (peers.kind == LinkKind::xgmi) {
      return bundle("xgmi-" + (model.empty() ? "unknown" : model), "xgmi-mi100", peers);
    }
    if (catalogue_.nvlink_of(model).generation == 0) {
      builder_.assume(fmt::format("NVLink generation of {} is not known: taken as {}",
                                  model.empty() ? "an unknown GPU" : model,
                                  kUsualNvlinkGeneration));
    }
    return fabric::nvlink_link_class(nvlink_generation(peers.gpu), peers.links);
  }

  void link_peers() {
    for (const ServerSketch::Peers& peers : sketch_.peers) {
      const std::vector<DeviceId>& ends = peers.end == End::gpu   ? devices_
                                          : peers.end == End::cpu ? cpus_
                                                                  : nvswitches_;
      builder_.add_link({devices_[peers.gpu], ends[peers.other]},
                        builder_.link_class(class_of(peers)));
    }
  }

  const ServerSketch& sketch_;
  const Catalogue& catalogue_;
  fabric::FabricBuilder& builder_;
  int most_links_ = 0;
  std::vector<DeviceId> cpus_, host_bridges_, devices_;
  std::vector<DeviceId> nvswitches_;
};

int most_links_of_a_chip(const std::vector<ServerSketch>& sketches) {
  std::map<std::size_t, int> links;
  for (const ServerSketch& sketch : sketches) {
    for (const ServerSketch::Peers& peers : sketch.peers) {
      if (peers.end == End::nvswitch) links[peers.other] += peers.links;
    }
  }
  int most = 0;
  for (const auto& [chip, count] : links) most = std::max(most, count);
  return most;
}

}  // namespace

fabric::Fabric build_servers(const std::vector<ServerSketch>& sketches,
                             const Catalogue& catalogue) {
  fabric::FabricBuilder builder;
  const int most_links = most_links_of_a_chip(sketches);
  std::vector<DeviceId> shared;
  for (const ServerSketch& sketch : sketches) {
    if (sketches.size() == 1) break;
    ServerBuild build(sketch, catalogue, builder, most_links);
    while (shared.size() < build.nvswitch_chips()) {
      shared.push_back(builder.add_device(build.nvswitch_class(),
                                          {fmt::format("nvswitch{}", shared.size()), 1}));
    }
  }
  for (const ServerSketch& sketch : sketches)
    ServerBuild(sketch, catalogue, builder, most_links).run(shared);
  return std::move(builder).build();
}

}  // namespace weft::import
