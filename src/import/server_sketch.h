// ServerSketch: what a topology dump says about one server, before models and missing figures are
// filled in. The importers of node topologies (NCCL XML, hwloc XML, nvidia-smi topo -m) write
// sketches; complete() fills the gaps from the catalogue and the recognised server and says so;
// build_servers() turns sketches into a Fabric.
// Model: CPU (one per NUMA domain) - host bridge - PCIe switches - GPUs and NICs, plus NVLink, xGMI
// and C2C between GPUs, NVSwitch chips and CPUs. Leaves out: storage and other PCI devices, memory
// without CPUs.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "fabric/fabric.h"
#include "import/catalogue.h"
#include "import/pci_text.h"
#include "import/server_hints.h"

namespace weft::import {

struct ServerSketch {
  struct Cpu {
    std::optional<int> numa;
    std::string cpu_affinity;   // "0-23,48-71"; "" unknown
    std::string numa_affinity;  // as printed; "" = the NUMA number
    fabric::Vendor vendor = fabric::Vendor::unknown;
    std::string architecture = "x86_64";
    int family = 0, model = 0;
    std::optional<int> package;  // CPUs of one package share an on-die fabric
  };
  struct HostBridge {
    std::size_t cpu = 0;
    bool numa_known = true;  // false: drawn at that CPU for want of better
  };
  // A slot is the link that several functions of one card share.
  enum class Kind { gpu, nic, pcie_switch, slot };
  struct Node {
    Kind kind = Kind::gpu;
    std::size_t host_bridge = 0;
    std::optional<std::size_t> parent;  // switch or slot above
    PciSpeed link;                      // to what is above
    std::optional<PciAddress> address;
    std::uint32_t vendor_id = 0, device_id = 0;  // PCI; 0 unknown
    std::string model;                           // catalogue name; "" unknown
    int compute_capability = 0;                  // gpu, as in DeviceClass
    std::optional<int> rank;                     // place among its kind; without: after, as met
    bool gpu_direct_rdma = true;
    BitRate port_rate;  // nic; 0 unknown
    std::optional<fabric::LinkKind> port_kind;
    std::vector<std::pair<std::string, std::string>> labels;
  };
  // A bundle of scale-up links from a GPU (index of its node) to another, an NVSwitch chip (by
  // number) or a CPU (index).
  enum class End { gpu, nvswitch, cpu };
  struct Peers {
    fabric::LinkKind kind = fabric::LinkKind::nvlink;
    std::size_t gpu = 0;
    End end = End::gpu;
    std::size_t other = 0;
    int links = 1;
    BitRate rate{};  // of the bundle, one direction; 0: from the catalogue
  };

  std::string host;  // prefix of names when a file holds several hosts
  std::vector<Cpu> cpus;
  std::vector<HostBridge> host_bridges;
  std::vector<Node> nodes;
  std::vector<Peers> peers;
  bool lists_peers = false;  // the source would have named NVLinks: none means none
  std::vector<std::string> assumptions;

  void assume(std::string assumption) { assumptions.push_back(std::move(assumption)); }
  [[nodiscard]] std::vector<std::size_t> of_kind(Kind kind) const;  // by rank, then as met
};

// The tree as text, for recognising a server: '[' CPU ']', '(' switch ')', g GPU, n NIC, children
// and CPUs sorted: "[(gn)(gn)][(gn)(gn)]".
std::string shape_of(const ServerSketch& sketch);

// Numbers GPUs and NICs by PCI address, as CUDA, NVML and the kernel do, where the source gave no
// numbers.
void rank_by_address(ServerSketch& sketch);

void drop_nodes(ServerSketch& sketch, const std::set<std::size_t>& drop);
// Drops switches and host bridges with nothing below.
void drop_empty_bridges(ServerSketch& sketch);

// Puts functions of one card that sit side by side under a common slot.
void join_functions(ServerSketch& sketch);

// Fills in models, NVLink wiring, PCIe speeds and NIC rates that the source did not give, each with
// an assumption. `hints` may be null.
void complete(ServerSketch& sketch, const Catalogue& catalogue, const ServerHints* hints);

// `links` NVLinks of a GPU over the NVSwitch chips that servers with such GPUs have.
void join_to_nvswitch(ServerSketch& sketch, std::size_t gpu, int links, const Catalogue& catalogue,
                      const ServerHints* hints);

// REQUIRES every sketch completed, at least one CPU each.
fabric::Fabric build_servers(const std::vector<ServerSketch>& sketches, const Catalogue& catalogue);

}  // namespace weft::import
