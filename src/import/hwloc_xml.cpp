// hwloc XML, versions 2 and 3 of the format (lstopo --of xml): NUMA nodes, the PCI tree, GPUs,
// NICs. Model: a bridge of type 0-1 is a host bridge; below it bridges alternate between a port
// (root port or downstream port of a switch: folded into the link) and the upstream port of a
// switch (one PCIe switch). hwloc gives the payload rate of a link, not its generation and width:
// the widest pair with that rate is taken. Leaves out: caches, cores, storage, memory without CPUs
// of its own. Format: hwloc 2.x and 3.0 documentation, "Importing and exporting topologies from/to
// XML files".
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "base/xml.h"
#include "import/hwloc_numa.h"
#include "import/hwloc_nvlinks.h"
#include "import/importer.h"
#include "import/server_sketch.h"
#include "import/xml_fields.h"

namespace weft::import {

namespace {

using fabric::LinkKind;
using fabric::Vendor;
using Kind = ServerSketch::Kind;
using Node = ServerSketch::Node;

constexpr std::size_t kMaxNodes = 4096;
constexpr std::uint32_t kAws = 0x1d0f, kNvidia = 0x10de;

struct PciType {
  std::uint32_t class_code = 0;  // 24 bits
  std::uint32_t vendor = 0, device = 0;
};

// "0302 [10de:2330] [10de:16c1] a1"
std::optional<PciType> parse_pci_type(std::string_view text) {
  const auto words = split_whitespace(text);
  if (words.size() < 2 || words[0].size() != 4) return std::nullopt;
  const std::string_view ids = words[1];
  if (ids.size() != 11 || ids.front() != '[' || ids[5] != ':' || ids.back() != ']') {
    return std::nullopt;
  }
  const auto code = parse_hex(words[0]);
  const auto vendor = parse_hex(ids.substr(1, 4));
  const auto device = parse_hex(ids.substr(6, 4));
  if (!code || !vendor || !device) return std::nullopt;
  return PciType{static_cast<std::uint32_t>(*code) << 8, static_cast<std::uint32_t>(*vendor),
                 static_cast<std::uint32_t>(*device)};
}

class HwlocReader {
 public:
  HwlocReader(const Source& source, const ImportInputs& context)
      : source_(source), context_(context) {}

  fabric::Fabric read() {
    const XmlElement root = parse_xml(source_.text, source_.file);
    check_root(root);
    read_hwloc_numa_nodes(root, sketch_, package_numbers_, diagnostics_);
    if (sketch_.cpus.empty() && diagnostics_.empty()) {
      diagnostics_.add(root.where, "no NUMA node with CPUs in the topology",
                       "export the whole machine with 'lstopo --of xml', not a part of it");
    }
    diagnostics_.throw_if_any(source_.text);
    for (const XmlElement& child : root.children) read_object(child, {});
    add_hwloc_nvlinks(root, {gpu_of_index_, package_numbers_}, context_, sketch_, diagnostics_);
    diagnostics_.throw_if_any(source_.text);
    finish();
    return build_servers({sketch_}, *context_.catalogue);
  }

 private:
  void check_root(const XmlElement& root) {
    if (root.name != "topology") {
      throw InputError(root.where, fmt::format("root element is '{}', not 'topology'", root.name),
                       "an hwloc XML file starts with <topology version=\"2.0\">");
    }
    const std::string_view version = hwloc_attribute(root, "version");
    if (version.starts_with("2.") || version.starts_with("3.")) {
      flags_ = version.starts_with("3.");
      return;
    }
    throw InputError(root.where,
                     version.empty() ? "hwloc 1.x XML (no version attribute) is not read"
                                     : fmt::format("version '{}' of the hwloc XML format", version),
                     "convert it with 'lstopo -i old.xml --of xml new.xml' of hwloc 2 or later");
  }

  // ---- the PCI tree

  struct Above {
    std::optional<std::size_t> host_bridge;
    std::optional<std::size_t> parent;
    bool at_port = false;               // below a root port or the downstream port of a switch
    PciSpeed port;                      // speed that port gives
    const XmlElement* owner = nullptr;  // nearest object with CPUs
  };

  void read_object(const XmlElement& element, Above above) {
    const std::string_view type = hwloc_type(element);
    if (element.attribute("nodeset") != nullptr) above.owner = &element;
    if (type == "Bridge") return read_bridge(element, above);
    if (type == "PCIDev") return read_device(element, above);
    if (type == "OSDev" && !above.host_bridge) ++loose_devices_;
    for (const XmlElement& child : element.children) read_object(child, above);
  }

  void read_bridge(const XmlElement& element, Above above) {
    XmlFields fields(element, diagnostics_);
    const std::string type =
        fields.required("bridge_type", "0-1 (host bridge) or 1-1 (PCI bridge)");
    if (type == "0-1") {
      sketch_.host_bridges.push_back(place_host_bridge(element, above));
      above.host_bridge = sketch_.host_bridges.size() - 1;
      above.parent.reset();
      above.at_port = false;
      return read_children(element, above);
    }
    if (type != "1-1") {
      if (!type.empty()) {
        fields.complain(fmt::format("bridge_type '{}'", type),
                        "0-1 (host bridge) or 1-1 (PCI bridge)");
      }
      return;
    }
    if (!above.host_bridge) {
      fields.complain("a PCI bridge outside a host bridge",
                      "bridges of type 1-1 stand inside one of type 0-1");
      return;
    }
    auto pci = read_pci(element, fields);
    if (!pci) return;
    if (!pci->virtual_link) pci->node.link = link_speed(element, fields);
    if (!above.at_port && slots_below(element) <= 1) {
      above.at_port = true;
      above.port = pci->node.link;
      return read_children(element, above);
    }
    Node node = pci->node;
    node.kind = Kind::pcie_switch;
    if (pci->virtual_link) {
      node.model = "virtual-pcie-switch";
    }
    add_node(element, std::move(node), above);
    above.parent = sketch_.nodes.size() - 1;
    above.at_port = false;
    read_children(element, above);
  }

  void read_children(const XmlElement& element, const Above& above) {
    for (const XmlElement& child : element.children) read_object(child, above);
  }

  // Cards and bridges directly below: a port has one, whatever its number of functions.
  std::size_t slots_below(const XmlElement& element) const {
    std::set<PciAddress> slots;
    for (const XmlElement& child : element.children) {
      const auto address = parse_pci_address(hwloc_attribute(child, "pci_busid"));
      if (!address) continue;
      PciAddress slot = *address;
      slot.function = 0;
      slots.insert(slot);
    }
    return slots.size();
  }

  struct Pci {
    Node node;
    PciType type;
    bool virtual_link = false;  // what a hypervisor shows, not a link
  };

  std::optional<Pci> read_pci(const XmlElement& element, XmlFields& fields) {
    const auto address = fields.address("pci_busid");
    const std::string text =
        fields.required("pci_type", "as in \"0302 [10de:2330] [10de:16c1] a1\"");
    const auto type = parse_pci_type(text);
    if (!type && !text.empty()) {
      fields.complain(fmt::format("pci_type '{}' is not understood", text),
                      "as in \"0302 [10de:2330] [10de:16c1] a1\"");
    }
    if (!address || !type) return std::nullopt;
    Pci pci;
    pci.type = *type;
    pci.virtual_link = type->vendor == kAws && pci_class_of(type->class_code) == PciClass::bridge;
    pci.node.address = address;
    pci.node.vendor_id = type->vendor;
    pci.node.device_id = type->device;
    pci.node.labels.emplace_back("bus_id", hwloc_attribute(element, "pci_busid"));
    return pci;
  }

  PciSpeed link_speed(const XmlElement& element, XmlFields& fields) {
    const std::string* text = element.attribute("pci_link_speed");
    if (text == nullptr) return {};
    const auto rate = parse_double(trim(*text));
    if (!rate || *rate < 0 || *rate > 2000) {
      fields.complain(fmt::format("pci_link_speed '{}' is no rate in GB/s", *text),
                      "as in pci_link_speed=\"31.507692\"");
      return {};
    }
    const auto speed = pcie_of_rate(*rate);
    if (!speed) {
      strange_speeds_.insert(*text);
      return {};
    }
    if (speed->generation != 0) {
      speeds_.insert(
          fmt::format("{} GB/s is taken as PCIe {} x{}", *text, speed->generation, speed->lanes));
    }
    return *speed;
  }

  ServerSketch::HostBridge place_host_bridge(const XmlElement& element, const Above& above) {
    if (above.owner != nullptr) {
      const auto nodes = cpu_list_of_mask(hwloc_attribute(*above.owner, "nodeset"));
      for (std::size_t i = 0; nodes && i < sketch_.cpus.size(); ++i) {
        if (*nodes == std::to_string(sketch_.cpus[i].numa.value_or(-1))) return {i, true};
      }
    }
    if (sketch_.cpus.size() == 1) return {0, true};
    sketch_.assume(
        fmt::format("the host bridge on line {} belongs to no single NUMA node: drawn at node {}",
                    element.where.line, sketch_.cpus.front().numa.value_or(-1)));
    return {0, false};
  }

  // What nvidia-smi would print for a GPU that is near to several NUMA nodes.
  void label_affinity_of(const Above& above, Node& node) const {
    if (above.owner == nullptr || sketch_.host_bridges[*above.host_bridge].numa_known) return;
    const auto cpus = cpu_list_of_mask(hwloc_attribute(*above.owner, "cpuset"));
    const auto nodes = cpu_list_of_mask(hwloc_attribute(*above.owner, "nodeset"));
    node.labels.emplace_back("cpu_affinity", cpus.value_or("N/A"));
    node.labels.emplace_back("numa_affinity", nodes.value_or("N/A"));
  }

  void add_node(const XmlElement& element, Node node, const Above& above) {
    if (sketch_.nodes.size() >= kMaxNodes) {
      throw InputError(element.where,
                       fmt::format("more than {} PCI devices in one machine", kMaxNodes),
                       "export one machine at a time");
    }
    node.host_bridge = *above.host_bridge;
    node.parent = above.parent;
    // Both ends of a link run at one speed; a port that says less is believed.
    if (above.port.lanes != 0 && above.port.lanes < node.link.lanes &&
        above.port.generation <= node.link.generation) {
      node.link = above.port;
    }
    sketch_.nodes.push_back(std::move(node));
  }

  // ---- devices

  struct OsDevices {
    std::string network, rdma;                                 // eth0, mlx5_0
    bool compute = false;                                      // CUDA, NVML, OpenCL, ...
    std::vector<std::pair<std::string, std::string>> indices;  // gp_index -> name
  };

  [[nodiscard]] bool is_type(const XmlElement& os_device, int plain, int flag) const {
    const auto type = parse_int(hwloc_attribute(os_device, "osdev_type"));
    if (!type) return false;
    return flags_ ? (*type & flag) != 0 : *type == plain;
  }

  void collect_os_devices(const XmlElement& element, OsDevices& found) const {
    for (const XmlElement& child : element.children) {
      if (hwloc_type(child) != "OSDev") continue;
      const std::string name(hwloc_attribute(child, "name"));
      if (is_type(child, 3, 32)) {
        found.rdma = name;
      } else if (is_type(child, 2, 16)) {
        found.network = name;
      }
      // Not OpenCL: hwloc pins its devices on the wrong chip where the driver gives no address.
      for (const std::string_view prefix : {"cuda", "nvml", "rsmi", "ze"}) {
        found.compute = found.compute || name.starts_with(prefix);
      }
      found.indices.emplace_back(hwloc_attribute(child, "gp_index"), name);
      collect_os_devices(child, found);
    }
  }

  void read_device(const XmlElement& element, const Above& above) {
    XmlFields fields(element, diagnostics_);
    if (!above.host_bridge) {
      fields.complain("a PCI device outside a host bridge",
                      "PCIDev objects stand inside a Bridge of type 0-1");
      return;
    }
    auto pci = read_pci(element, fields);
    if (!pci) return;
    OsDevices os;
    collect_os_devices(element, os);
    const PciClass what = pci_class_of(pci->type.class_code);
    const bool gpu = what == PciClass::gpu && is_compute_gpu(pci->type, os);
    if (!gpu && what != PciClass::nic) return;
    check_address_is_new(element, *pci->node.address, fields);
    pci->node.link = link_speed(element, fields);
    if (gpu) {
      pci->node.kind = Kind::gpu;
      pci->node.model =
          context_.catalogue->model_of_pci(pci->type.vendor, pci->type.device).value_or("");
      label_affinity_of(above, pci->node);
      for (const auto& [index, name] : os.indices) gpu_of_index_[index] = sketch_.nodes.size();
      add_node(element, std::move(pci->node), above);
    } else {
      add_nic(element, *pci, os, above);
    }
  }

  void check_address_is_new(const XmlElement& element, const PciAddress& address,
                            XmlFields& fields) {
    const auto [at, is_new] = addresses_.try_emplace(address, element.where);
    if (is_new) return;
    fields.complain(fmt::format("pci_busid {} is used twice; first on line {}",
                                hwloc_attribute(element, "pci_busid"), at->second.line),
                    "every PCI device has its own address");
  }

  // Machines carry display chips that no collective will ever use.
  [[nodiscard]] bool is_compute_gpu(const PciType& type, const OsDevices& os) const {
    if (type.vendor == kNvidia || os.compute) return true;
    if (type.class_code >> 8 != 0x0300) return true;
    return context_.catalogue->model_of_pci(type.vendor, type.device).has_value();
  }

  void add_nic(const XmlElement& element, Pci& pci, const OsDevices& os, const Above& above) {
    pci.node.kind = Kind::nic;
    const std::uint32_t sub = pci.type.class_code >> 8;
    pci.node.port_kind = sub == 0x0207 || sub == 0x0c06 ? LinkKind::infiniband : LinkKind::ethernet;
    const std::string& name = os.rdma.empty() ? os.network : os.rdma;
    if (!name.empty()) pci.node.labels.emplace_back("nic_name", name);
    if (!os.rdma.empty()) rdma_.insert(sketch_.nodes.size());
    add_node(element, std::move(pci.node), above);
  }

  // ---- the end

  void finish() {
    if (!speeds_.empty()) {
      const std::vector<std::string> list(speeds_.begin(), speeds_.end());
      sketch_.assume("hwloc gives link rates, not generation and width: " + join(list, "; "));
    }
    if (!strange_speeds_.empty()) {
      const std::vector<std::string> list(strange_speeds_.begin(), strange_speeds_.end());
      sketch_.assume("pci_link_speed that no PCIe link has, not used: " + join(list, ", "));
    }
    keep_rdma_nics();
    drop_empty_bridges(sketch_);
    wake_idle_gpus();
    if (sketch_.of_kind(Kind::gpu).empty()) {
      sketch_.assume(loose_devices_ == 0
                         ? "no GPU in the file: a server of CPUs and NICs only"
                         : "no GPU on PCI in the file: lstopo may have run without I/O discovery");
    }
    rank_by_address(sketch_);
    join_functions(sketch_);
    complete(sketch_, *context_.catalogue, context_.hints);
  }

  void keep_rdma_nics() {
    if (rdma_.empty()) return;
    std::set<std::size_t> drop;
    for (const std::size_t i : sketch_.of_kind(Kind::nic)) {
      if (!rdma_.contains(i)) drop.insert(i);
    }
    if (drop.empty()) return;
    sketch_.assume(fmt::format("{} network function(s) without RDMA left out, since others have it",
                               drop.size()));
    drop_nodes(sketch_, drop);
  }

  // A GPU with nothing to do drops its link to generation 1; hwloc sees the moment.
  void wake_idle_gpus() {
    for (Node& node : sketch_.nodes) {
      if (node.kind != Kind::gpu || node.link.generation != 1) continue;
      const auto model = context_.catalogue->model_of_pci(node.vendor_id, node.device_id);
      const CataloguePart* part = model ? context_.catalogue->part(*model) : nullptr;
      if (part == nullptr || part->pcie.generation <= 1) continue;
      node.link.generation = part->pcie.generation;
      sketch_.assume(fmt::format(
          "GPU links seen at generation 1 (idle GPUs slow down): taken as generation {} for {}",
          part->pcie.generation, *model));
    }
  }

  const Source& source_;
  const ImportInputs& context_;
  Diagnostics diagnostics_;
  ServerSketch sketch_;
  bool flags_ = false;  // format 3: osdev_type is a set of flags
  std::size_t loose_devices_ = 0;
  std::map<PciAddress, SourcePosition> addresses_;
  std::map<std::string, std::size_t> gpu_of_index_;
  std::map<std::string, int> package_numbers_;  // gp_index -> os_index
  std::set<std::string> speeds_, strange_speeds_;
  std::set<std::size_t> rdma_;
};

class HwlocXml final : public Importer {
 public:
  [[nodiscard]] std::string_view name() const override { return "hwloc_xml"; }
  [[nodiscard]] std::string_view summary() const override {
    return "hwloc XML of format 2 or 3 (lstopo --of xml)";
  }
  [[nodiscard]] bool recognises(const Source& source) const override {
    return xml_root_name(source.text) == "topology";
  }
  [[nodiscard]] fabric::Fabric read(const Source& source,
                                    const ImportInputs& context) const override {
    return HwlocReader(source, context).read();
  }
};

}  // namespace

const Importer& hwloc_xml_importer() {
  static const HwlocXml kImporter;
  return kImporter;
}

}  // namespace weft::import
