#include "conformance/sketch.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace weft::test {

std::string describe(const Sketch& sketch) {
  std::string text = fmt::format("{} radix={} {}G/{}G servers=", sketch.topology, sketch.radix,
                                 sketch.host_gbps, sketch.fabric_gbps);
  for (const ServerSketch& s : sketch.servers)
    text += fmt::format("{}g{}x{} ", s.gpus, s.nics, s.ports);
  for (const auto& [name, number] : sketch.parameters) text += fmt::format("{}={} ", name, number);
  return text;
}

topology::ClosedForm form_of(const Sketch& sketch, std::size_t servers) {
  Prepared prepared(sketch);
  prepared.inputs.servers.assign(servers, prepared.inputs.servers.front());
  const topology::Topology& row = *topology::find_topology(sketch.topology);
  const auto refusals = row.refuse(prepared.inputs);
  EXPECT_TRUE(refusals.empty()) << describe(sketch) << refusals.front();
  if (!refusals.empty()) return {};
  return row.closed_form(prepared.inputs);
}

}  // namespace weft::test
