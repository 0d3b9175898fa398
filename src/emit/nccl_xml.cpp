// Emitter row `nccl_xml`: the inside of the first server as the topology file that NCCL reads from
// NCCL_TOPO_FILE, for virtual machines that hide the PCIe tree. Without `rank`, which NCCL fills
// in. Format: NCCL 2.30 topology XML.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "emit/emitter.h"
#include "import/hostlist.h"
#include "import/pci_text.h"

namespace weft::emit {

namespace {

using fabric::DeviceClass;
using fabric::DeviceId;
using fabric::DeviceKind;
using fabric::LinkClass;
using fabric::LinkId;
using fabric::LinkKind;
using fabric::ServerId;
using fabric::Vendor;

constexpr int kFirstAmdNumber = 600;  // compute capabilities lie below, AMD graphics numbers above

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '"') {
      out += "&quot;";
    } else if (static_cast<unsigned char>(c) >= 0x20) {
      out += c;
    }
  }
  return out;
}

// "0-23,48" as NCCL writes it: 32 bits a group, the highest first; "" when it is no list.
std::string mask_of(std::string_view cpu_list) {
  constexpr int kMostCpus = 8192, kBits = 32;
  const auto cpus = import::parse_index_list(cpu_list, kMostCpus);
  if (!cpus || cpus->empty()) return {};
  const int last = *std::max_element(cpus->begin(), cpus->end());
  std::vector<std::uint32_t> words(static_cast<std::size_t>(last / kBits) + 1, 0);
  for (const int cpu : *cpus) words[static_cast<std::size_t>(cpu / kBits)] |= 1u << (cpu % kBits);
  std::string out;
  for (std::size_t w = words.size(); w > 0; --w)
    out += fmt::format("{}{:08x}", out.empty() ? "" : ",", words[w - 1]);
  return out;
}

// Those of the source where it gave them to every GPU and NIC, else counted.
class Addresses {
 public:
  Addresses(const fabric::Fabric& fabric, ServerId server) : fabric_(fabric) {
    std::set<import::PciAddress> given;
    for (const DeviceKind kind : {DeviceKind::gpu, DeviceKind::nic}) {
      for (const DeviceId device : fabric.of_kind(kind, server)) {
        const auto address = import::parse_pci_address(fabric.label(device, "bus_id"));
        if (!address || !given.insert(*address).second) return;
      }
    }
    from_source_ = !given.empty();
    for (const import::PciAddress& address : given) domains_.insert(address.domain);
    while (domains_.contains(domain_)) ++domain_;
  }

  [[nodiscard]] bool from_source() const { return from_source_; }

  // `function` of a card that holds several; its first function decides the card's bus.
  std::string of(DeviceId device, int function = 0) {
    const auto [at, is_new] = known_.try_emplace(device);
    if (!is_new) return at->second;
    const DeviceKind kind = fabric_.kind(device);
    const std::string_view label = fabric_.label(device, "bus_id");
    if (from_source_ && (kind == DeviceKind::gpu || kind == DeviceKind::nic)) {
      at->second = label;
    } else {
      constexpr unsigned kBuses = 255;
      if (function == 0) ++bus_;
      at->second = fmt::format("{:04x}:{:02x}:00.{:x}", domain_ + bus_ / kBuses, 1 + bus_ % kBuses,
                               function);
    }
    return at->second;
  }

 private:
  const fabric::Fabric& fabric_;
  bool from_source_ = false;
  std::set<std::uint32_t> domains_;
  unsigned domain_ = 0, bus_ = 0;
  std::map<DeviceId, std::string> known_;
};

// NCCL shifts AMD's extended family: CPUID's 25 (15 + 10) is 15 + 10 x 16 = 175.
int family_of(const DeviceClass& cpu) {
  constexpr int kBase = 15, kFirstShifted = 23;
  const bool shifted = cpu.vendor == Vendor::amd && cpu.cpu_family >= kFirstShifted;
  return shifted ? kBase + (cpu.cpu_family - kBase) * 16 : cpu.cpu_family;
}

class NcclWriter {
 public:
  explicit NcclWriter(const fabric::Fabric& fabric)
      : fabric_(fabric), addresses_(fabric, ServerId(0)) {}

  std::string write() {
    // A device counts for the CPU that reaches it first over PCIe.
    std::string cpus;
    for (const DeviceId cpu : of_kind(DeviceKind::cpu)) cpus += cpu_element(cpu);
    std::string out = "<!-- written by weft";
    if (!addresses_.from_source())
      out += "; the source has no PCI addresses: put in those that the machine shows";
    return out + " -->\n<system version=\"1\">\n" + cpus + "</system>\n";
  }

 private:
  [[nodiscard]] std::vector<DeviceId> of_kind(DeviceKind kind) const {
    return fabric_.of_kind(kind, ServerId(0));
  }

  std::string cpu_element(DeviceId cpu) {
    const DeviceClass& c = fabric_.device_class(cpu);
    const int numa = fabric_.info(cpu).numa;
    std::string out =
        fmt::format("  <cpu numaid=\"{}\"", numa >= 0 && numas_.insert(numa).second ? numa : -1);
    if (const std::string mask = mask_of(fabric_.label(cpu, "cpu_affinity")); !mask.empty())
      out += fmt::format(" affinity=\"{}\"", mask);
    const std::string_view architecture =
        c.cpu_architecture.empty() ? "x86_64" : std::string_view(c.cpu_architecture);
    out += fmt::format(" arch=\"{}\"", escaped(architecture));
    const std::string_view vendor = c.vendor == Vendor::intel     ? "GenuineIntel"
                                    : c.vendor == Vendor::amd     ? "AuthenticAMD"
                                    : c.vendor == Vendor::zhaoxin ? "CentaurHauls"
                                                                  : "";
    if (!vendor.empty())
      out += fmt::format(" vendor=\"{}\" familyid=\"{}\" modelid=\"{}\"", vendor, family_of(c),
                         c.cpu_model);
    out += ">\n";
    for (const LinkId link : fabric_.out_links(cpu)) {
      const DeviceId bridge = fabric_.to(link);
      if (fabric_.kind(bridge) == DeviceKind::host_bridge) out += below(bridge, cpu, 4);
    }
    // GPUs and NICs that PCIe does not reach: at the CPU of their C2C, else at the first.
    for (const DeviceKind kind : {DeviceKind::gpu, DeviceKind::nic}) {
      for (const DeviceId device : of_kind(kind)) {
        if (!on_pcie(device) && home_of(device) == cpu) out += pci_element(device, cpu, nullptr, 4);
      }
    }
    return out + "  </cpu>\n";
  }

  [[nodiscard]] bool on_pcie(DeviceId device) const {
    const auto links = fabric_.out_links(device);
    return std::any_of(links.begin(), links.end(), [&](LinkId link) {
      return fabric_.link_class(link).kind == LinkKind::pcie;
    });
  }

  [[nodiscard]] DeviceId home_of(DeviceId device) const {
    for (const LinkId link : fabric_.out_links(device)) {
      if (fabric_.kind(fabric_.to(link)) == DeviceKind::cpu) return fabric_.to(link);
    }
    return of_kind(DeviceKind::cpu).front();
  }

  // What hangs below a host bridge or a switch, each once.
  std::string below(DeviceId above, DeviceId cpu, int indent) {
    std::string out;
    for (const LinkId link : fabric_.out_links(above)) {
      const LinkClass& c = fabric_.link_class(link);
      const DeviceId device = fabric_.to(link);
      if (c.kind != LinkKind::pcie || fabric_.kind(device) == DeviceKind::host_bridge) continue;
      if (!done_.insert(device).second) continue;
      if (fabric_.kind(device) == DeviceKind::pcie_switch &&
          fabric::is_card_slot(fabric_.device_class(device))) {
        out += card(device, cpu, c, indent);
      } else if (fabric_.kind(device) == DeviceKind::pcie_switch) {
        const std::string address = addresses_.of(device);
        const std::string inside = below(device, cpu, indent + 2);
        if (inside.empty()) continue;
        out += fmt::format("{:{}}<pci busid=\"{}\" class=\"0x060400\"{}>\n{}{:{}}</pci>\n", "",
                           indent, address, speed(&c), inside, "", indent);
      } else {
        out += pci_element(device, cpu, &c, indent);
      }
    }
    return out;
  }

  // Functions of one card differ in the last digit of their address.
  std::string card(DeviceId slot, DeviceId cpu, const LinkClass& link, int indent) {
    std::string out;
    int function = 0;
    for (const LinkId inner : fabric_.out_links(slot)) {
      const DeviceId device = fabric_.to(inner);
      if (fabric_.kind(device) != DeviceKind::nic || !done_.insert(device).second) continue;
      static_cast<void>(addresses_.of(device, function++));
      out += pci_element(device, cpu, &link, indent);
    }
    return out;
  }

  static std::string speed(const LinkClass* link) {
    if (link == nullptr || link->generation < 1 || link->generation > 7) return {};
    return fmt::format(" link_speed=\"{} GT/s PCIe\" link_width=\"{}\"",
                       import::gigatransfers(link->generation), link->width);
  }

  std::string pci_element(DeviceId device, DeviceId cpu, const LinkClass* link, int indent) {
    const DeviceClass& c = fabric_.device_class(device);
    std::string code, inside;
    if (c.kind == DeviceKind::gpu) {
      code = is_amd(c) ? "0x120000" : "0x030200";
      inside = gpu_element(device, cpu, indent + 2);
    } else if (c.kind == DeviceKind::nic) {
      code = c.port_kind == LinkKind::infiniband ? "0x020700" : "0x020000";
      inside = nic_element(device, indent + 2);
    } else {
      return {};
    }
    const std::string_view vendor = c.vendor == Vendor::nvidia     ? "0x10de"
                                    : c.vendor == Vendor::amd      ? "0x1002"
                                    : c.vendor == Vendor::mellanox ? "0x15b3"
                                    : c.vendor == Vendor::broadcom ? "0x14e4"
                                    : c.vendor == Vendor::intel    ? "0x8086"
                                                                   : "";
    return fmt::format("{:{}}<pci busid=\"{}\" class=\"{}\"{}{}>\n{}{:{}}</pci>\n", "", indent,
                       escaped(addresses_.of(device)), code,
                       vendor.empty() ? "" : fmt::format(" vendor=\"{}\"", vendor), speed(link),
                       inside, "", indent);
  }

  static bool is_amd(const DeviceClass& c) {
    return c.vendor == Vendor::amd || c.compute_capability >= kFirstAmdNumber;
  }

  std::string gpu_element(DeviceId gpu, DeviceId cpu, int indent) {
    const DeviceClass& c = fabric_.device_class(gpu);
    std::string out =
        fmt::format("{:{}}<gpu dev=\"{}\"", "", indent, fabric_.info(gpu).local_index);
    if (c.compute_capability >= kFirstAmdNumber)
      out += fmt::format(" gcn=\"gfx{}\"", c.compute_capability);
    else if (c.compute_capability > 0)
      out += fmt::format(" sm=\"{}\"", c.compute_capability);
    out += fmt::format(" gdr=\"{}\"", c.gpu_direct_rdma ? 1 : 0);
    std::string links;
    for (const auto& [peer, bundle] : scale_up(gpu)) {
      const DeviceKind kind = fabric_.kind(peer);
      if (bundle.kind == LinkKind::c2c) {
        if (kind == DeviceKind::cpu)
          links += fmt::format("{:{}}<c2c bw=\"{:.0f}\" count=\"{}\"/>\n", "", indent + 2,
                               bundle.rate.gb_per_s() * 1e3 / bundle.links, bundle.links);
        continue;
      }
      // NCCL knows an NVLink to the CPU by its class; it is the GPU's own CPU.
      const bool to_cpu = kind == DeviceKind::cpu;
      const std::string_view code = kind == DeviceKind::nvswitch         ? "0x068000"
                                    : to_cpu                             ? "0x068001"
                                    : is_amd(fabric_.device_class(peer)) ? "0x120000"
                                                                         : "0x030200";
      links += fmt::format("{:{}}<{} target=\"{}\" count=\"{}\" tclass=\"{}\"/>\n", "", indent + 2,
                           bundle.kind == LinkKind::xgmi ? "xgmi" : "nvlink",
                           escaped(addresses_.of(to_cpu ? cpu : peer)), bundle.links, code);
    }
    if (links.empty()) return out + "/>\n";
    return fmt::format("{}>\n{}{:{}}</gpu>\n", out, links, "", indent);
  }

  struct Bundle {
    LinkKind kind = LinkKind::nvlink;
    int links = 0;
    BitRate rate;
  };
  // All parallel links to one neighbour together; only those that the file can name.
  [[nodiscard]] std::map<DeviceId, Bundle> scale_up(DeviceId gpu) const {
    std::map<DeviceId, Bundle> bundles;
    for (const LinkId link : fabric_.out_links(gpu)) {
      const LinkClass& c = fabric_.link_class(link);
      if (c.kind != LinkKind::nvlink && c.kind != LinkKind::xgmi && c.kind != LinkKind::c2c)
        continue;
      const DeviceId peer = fabric_.to(link);
      const bool elsewhere = fabric_.kind(peer) != DeviceKind::nvswitch &&
                             fabric_.info(peer).server != fabric_.info(gpu).server;
      if (elsewhere) continue;
      Bundle& bundle = bundles[fabric_.kind(peer) == DeviceKind::nvswitch ? first_of(peer) : peer];
      bundle.kind = c.kind;
      bundle.links += std::max(c.width, 1);
      bundle.rate = bundle.rate + c.raw_rate;
    }
    return bundles;
  }

  // Chips that NVLinks join (two boards of a DGX-2) are one to NCCL: the first of them.
  [[nodiscard]] DeviceId first_of(DeviceId chip) const {
    std::vector<DeviceId> group = {chip};
    std::set<DeviceId> seen = {chip};
    for (std::size_t i = 0; i < group.size(); ++i) {
      for (const LinkId link : fabric_.out_links(group[i])) {
        const DeviceId next = fabric_.to(link);
        if (fabric_.kind(next) == DeviceKind::nvswitch && seen.insert(next).second)
          group.push_back(next);
      }
    }
    return *seen.begin();
  }

  std::string nic_element(DeviceId nic, int indent) const {
    const DeviceClass& c = fabric_.device_class(nic);
    const std::uint32_t number = fabric_.info(nic).local_index;
    const std::string_view given = fabric_.label(nic, "nic_name");
    std::string net =
        fmt::format("{:{}}<net name=\"{}\" dev=\"{}\"", "", indent + 2,
                    given.empty() ? fmt::format("nic{}", number) : escaped(given), number);
    // Ports of one NIC run as one bond.
    const std::int64_t mbps = c.port_rate.bps() * std::max(c.ports, 1) / 1'000'000;
    if (mbps > 0) net += fmt::format(" speed=\"{}\"", mbps);
    net += fmt::format(" port=\"1\" gdr=\"{}\"/>\n", c.gpu_direct_rdma ? 1 : 0);
    return fmt::format("{:{}}<nic>\n{}{:{}}</nic>\n", "", indent, net, "", indent);
  }

  const fabric::Fabric& fabric_;
  Addresses addresses_;
  std::set<int> numas_;
  std::set<DeviceId> done_;
};

class NcclXml final : public Emitter {
 public:
  [[nodiscard]] std::string_view name() const override { return "nccl_xml"; }
  [[nodiscard]] std::string_view summary() const override {
    return "NCCL topology XML (NCCL_TOPO_FILE) of the first server";
  }
  [[nodiscard]] std::string write(const fabric::Fabric& fabric,
                                  const SourcePosition& asked_at) const override {
    const bool whole = fabric.server_count() > 0 &&
                       !fabric.of_kind(DeviceKind::cpu, ServerId(0)).empty() &&
                       !fabric.of_kind(DeviceKind::gpu, ServerId(0)).empty();
    if (!whole)
      throw InputError(asked_at, "the first server of this source has no CPU or no GPU",
                       "name a server of weft list servers, or --server TYPE for a network dump");
    return NcclWriter(fabric).write();
  }
};

}  // namespace

const Emitter& nccl_xml_emitter() {
  static const NcclXml kEmitter;
  return kEmitter;
}

}  // namespace weft::emit
