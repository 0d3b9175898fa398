// A topology generator: parameters and a server in, a Fabric out. One file and one row of list.def
// each. Closed forms (PROTOCOLS 8.2) are stated by the generator and the conformance test measures
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
};

// What the cluster file gives besides the numeric parameters.
struct Inputs {
  std::vector<const fabric::Fabric*>
      servers;                               // one template per server, in order (pointers repeat)
  std::map<std::string, double> parameters;  // by name; generators read them through `value`
  fabric::DeviceClass switch_class;          // model, forwarding latency, radix, buffer
  fabric::LinkClass host_link;               // NIC to first switch
  fabric::LinkClass fabric_link;             // switch to switch
};

// Counts a correct build has; nullopt where the family states none.
struct ClosedForm {
  std::optional<std::int64_t> hosts;  // network ports of NICs
  std::optional<std::int64_t> switches;
  std::optional<std::int64_t> switch_links;    // cables between switches
  std::optional<int> diameter_switches;        // most switches between two NICs
  std::optional<std::int64_t> shortest_paths;  // between the farthest NICs
  std::optional<double> bisection;             // in host links, one direction
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
