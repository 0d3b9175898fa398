// Importer row `server_yaml`: a server file as a Fabric of one server. Devices are named by kind
// and number: cpu0, bridge0, pcie0, slot0, gpu0, nic0, nvswitch0.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/check.h"
#include "base/text.h"
#include "fabric/fabric_builder.h"
#include "fabric/nvlink.h"
#include "fabric/pcie.h"
#include "import/importer.h"
#include "import/server_file.h"

namespace weft::import {

namespace {

using fabric::DeviceClass;
using fabric::DeviceId;
using fabric::FabricBuilder;
using fabric::LinkClass;
using Kind = PcieNode::Kind;

class ServerBuild {
 public:
  ServerBuild(const ServerFile& file, const Catalogue& catalogue)
      : file_(file), catalogue_(catalogue) {}

  fabric::Fabric build() && {
    builder_.begin_server();
    add_gpus();
    add_nics();
    add_cpus();
    for (std::size_t i = 0; i < file_.numa_nodes.size(); ++i) add_host_bridges(i);
    for (std::size_t i = 0; i < file_.nvswitches.size(); ++i) {
      const auto id = builder_.device_class(*catalogue_.device(file_.nvswitches[i]));
      nvswitches_.push_back(builder_.add_device(id, {fmt::format("nvswitch{}", i)}));
    }
    builder_.end_server();
    join_cpus();
    join_gpus();
    for (const std::string& text : file_.assumptions) builder_.assume(text);
    return std::move(builder_).build();
  }

 private:
  // GPUs and NICs come first and in the order of their numbers; links follow with the tree.
  void add_gpus() {
    for (const PcieNode* node : in_order(file_, Kind::gpu)) {
      const std::string name = fmt::format("gpu{}", gpus_.size());
      gpus_.push_back(add(*node, *catalogue_.device(node->model), name));
      const NumaNode& numa = numa_of(*node);
      const auto number = &numa - file_.numa_nodes.data();
      if (!numa.affinity.empty()) builder_.set_label(gpus_.back(), "cpu_affinity", numa.affinity);
      builder_.set_label(gpus_.back(), "numa_affinity", std::to_string(number));
    }
  }

  void add_nics() {
    for (const PcieNode* node : in_order(file_, Kind::nic)) {
      DeviceClass nic = *catalogue_.device(node->model);
      nic.ports = node->ports;
      nic.port_rate = node->port_rate.value_or(nic.port_rate);
      nic.port_kind = node->port_kind.value_or(nic.port_kind);
      for (int f = 0; f < node->functions; ++f) {
        const std::string number = std::to_string(nics_++);
        const DeviceId device = add(*node, nic, "nic" + number);
        if (node->name.empty()) continue;
        std::string name = node->name;
        if (const std::size_t at = name.find('#'); at != std::string::npos) {
          name.replace(at, 1, number);
        }
        builder_.set_label(device, "nic_name", name);
      }
    }
  }

  DeviceId add(const PcieNode& node, const DeviceClass& device_class, std::string name) {
    const auto numa = static_cast<std::int16_t>(&numa_of(node) - file_.numa_nodes.data());
    const DeviceId device =
        builder_.add_device(builder_.device_class(device_class), {std::move(name), 0, numa});
    devices_of_[&node].push_back(device);
    if (!node.link_given && node.kind != Kind::pcie_switch) {
      builder_.assume(fmt::format("PCIe link of {} not given: taken as gen{} x{}, all it can do",
                                  node.model, node.link.generation, node.link.lanes));
    }
    return device;
  }

  static bool contains(const std::vector<PcieNode>& nodes, const PcieNode& wanted) {
    return std::any_of(nodes.begin(), nodes.end(), [&](const PcieNode& node) {
      return &node == &wanted || contains(node.below, wanted);
    });
  }

  const NumaNode& numa_of(const PcieNode& node) const {
    for (const NumaNode& numa : file_.numa_nodes) {
      for (const auto& bridge : numa.host_bridges) {
        if (contains(bridge, node)) return numa;
      }
    }
    CHECK(false);
    return file_.numa_nodes.front();
  }

  int nodes_of_socket(int socket) const {
    return static_cast<int>(
        std::count_if(file_.numa_nodes.begin(), file_.numa_nodes.end(),
                      [socket](const NumaNode& n) { return n.socket == socket; }));
  }

  LinkClass on_die(const NumaNode& numa) const {
    return catalogue_.on_die_link_of(numa.cpu, nodes_of_socket(numa.socket));
  }

  void add_cpus() {
    for (std::size_t i = 0; i < file_.numa_nodes.size(); ++i) {
      const NumaNode& numa = file_.numa_nodes[i];
      const auto id = builder_.device_class(*catalogue_.device(numa.cpu));
      cpus_.push_back(
          builder_.add_device(id, {fmt::format("cpu{}", i), 0, static_cast<std::int16_t>(i)}));
      if (!numa.affinity.empty()) builder_.set_label(cpus_[i], "cpu_affinity", numa.affinity);
    }
  }

  void add_host_bridges(std::size_t i) {
    const NumaNode& numa = file_.numa_nodes[i];
    numa_ = static_cast<std::int16_t>(i);
    const auto bridge_class = builder_.device_class(catalogue_.host_bridge_of(numa.cpu));
    for (const auto& below : numa.host_bridges) {
      const std::string name = fmt::format("bridge{}", host_bridges_++);
      const DeviceId bridge = builder_.add_device(bridge_class, {name, 0, numa_});
      builder_.add_link({cpus_[i], bridge}, builder_.link_class(on_die(numa)));
      for (const PcieNode& child : below) hang(child, bridge);
    }
  }

  DeviceId add_switch(const PcieNode& node, const std::string& model, std::string name) {
    const auto id = builder_.device_class(*catalogue_.device(model));
    return builder_.add_device(id, {std::move(name), 0, numa_, node.acs});
  }

  // Links a node (and all below it) to the device above. Several functions of one card share its
  // link: a slot stands between.
  void hang(const PcieNode& node, DeviceId above) {
    const auto link =
        builder_.link_class(fabric::pcie_link_class(node.link.generation, node.link.lanes));
    if (node.kind == Kind::pcie_switch) {
      const DeviceId here = add_switch(node, node.model, fmt::format("pcie{}", pcie_switches_++));
      builder_.add_link({above, here}, link);
      for (const PcieNode& child : node.below) hang(child, here);
      return;
    }
    const std::vector<DeviceId>& functions = devices_of_.at(&node);
    if (functions.size() > 1) {
      const DeviceId slot =
          add_switch(node, "multifunction-adapter", fmt::format("slot{}", slots_++));
      builder_.add_link({above, slot}, link);
      above = slot;
    }
    for (const DeviceId device : functions) builder_.add_link({above, device}, link);
  }

  // NUMA nodes of one socket share its die; sockets are joined pairwise at their first nodes.
  void join_cpus() {
    std::map<int, std::size_t> first_of_socket;
    for (std::size_t i = 0; i < cpus_.size(); ++i) {
      const NumaNode& numa = file_.numa_nodes[i];
      first_of_socket.try_emplace(numa.socket, i);
      for (std::size_t j = 0; j < i; ++j) {
        if (file_.numa_nodes[j].socket != numa.socket) continue;
        builder_.add_link({cpus_[j], cpus_[i]}, builder_.link_class(on_die(numa)));
      }
    }
    for (auto a = first_of_socket.begin(); a != first_of_socket.end(); ++a) {
      for (auto b = std::next(a); b != first_of_socket.end(); ++b) {
        builder_.add_link({cpus_[a->second], cpus_[b->second]},
                          builder_.link_class(socket_link(file_.numa_nodes[a->second])));
      }
    }
    if (first_of_socket.size() > 2) {
      builder_.assume(
          fmt::format("{} sockets: each pair is joined directly", first_of_socket.size()));
    }
  }

  LinkClass socket_link(const NumaNode& numa) const {
    LinkClass link = catalogue_.socket_link_of(numa.cpu, file_.socket_links);
    if (!file_.socket_link) return link;
    return fabric::inter_socket_link_class(*catalogue_.link(*file_.socket_link), link.width,
                                           link.peer_rate);
  }

  void join_gpus() {
    const auto nvlink = [&](DeviceId a, DeviceId b, int generation, int links) {
      builder_.add_link({a, b}, builder_.link_class(fabric::nvlink_link_class(generation, links)));
    };
    const auto generation = [&](DeviceId gpu) { return generation_of_.at(gpu); };
    for (std::size_t i = 0; i < gpus_.size(); ++i) {
      const auto order = in_order(file_, Kind::gpu);
      generation_of_[gpus_[i]] = catalogue_.nvlink_of(order[i]->model).generation;
    }
    for (const Bundle& b : file_.gpu_nvlinks)
      nvlink(gpu(b.a), gpu(b.b), generation(gpu(b.a)), b.links);
    std::map<int, int> chip_generation;
    for (const Bundle& b : file_.switch_nvlinks) {
      chip_generation[b.b] = generation(gpu(b.a));
      nvlink(gpu(b.a), chip(b.b), generation(gpu(b.a)), b.links);
    }
    for (const Bundle& b : file_.trunk_nvlinks) {
      nvlink(chip(b.a), chip(b.b), chip_generation.at(b.a), b.links);
    }
    for (const auto& b : file_.xgmi) named(gpu(b.a), gpu(b.b), b);
    for (const auto& b : file_.c2c) named(gpu(b.a), cpus_[static_cast<std::size_t>(b.b)], b);
  }

  void named(DeviceId a, DeviceId b, const ServerFile::NamedBundle& bundle) {
    const LinkClass link = fabric::bundled(*catalogue_.link(bundle.link), bundle.links);
    builder_.add_link({a, b}, builder_.link_class(link));
  }

  DeviceId gpu(int number) const { return gpus_[static_cast<std::size_t>(number)]; }
  DeviceId chip(int number) const { return nvswitches_[static_cast<std::size_t>(number)]; }

  const ServerFile& file_;
  const Catalogue& catalogue_;
  FabricBuilder builder_;
  std::vector<DeviceId> gpus_, cpus_, nvswitches_;
  std::map<const PcieNode*, std::vector<DeviceId>> devices_of_;
  std::map<DeviceId, int> generation_of_;
  int nics_ = 0, host_bridges_ = 0, pcie_switches_ = 0, slots_ = 0;
  std::int16_t numa_ = -1;
};

class ServerYaml : public Importer {
 public:
  std::string_view name() const override { return "server_yaml"; }
  std::string_view summary() const override {
    return "Weft server file: sockets, PCIe tree, NVLink wiring (docs/server-file.md)";
  }
  bool recognises(const Source& source) const override {
    for (const std::string_view line : split(std::string_view(source.text).substr(0, 4096), '\n')) {
      const std::string_view text = trim(line);
      if (text.empty() || text.front() == '#' || text == "---") continue;
      return starts_with(text, "weft:") && text.find("server/") != std::string_view::npos;
    }
    return false;
  }
  fabric::Fabric read(const Source& source, const ImportInputs& context) const override {
    CHECK(context.catalogue != nullptr);
    const ServerFile file = parse_server_file(source.text, source.file, *context.catalogue);
    return ServerBuild(file, *context.catalogue).build();
  }
};

}  // namespace

const Importer& server_yaml_importer() {
  static const ServerYaml kRow;
  return kRow;
}

}  // namespace weft::import
