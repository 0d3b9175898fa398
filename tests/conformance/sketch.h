// A small description of servers, switches and parameters from which the conformance tests make the
// inputs of a topology. For tests only.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "conformance/measure.h"

namespace weft::test {

struct Sketch {
  std::string topology{};
  std::vector<ServerSketch> servers{};
  int radix = 4;
  std::int64_t host_gbps = 400, fabric_gbps = 400;
  std::map<std::string, double> parameters{};
};

std::string describe(const Sketch& sketch);

// Inputs of a sketch; owns the templates.
struct Prepared {
  explicit Prepared(const Sketch& sketch) {
    templates.reserve(sketch.servers.size());
    for (const auto& server : sketch.servers) templates.push_back(make_server(server));
    for (const fabric::Fabric& server : templates) inputs.servers.push_back(&server);
    inputs.parameters = sketch.parameters;
    const bool scale_up = sketch.topology == "scale_up";
    inputs.switch_class = scale_up ? make_chip(sketch.radix) : make_switch(sketch.radix);
    inputs.host_link = scale_up ? make_nvlink() : make_ethernet(sketch.host_gbps);
    inputs.fabric_link = make_ethernet(sketch.fabric_gbps);
  }
  std::vector<fabric::Fabric> templates;
  topology::Inputs inputs;
};

// The closed form with the sketch's first server repeated; a refusal fails the test.
topology::ClosedForm form_of(const Sketch& sketch, std::size_t servers);

}  // namespace weft::test
