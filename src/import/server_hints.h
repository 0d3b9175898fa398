// ServerHints: what lets an importer name the parts of a dump that names none: fingerprints of
// known servers, the usual NVLink wiring of a GPU model, and GPU models by NVLink count, compute
// capability or AMD graphics number. Read from data/fingerprints/servers.yaml; every row carries
// source and confidence.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "fabric/classes.h"
#include "import/importer.h"

namespace weft::import {

// Links between two GPUs, by their place in the server.
struct GpuPair {
  int a = 0, b = 0, links = 1;
};

struct NvlinkWiring {
  enum class Kind { none, nvswitch, pairs } kind = Kind::none;
  std::string name;            // "nvswitch", "hybrid-cube-mesh"
  std::vector<GpuPair> pairs;  // Kind::pairs
};

struct ServerFingerprint {
  std::string title;  // "Azure ND96asr_v4 (NDv4)"
  std::string shape;  // as shape_of()
  fabric::Vendor cpu_vendor = fabric::Vendor::unknown;
  std::optional<int> cpu_family, cpu_model;
  std::vector<std::string> gpu_addresses, nic_addresses;  // when not empty: these, exactly
  std::string gpu, nic;                                   // catalogue names; "" = not told
  std::optional<int> pcie_generation;
  std::optional<NvlinkWiring> wiring;
};

struct ServerHints {
  struct UsualWiring {
    std::string model_prefix;
    int gpus = 0;
    NvlinkWiring wiring;
  };
  struct ByNvlinks {  // what topo -m shows: links a GPU has in all, how many GPUs, how wired
    int links = 0, gpus = 0;
    bool nvswitch = false;
    std::string model, remark;
  };
  struct ByNumber {  // compute capability, or AMD graphics number
    fabric::Vendor vendor = fabric::Vendor::nvidia;
    int number = 0;
    bool has_peers = false;
    std::string model;
  };
  struct Chips {         // how a GPU's NVLinks spread over the NVSwitch chips of a server
    int generation = 0;  // of NVLink
    std::vector<int> links;
  };

  std::vector<ServerFingerprint> servers;
  std::vector<UsualWiring> wirings;
  std::vector<ByNvlinks> by_nvlinks;
  std::vector<ByNumber> by_number;
  std::vector<Chips> chips;
};

// Throws InputError with every fault of the file.
ServerHints read_hints(const Source& source);

}  // namespace weft::import
