// Measures a built fabric without asking the generator: counts, distances by breadth-first search,
// number of shortest paths, maximum flow between two halves (Dinic). For tests only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fabric/fabric.h"
#include "topology/topology.h"

namespace weft::test {

// One network port of a NIC (or one GPU of a scale-up domain) and the switch it is cabled to.
struct Endpoint {
  fabric::DeviceId device;
  std::vector<fabric::LinkId> links;  // to switches; a NIC port has one
};

struct Measured {
  std::vector<Endpoint> endpoints;
  std::vector<fabric::DeviceId> switches;
  std::int64_t switch_links = 0;
  std::int64_t parts = 0;  // sets of switches that links join
  int diameter_switches = 0;
  // First to last switch with endpoints that it reaches.
  std::int64_t shortest_paths = 0;
  std::vector<double> oversubscription;  // by tier: most of any switch
};

Measured measure(const fabric::Fabric& fabric);

// Maximum flow, in bits per second, from the endpoints on one side of the closed form's cut (the
// first `bisection_leaves` tier-1 switches of each part; 0: the first half of all endpoints) to the
// others.
std::int64_t measure_bisection(const fabric::Fabric& fabric, const Measured& measured,
                               std::int64_t bisection_leaves);

// A server with so many GPUs and NICs behind one CPU.
struct ServerSketch {
  int gpus = 1, nics = 1, ports = 1;
};
fabric::Fabric make_server(ServerSketch sketch);
fabric::DeviceClass make_switch(int radix);
fabric::DeviceClass make_chip(int radix);
fabric::LinkClass make_ethernet(std::int64_t gbps);
fabric::LinkClass make_nvlink();

}  // namespace weft::test
