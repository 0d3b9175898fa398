#include "topology/ports.h"

#include <fmt/format.h>

#include <algorithm>

#include "topology/scale_up_domain.h"

namespace weft::topology {

namespace {

ServerShape shape_of(const fabric::Fabric& server) {
  ServerShape shape;
  const auto nics = server.of_kind(fabric::DeviceKind::nic);
  const auto gpus = server.of_kind(fabric::DeviceKind::gpu);
  shape.nics.assign(nics.begin(), nics.end());
  shape.gpus.assign(gpus.begin(), gpus.end());
  for (const fabric::DeviceId nic : nics) {
    shape.nic_ports.push_back(server.device_class(nic).ports);
    shape.ports += shape.nic_ports.back();
  }
  return shape;
}

}  // namespace

HostPorts::HostPorts(const Inputs& inputs) {
  std::vector<const fabric::Fabric*> seen;
  shape_of_.reserve(inputs.servers.size());
  for (const fabric::Fabric* const server : inputs.servers) {
    const auto at = std::find(seen.begin(), seen.end(), server);
    shape_of_.push_back(static_cast<std::uint32_t>(at - seen.begin()));
    if (at == seen.end()) {
      seen.push_back(server);
      shapes_.push_back(shape_of(*server));
    }
    count_ += shapes_[shape_of_.back()].ports;
  }
}

std::size_t HostPorts::most_nics() const {
  std::size_t most = 0;
  for (const ServerShape& shape : shapes_) most = std::max(most, shape.nics.size());
  return most;
}

int HostPorts::most_ports_per_nic() const {
  int most = 0;
  for (const ServerShape& shape : shapes_) {
    for (const int ports : shape.nic_ports) most = std::max(most, ports);
  }
  return most;
}

std::vector<fabric::DeviceId> stamp_servers(fabric::FabricBuilder& builder, const Inputs& inputs) {
  std::vector<fabric::DeviceId> first;
  first.reserve(inputs.servers.size());
  // Labels are for printing: a large fabric does without their memory.
  const bool with_labels = inputs.servers.size() <= 256;
  for (std::size_t i = 0; i < inputs.servers.size(); ++i) {
    const std::string name =
        inputs.server_names.empty() ? fmt::format("node{}", i) : inputs.server_names[i];
    first.push_back(builder.append_server(*inputs.servers[i], name, with_labels));
  }
  if (inputs.scale_up) add_scale_up(builder, inputs, *inputs.scale_up, first);
  return first;
}

}  // namespace weft::topology
