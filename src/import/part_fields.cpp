#include "import/part_fields.h"

#include <algorithm>

#include "import/part_rows.h"

namespace weft::import {
namespace {

using enum FieldType;

// What engines and importers read too.
std::vector<PartKind> engine_kinds() {
  return {
      {"gpus",
       "GPU",
       "model",
       "accelerators",
       gpu_rows(),
       {"memory", "memory_bandwidth", "bf16", "power", "nvlink", "price"}},
      {"cpus",
       "CPU",
       "model",
       "processors, by CPUID",
       cpu_rows(),
       {"memory_bandwidth", "socket_link", "socket_links", "peer_rate"}},
      {"nics",
       "NIC",
       "model",
       "network adapters",
       nic_rows(),
       {"port_rate", "speaks", "pcie", "power", "price"}},
      {"switches",
       "switch",
       "model",
       "switch chips and switches",
       switch_rows(),
       {"kind", "form", "ports", "capacity", "power", "power_max", "units", "price"}},
      {"links",
       "link",
       "name",
       "links and their generations",
       link_rows(),
       {"kind", "rate", "latency", "lane_rate", "signalling", "per_gpu", "x16_rate"}},
      {"media",
       "medium",
       "medium",
       "cable media",
       {{"delay_per_metre", quantity, "ns", "propagation of one metre", ""}},
       {"delay_per_metre"}},
  };
}

// What only plans read.
std::vector<PartKind> planning_kinds() {
  return {
      {"optics",
       "optic",
       "name",
       "optical modules, packaging and cables",
       optic_rows(),
       {"form", "rate", "medium", "reach", "power", "price"}},
      {"servers",
       "server",
       "name",
       "servers as bought",
       server_rows(),
       {"gpu", "gpus", "nic", "nics", "units", "power_max", "price"}},
      {"supernodes",
       "supernode",
       "name",
       "scale-up domains as bought",
       supernode_rows(),
       {"gpu", "gpus", "racks", "scale_up_rate", "power", "price"}},
      {"scale_up",
       "scale-up fabric",
       "name",
       "scale-up fabrics other than NVLink",
       scale_up_rows(),
       {"per_gpu", "per_peer", "domain", "topology"}},
      {"cooling",
       "cooling",
       "name",
       "ways of cooling and machines for it",
       cooling_rows(),
       {"form", "pue", "rack_power", "rack_power_max", "capacity", "power", "price"}},
      {"protocols",
       "protocol",
       "name",
       "protocols and their licences",
       protocol_rows(),
       {"layer", "routable", "latency", "efficiency", "licence"}},
      {"failures",
       "failure",
       "name",
       "failure rates and recovery",
       fact_rows(),
       {"value", "mtbf", "gpus", "title"}},
      {"economics",
       "economic figure",
       "name",
       "prices, energy, finance, PUE of fleets",
       fact_rows(),
       {"value", "title"}},
      {"measurements",
       "measurement",
       "name",
       "what was measured on real machines",
       fact_rows(),
       {"value", "title"}},
      {"networks",
       "network",
       "name",
       "published networks and their cost",
       network_rows(),
       {"topology", "endpoints", "switches", "switch_links", "cost", "cost_per_endpoint"}},
  };
}

std::vector<PartKind> make_kinds() {
  std::vector<PartKind> all = engine_kinds();
  std::vector<PartKind> more = planning_kinds();
  for (PartKind& kind : more) all.push_back(std::move(kind));
  return all;
}

}  // namespace

const PartField* PartKind::field(std::string_view key) const {
  const auto at = std::find_if(fields.begin(), fields.end(),
                               [key](const PartField& f) { return f.key == key; });
  return at == fields.end() ? nullptr : &*at;
}

std::span<const PartKind> part_kinds() {
  static const std::vector<PartKind> kKinds = make_kinds();
  return kKinds;
}

const PartKind* find_part_kind(std::string_view section) {
  for (const PartKind& kind : part_kinds()) {
    if (kind.section == section) return &kind;
  }
  return nullptr;
}

}  // namespace weft::import
