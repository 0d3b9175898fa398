// NCCL topology XML (NCCL_TOPO_DUMP_FILE, NCCL_TOPO_FILE, RCCL's models, the static files that
// cloud images ship): one server, or several hosts of one NVLink domain (host_hash).
// Model: a pci element that holds others is one PCIe switch (NCCL folds its two bridge levels into
// one); all devices under one cpu element share one host bridge, as NCCL's own path classes have
// it. Leaves out: graph files (refused by name), gin and collnet abilities, latencies. Format:
// NCCL 2.30 topology XML, RCCL tools/topo_expl. Limits: docs/formats/nccl_xml.md.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "base/xml.h"
#include "import/importer.h"
#include "import/nccl_links.h"
#include "import/nccl_parts.h"
#include "import/server_sketch.h"
#include "import/xml_fields.h"

namespace weft::import {

namespace {

using fabric::LinkKind;
using fabric::Vendor;
using Kind = ServerSketch::Kind;
using Node = ServerSketch::Node;

constexpr std::size_t kMaxNodes = 1024;  // NCCL itself stops at 640 children
constexpr std::size_t kMaxCpus = 128, kMaxHosts = 128;
constexpr std::int64_t kFastestPortMbps = 10'000'000;

const std::vector<std::string> kPciAttributes = {
    "busid",      "class",     "vendor", "device", "subsystem_vendor", "subsystem_device",
    "link_speed", "link_width"};
const std::vector<std::string> kGpuAttributes = {"dev", "sm", "gcn", "arch", "rank", "gdr"};
const std::vector<std::string> kNetAttributes = {"name", "dev",     "speed", "latency", "port",
                                                 "guid", "maxconn", "gdr",   "coll"};

class NcclReader {
 public:
  NcclReader(const Source& source, const ImportInputs& context)
      : source_(source), context_(context) {}

  fabric::Fabric read() {
    const XmlElement root = parse_xml(source_.text, source_.file);
    refuse_other_roots(root);
    check_version(root);
    for (const XmlElement& child : root.children) read_top(child);
    if (hosts_.empty()) {
      diagnostics_.add(root.where, "system has no cpu element",
                       "a topology file has one cpu element per NUMA domain");
    }
    for (std::size_t host = 0; host < hosts_.size(); ++host) join_gpus(host);
    diagnostics_.throw_if_any(source_.text);
    for (std::size_t host = 0; host < hosts_.size(); ++host) finish(host);
    return build_servers(hosts_, *context_.catalogue);
  }

 private:
  void refuse_other_roots(const XmlElement& root) {
    if (root.name == "system") return;
    if (root.name == "graphs") {
      throw InputError(
          root.where,
          "this is an NCCL graph file (rings and trees that NCCL chose), not a topology",
          "give the file that NCCL_TOPO_DUMP_FILE writes, not NCCL_GRAPH_DUMP_FILE");
    }
    throw InputError(root.where, fmt::format("root element is '{}', not 'system'", root.name),
                     "an NCCL topology file starts with <system version=\"1\">");
  }

  void check_version(const XmlElement& root) {
    const std::string* version = root.attribute("version");
    if (version == nullptr) {
      diagnostics_.add(root.where, "system has no version", "add version=\"1\"");
    } else if (*version != "1" && *version != "2") {
      diagnostics_.add(root.where, fmt::format("version '{}' of the topology format", *version),
                       "versions 1 (NCCL) and 2 (RCCL) are read");
    }
  }

  void unknown_element(const XmlElement& element, const XmlElement& parent,
                       const std::vector<std::string>& known) {
    const std::string what = fmt::format("unknown element '{}' in {}", element.name, parent.name);
    if (const auto meant = did_you_mean(element.name, known)) {
      diagnostics_.add(element.where, what, fmt::format("did you mean '{}'?", *meant));
    } else {
      notes_.push_back(fmt::format("{} (line {}) left out", what, element.where.line));
    }
  }

  void read_top(const XmlElement& element) {
    if (element.name == "cpu") return read_cpu(element);
    diagnostics_.add(element.where, fmt::format("'{}' directly in system", element.name),
                     element.name == "pci" || element.name == "nic"
                         ? "put it inside the cpu element of the NUMA domain it belongs to"
                         : "only cpu elements stand there");
  }

  ServerSketch& host_of(const std::string& hash) {
    const auto [at, is_new] = host_index_.try_emplace(hash, hosts_.size());
    if (is_new) {
      hosts_.emplace_back();
      addresses_.emplace_back();
      links_.emplace_back();
    }
    host_ = at->second;
    return hosts_[host_];
  }

  ServerSketch& sketch() { return hosts_[host_]; }

  void read_cpu(const XmlElement& element) {
    const std::string* hash = element.attribute("host_hash");
    ServerSketch& sketch = host_of(hash == nullptr ? "" : *hash);
    if (hosts_.size() > kMaxHosts) {
      throw InputError(element.where, fmt::format("more than {} hosts in one file", kMaxHosts),
                       "the hosts of one NVLink domain, told apart by host_hash");
    }
    if (sketch.cpus.size() == kMaxCpus) {
      throw InputError(element.where, fmt::format("more than {} cpu elements", kMaxCpus),
                       "one cpu element per NUMA domain; one host_hash per host");
    }
    const ServerSketch::Cpu cpu = read_nccl_cpu(element, diagnostics_, notes_);
    check_numa_is_new(sketch, cpu, element);
    sketch.cpus.push_back(cpu);
    sketch.host_bridges.push_back({sketch.cpus.size() - 1});
    const std::size_t bridge = sketch.host_bridges.size() - 1;
    for (const XmlElement& child : element.children) {
      if (child.name == "pci") {
        read_pci(child, bridge, {});
      } else if (child.name == "nic") {
        read_nic_without_pci(child, bridge);
      } else {
        unknown_element(child, element, {"pci", "nic"});
      }
    }
  }

  void check_numa_is_new(const ServerSketch& sketch, const ServerSketch::Cpu& cpu,
                         const XmlElement& element) {
    for (const ServerSketch::Cpu& other : sketch.cpus) {
      if (!cpu.numa || other.numa != cpu.numa) continue;
      diagnostics_.add(element.where, fmt::format("a second cpu element with numaid {}", *cpu.numa),
                       "give each NUMA domain its own number, or each host its own host_hash");
    }
  }

  void read_pci(const XmlElement& element, std::size_t bridge, std::optional<std::size_t> parent) {
    XmlFields fields(element, diagnostics_);
    fields.check_names(kPciAttributes);
    const auto address = fields.address("busid");
    const auto class_code = fields.hex("class", 0xffffff);
    const std::uint32_t vendor = fields.hex("vendor", 0xffff).value_or(0);
    const std::uint32_t device = fields.hex("device", 0xffff).value_or(0);
    PciClass what = nccl_class_of(element, fields, class_code);
    if (what == PciClass::other && !class_code) what = class_by_fingerprint(element, fields);
    if (what == PciClass::other || what == PciClass::nvswitch) return;
    if (what == PciClass::bridge && element.children.empty()) return;
    if (sketch().nodes.size() >= kMaxNodes) {
      throw InputError(element.where,
                       fmt::format("more than {} PCI devices in one server", kMaxNodes),
                       "one topology file holds one server");
    }
    if (address) check_address_is_new(*address, what != PciClass::bridge, fields);
    Node node;
    node.kind = what == PciClass::gpu   ? Kind::gpu
                : what == PciClass::nic ? Kind::nic
                                        : Kind::pcie_switch;
    node.host_bridge = bridge;
    node.parent = parent;
    node.link = fields.pci_speed();
    node.address = address;
    // Hand-made files fill fields they do not know with ffff or 0000.
    const bool named = vendor != 0 && vendor != 0xffff;
    node.vendor_id = named ? vendor : 0;
    node.device_id = named ? device : 0;
    if (const std::string* busid = element.attribute("busid")) {
      node.labels.emplace_back("bus_id", *busid);
    }
    if (what == PciClass::bridge) {
      if (!named && address && address->domain == 0xffff) node.model = "virtual-pcie-switch";
      return read_switch(element, std::move(node));
    }
    if (what == PciClass::gpu) return read_gpu(element, std::move(node));
    if (class_code) {
      node.port_kind = *class_code >> 8 == 0x0207 ? LinkKind::infiniband : LinkKind::ethernet;
    }
    read_nic(element, std::move(node));
  }

  // RCCL's own models repeat the address of bridges; links only ever lead to GPUs, so no harm.
  void check_address_is_new(const PciAddress& address, bool is_end, XmlFields& fields) {
    const auto [at, is_new] = addresses_[host_].try_emplace(address, Place{fields.where(), is_end});
    if (is_new) return;
    const std::string what = fmt::format("busid {} is used twice; first on line {}",
                                         *fields.text("busid"), at->second.where.line);
    if (is_end && at->second.is_end) {
      fields.complain(what, "every GPU and NIC has its own busid");
    } else {
      notes_.push_back(what + ": taken as two devices");
    }
    at->second.is_end = at->second.is_end || is_end;
  }

  // A bare <pci busid="..."/>: only a known server can tell what it is.
  PciClass class_by_fingerprint(const XmlElement& element, XmlFields& fields) {
    static const ServerHints kNone;
    const ServerHints& hints = context_.hints == nullptr ? kNone : *context_.hints;
    const std::string* busid = element.attribute("busid");
    const auto has = [&](const std::vector<std::string>& list) {
      return busid != nullptr && std::find(list.begin(), list.end(), *busid) != list.end();
    };
    for (const ServerFingerprint& server : hints.servers) {
      const bool gpu = has(server.gpu_addresses);
      if (!gpu && !has(server.nic_addresses)) continue;
      notes_.push_back(fmt::format("devices without a class: told apart by their addresses in {}",
                                   server.title));
      return gpu ? PciClass::gpu : PciClass::nic;
    }
    fields.complain(
        "pci has no class, and no child that tells what it is",
        "add class=\"0x030200\" for a GPU, \"0x020000\" for a NIC, \"0x060400\" for a bridge");
    return PciClass::other;
  }

  void read_switch(const XmlElement& element, Node node) {
    const std::size_t bridge = node.host_bridge;
    const std::size_t at = sketch().nodes.size();
    sketch().nodes.push_back(std::move(node));
    for (const XmlElement& c : element.children) {
      if (c.name == "pci") {
        read_pci(c, bridge, at);
      } else if (c.name == "nic") {
        read_nic_of_switch(c, bridge, at);
      } else if (c.name == "pcilink") {
        notes_.push_back(
            fmt::format("pcilink on line {} (two PCIe switches joined) left out", c.where.line));
      } else {
        unknown_element(c, element, {"pci", "gpu", "nic", "pcilink"});
      }
    }
  }

  void read_gpu(const XmlElement& element, Node node) {
    const std::size_t at = sketch().nodes.size();
    for (const XmlElement& c : element.children) {
      if (c.name != "gpu") {
        unknown_element(c, element, {"gpu", "nic", "pci"});
        continue;
      }
      sketch().lists_peers = true;
      XmlFields fields(c, diagnostics_);
      fields.check_names(kGpuAttributes);
      if (const auto dev = fields.integer("dev", 0, 65535)) set_rank(node, Kind::gpu, *dev, fields);
      node.gpu_direct_rdma = fields.integer("gdr", 0, 1).value_or(1) != 0;
      node.compute_capability = nccl_graphics_number(c, fields);
      for (const XmlElement& peer : c.children) read_link(peer, c, at);
    }
    sketch().nodes.push_back(std::move(node));
  }

  void set_rank(Node& node, Kind kind, std::int64_t dev, XmlFields& fields) {
    node.rank = static_cast<int>(dev);
    if (ranks_.insert({host_, kind, dev}).second) return;
    if (kind == Kind::gpu) {
      fields.complain(fmt::format("a second gpu with dev {}", dev), "number the GPUs 0, 1, 2, ...");
    } else {
      notes_.push_back(fmt::format("a second net with dev {} (line {})", dev, fields.where().line));
    }
  }

  void read_link(const XmlElement& element, const XmlElement& parent, std::size_t gpu) {
    if (element.name == "c2c") return read_c2c(element, gpu);
    if (element.name != "nvlink" && element.name != "xgmi") {
      return unknown_element(element, parent, {"nvlink", "xgmi", "c2c"});
    }
    if (auto link = read_nccl_link(element, gpu, diagnostics_)) {
      links_[host_].push_back(std::move(*link));
    }
  }

  void read_c2c(const XmlElement& element, std::size_t gpu) {
    XmlFields fields(element, diagnostics_);
    const auto count = fields.integer("count", 1, 64);
    const auto mb_per_s = fields.integer("bw", 1, 10'000'000);
    ServerSketch::Peers peers{LinkKind::c2c, gpu, ServerSketch::End::cpu, sketch().cpus.size() - 1};
    peers.links = static_cast<int>(count.value_or(1));
    if (mb_per_s) {
      peers.rate =
          BitRate::from_gigabytes_per_second(static_cast<double>(*mb_per_s) * 1e-3) * peers.links;
    }
    sketch().peers.push_back(peers);
  }

  // The nets of a nic element; collnet repeats a net that can reduce, gin one that GPUs can drive.
  std::vector<const XmlElement*> nets_of(const XmlElement& nic) {
    std::vector<const XmlElement*> nets;
    for (const XmlElement& c : nic.children) {
      if (c.name == "net") {
        nets.push_back(&c);
      } else if (c.name != "collnet" && c.name != "gin") {
        unknown_element(c, nic, {"net", "collnet", "gin"});
      }
    }
    return nets;
  }

  void read_nic(const XmlElement& element, const Node& node) {
    bool any = false;
    for (const XmlElement& c : element.children) {
      if (c.name != "nic") {
        unknown_element(c, element, {"nic", "gpu", "pci"});
        continue;
      }
      for (const XmlElement* net : nets_of(c)) {
        add_net(*net, node);
        any = true;
      }
    }
    if (!any) sketch().nodes.push_back(node);
  }

  void add_net(const XmlElement& net, Node node) {
    XmlFields fields(net, diagnostics_);
    fields.check_names(kNetAttributes);
    if (const std::string* name = net.attribute("name"))
      node.labels.emplace_back("nic_name", *name);
    if (const auto dev = fields.integer("dev", 0, 65535)) set_rank(node, Kind::nic, *dev, fields);
    node.gpu_direct_rdma = fields.integer("gdr", 0, 1).value_or(1) != 0;
    fields.integer("port", 0, 255);
    if (const auto mbps = fields.integer("speed", 0, INT64_MAX)) {
      if (*mbps > kFastestPortMbps) {
        notes_.push_back(
            fmt::format("speed {} Mb/s of the net on line {} is beyond any port: left out", *mbps,
                        net.where.line));
      } else {
        node.port_rate = BitRate::bits_per_second(*mbps * 1'000'000);
      }
    }
    sketch().nodes.push_back(std::move(node));
  }

  // Virtual network devices have no PCI address: NCCL puts them at the CPU.
  void read_nic_without_pci(const XmlElement& element, std::size_t bridge) {
    Node node;
    node.kind = Kind::nic;
    node.host_bridge = bridge;
    for (const XmlElement* net : nets_of(element)) add_net(*net, node);
    notes_.push_back(fmt::format("nic on line {} has no PCI address: drawn at the host bridge",
                                 element.where.line));
  }

  void read_nic_of_switch(const XmlElement& element, std::size_t bridge, std::size_t parent) {
    Node node;
    node.kind = Kind::nic;
    node.host_bridge = bridge;
    node.parent = parent;
    for (const XmlElement* net : nets_of(element)) add_net(*net, node);
  }

  void join_gpus(std::size_t host) {
    std::set<PciAddress> present;
    for (const auto& [address, place] : addresses_[host]) present.insert(address);
    hidden_chips_.push_back(
        NcclLinks(hosts_[host], links_[host], diagnostics_, notes_).join(present));
  }

  void finish(std::size_t host) {
    ServerSketch& sketch = hosts_[host];
    if (hosts_.size() > 1) sketch.host = fmt::format("host{}", host);
    for (const std::string& note : notes_) sketch.assume(note);
    sketch.assume(
        "all devices under one cpu element share one host bridge: the file does not tell");
    if (sketch.cpus.size() > 2) {
      sketch.assume("every cpu element is drawn as a socket of its own, all joined in pairs");
    }
    rank_by_address(sketch);
    join_functions(sketch);
    complete(sketch, *context_.catalogue, context_.hints);
    for (const HiddenChips& hidden : hidden_chips_[host]) {
      join_to_nvswitch(sketch, hidden.gpu, hidden.links, *context_.catalogue, context_.hints);
    }
  }

  const Source& source_;
  const ImportInputs& context_;
  Diagnostics diagnostics_;
  std::vector<std::string> notes_;
  std::vector<ServerSketch> hosts_;
  std::map<std::string, std::size_t> host_index_;
  std::size_t host_ = 0;                                // the one being read
  std::vector<std::vector<HiddenChips>> hidden_chips_;  // by host
  struct Place {
    SourcePosition where;
    bool is_end = false;  // a GPU or NIC
  };
  std::vector<std::map<PciAddress, Place>> addresses_;
  std::vector<std::vector<NcclLink>> links_;
  std::set<std::tuple<std::size_t, Kind, std::int64_t>> ranks_;
};

class NcclXml final : public Importer {
 public:
  [[nodiscard]] std::string_view name() const override { return "nccl_xml"; }
  [[nodiscard]] std::string_view summary() const override {
    return "NCCL or RCCL topology XML (NCCL_TOPO_DUMP_FILE, NCCL_TOPO_FILE)";
  }
  [[nodiscard]] bool recognises(const Source& source) const override {
    const std::string_view root = xml_root_name(source.text);
    return root == "system" || root == "graphs";
  }
  [[nodiscard]] fabric::Fabric read(const Source& source,
                                    const ImportInputs& context) const override {
    return NcclReader(source, context).read();
  }
};

}  // namespace

const Importer& nccl_xml_importer() {
  static const NcclXml kImporter;
  return kImporter;
}

}  // namespace weft::import
