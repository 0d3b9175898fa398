// NetworkDump: what a description of a network says about switches, hosts and cables, before it
// becomes a Fabric. Importers of networks (ibnetdiscover, ibsim, Slurm, SimAI, ns-3, htsim) fill
// it; build_network() gives switches their tiers and hosts an inside.
// Model: where the source says nothing of the inside of a host, it is one CPU with every NIC (and
// one GPU to each NIC where the source speaks of GPUs) behind one host bridge, or a copy of
// ImportInputs::host when that has as many NICs. Leaves out: management and storage networks.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fabric/fabric.h"
#include "import/importer.h"

namespace weft::import {

using NetworkLabels = std::vector<std::pair<std::string, std::string>>;

struct NetworkDump {
  struct Switch {
    std::string name;
    std::string model;  // catalogue name; "" unknown
    int radix = 0;      // 0 unknown
    std::optional<Duration> latency;
    std::optional<Bytes> buffer;  // of the whole switch
    NetworkLabels labels;
    std::optional<int> tier;  // none: from where the hosts are
    bool gateway = false;
  };
  struct Nic {
    std::string name;  // as the source calls it: "mlx5_5", "HCA-6"; "" unknown
    int ports = 1;
    BitRate rate;  // of one port; 0: of its fastest cable
    NetworkLabels labels;
  };
  struct Host {
    std::string name;
    std::vector<Nic> nics;  // in the order of their numbers
    bool gpus = false;      // one GPU to a NIC
    std::string gpu_model;
    std::optional<fabric::LinkClass> scale_up;  // each GPU to the one NVSwitch of the host
    // A server with as many NICs, where the source tells its inside; ImportInputs::host goes first.
    std::shared_ptr<const fabric::Fabric> inside;
  };
  struct End {
    bool on_switch = true;
    std::size_t device = 0;  // index of switch or host
    std::size_t nic = 0;     // of a host
    int port = 0;            // from 1; 0: the source does not number ports
  };
  struct Cable {
    End a, b;
    fabric::LinkClass link;
  };

  std::vector<Switch> switches;
  std::vector<Host> hosts;
  std::vector<Cable> cables;
  std::vector<std::string> assumptions;
};

// REQUIRES unique names, cables of rate > 0 that fit the radix, and hosts with at least one NIC.
fabric::Fabric build_network(const NetworkDump& dump, const ImportInputs& inputs);

// Network link of that kind and rate as the catalogue has it, else a plain one of that name.
fabric::LinkClass network_link(const Catalogue& catalogue, fabric::LinkKind kind, BitRate rate);

// "node2" before "node10": digits compare as numbers.
bool natural_less(std::string_view a, std::string_view b);

}  // namespace weft::import
