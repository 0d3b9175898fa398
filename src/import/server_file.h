// The server file (`weft: server/1`) as plain data: NUMA nodes, the PCIe tree below each, and the
// links between GPUs. Documented in docs/server-file.md. parse_server_file() checks it against the
// catalogue and reports every fault at once; server_yaml.cpp builds the Fabric. Leaves out:
// storage, fans, power.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/yaml.h"
#include "import/catalogue.h"

namespace weft::import {

// One thing on PCIe, already repeated `count` times by the reader.
struct PcieNode {
  enum class Kind { gpu, nic, pcie_switch };
  Kind kind = Kind::gpu;
  std::string model;
  PcieWidth link;            // to what is above
  bool link_given = false;   // else: what the part can do
  std::optional<int> index;  // place among its kind; all or none of a kind have one
  bool acs = false;          // switch
  int functions = 1;         // nic: appears so often, sharing one PCIe link
  int ports = 1;             // nic
  std::optional<BitRate> port_rate;
  std::optional<fabric::LinkKind> port_kind;
  std::string name;  // nic, as the system calls it; '#' stands for its number
  std::vector<PcieNode> below;
  SourcePosition where;
};

struct NumaNode {
  std::string cpu;
  int socket = 0;
  std::string affinity;  // "0-23,48-71"; "" unknown
  std::vector<std::vector<PcieNode>> host_bridges;
};

// A bundle of parallel links between two devices of the server.
struct Bundle {
  int a = 0, b = 0;  // numbers of GPUs, NVSwitches or NUMA nodes, as the list it is in says
  int links = 1;
};

struct ServerFile {
  bool acs = false;
  std::vector<NumaNode> numa_nodes;
  std::optional<std::string> socket_link;  // else the CPU's own
  std::optional<int> socket_links;
  std::vector<std::string> nvswitches;  // model of each chip
  std::vector<Bundle> gpu_nvlinks;      // GPU to GPU
  std::vector<Bundle> switch_nvlinks;   // GPU a to NVSwitch b
  std::vector<Bundle> trunk_nvlinks;    // NVSwitch to NVSwitch
  struct NamedBundle : Bundle {
    std::string link;
  };
  std::vector<NamedBundle> xgmi;  // GPU to GPU
  std::vector<NamedBundle> c2c;   // GPU a to NUMA node b
  std::vector<std::string> assumptions;
};

// Throws InputError with every fault of the file.
ServerFile parse_server_file(std::string_view text, const std::string& file,
                             const Catalogue& catalogue);

// The GPUs (or NICs) of the file in the order of their numbers.
std::vector<const PcieNode*> in_order(const ServerFile& file, PcieNode::Kind kind);

}  // namespace weft::import
