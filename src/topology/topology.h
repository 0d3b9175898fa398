// A topology generator: parameters and a server in, a Fabric out. One file and one row of list.def
// each. Closed forms are stated by the generator and the conformance test measures
// every generated fabric against them.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/errors.h"
#include "fabric/fabric_builder.h"

namespace weft::topology {

// One parameter: help, docs and schema come from this table.
struct Parameter {
  std::string name;          // "radix", "oversubscription", "spines", "pods"
  std::string unit;          // "ports", "ratio", ""
  double default_value = 0;  // NaN: required or derived, see meaning
  double min = 0, max = 0;
  std::string meaning;
  bool whole = false;  // only whole numbers
};

// A scale-up domain (NVLink, xGMI) that joins GPUs of several servers through planes of switch
// chips: every GPU has `links_per_chip` links to every chip of its domain. It can stand alone (row
// scale_up) or be added to any other topology (Inputs::scale_up); see scale_up_domain.h.
struct ScaleUp {
  std::int64_t servers_per_domain = 0;  // 0: all servers form one domain
  std::int64_t chips = 18;              // per domain
  std::int64_t links_per_chip = 1;
  fabric::DeviceClass chip_class;  // kind nvswitch
  fabric::LinkClass link;          // one link; several to one chip are bundled into a wider one
};

// What the cluster file gives besides the numeric parameters.
struct Inputs {
  std::vector<const fabric::Fabric*>
      servers;                               // one template per server, in order (pointers repeat)
  std::vector<std::string> server_names;     // one a server; empty: node0, node1, ...
  std::map<std::string, double> parameters;  // by name; generators read them through `value`
  fabric::DeviceClass switch_class;          // model, forwarding latency, radix, buffer
  fabric::LinkClass host_link;               // NIC to first switch
  fabric::LinkClass fabric_link;             // switch to switch
  // By tier, leaf first, where tiers use different switches; a tier beyond the list (or all of
  // them, when it is empty) uses switch_class.
  std::vector<fabric::DeviceClass> tier_switch_classes;
  // Every generator joins the servers' GPUs this way too when it is set.
  std::optional<ScaleUp> scale_up;
};

// What a parts list counts of one tier, all planes together.
struct TierCounts {
  std::string name;  // "leaf", "spine", "gateway", "chip"
  int tier = 1;      // 1: next to the hosts
  std::int64_t switches = 0;
  std::int64_t links_up = 0;      // cables to the tier above
  std::int64_t links_across = 0;  // cables between switches of this tier (groups, pods, sites)
};

// Counts a correct build has; nullopt where the family states none. An endpoint is a network port
// of a NIC; where no NIC is cabled (row scale_up alone) it is a GPU and a switch is an NVSwitch
// chip. Gateways count as switches. Where the network falls into `parts` that no link joins (rails,
// planes), distances are inside a part and paths are those of the first part.
struct ClosedForm {
  std::int64_t parts = 1;
  std::optional<std::int64_t> hosts;  // endpoints
  std::optional<std::int64_t> switches;
  std::optional<std::int64_t> switch_links;    // cables between switches
  std::optional<int> diameter_switches;        // most switches between two endpoints
  std::optional<std::int64_t> shortest_paths;  // first to last switch, each cable counted apart
  std::optional<double> bisection;             // in host links, one direction
  // The cut that `bisection` speaks of: endpoints on the first so many tier-1 switches of each part
  // against the rest; 0: the first half of all endpoints against the rest.
  std::int64_t bisection_leaves = 0;
  std::vector<TierCounts> tiers;  // leaf first; sums to `switches` and `switch_links`
  // By tier below the top: bandwidth down over bandwidth up, the most of any switch built.
  std::vector<double> oversubscription;
};

class Topology {
 public:
  virtual ~Topology() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual std::string_view summary() const = 0;  // one sentence for `weft list`
  [[nodiscard]] virtual std::span<const Parameter> parameters() const = 0;
  // Why these inputs cannot be built, each as one sentence with the arithmetic ("33 servers need 33
  // leaf ports, radix 64 with oversubscription 1 leaves 32"); empty when they can.
  [[nodiscard]] virtual std::vector<std::string> refuse(const Inputs& inputs) const = 0;
  // REQUIRES refuse(inputs) to be empty.
  [[nodiscard]] virtual fabric::Fabric build(const Inputs& inputs) const = 0;
  [[nodiscard]] virtual ClosedForm closed_form(const Inputs& inputs) const = 0;
};

// Every row of list.def, in order; nullptr from find_topology when the name is unknown.
std::span<const Topology* const> all_topologies();
const Topology* find_topology(std::string_view name);

}  // namespace weft::topology
