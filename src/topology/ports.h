// The network ports that a topology has to connect, counted before anything is built: server by
// server, NIC by NIC (rail = position of the NIC in its server), port by port. Templates repeat, so
// each is looked at once. Also stamps the servers into a builder.
#pragma once

#include <cstdint>
#include <vector>

#include "topology/topology.h"

namespace weft::topology {

// One kind of server: which devices are its NICs and GPUs, and how many ports each NIC has.
struct ServerShape {
  std::vector<fabric::DeviceId> nics, gpus;  // ids within the template
  std::vector<int> nic_ports;
  std::int64_t ports = 0;  // all NICs together
};

class HostPorts {
 public:
  explicit HostPorts(const Inputs& inputs);

  [[nodiscard]] std::int64_t count() const { return count_; }
  [[nodiscard]] std::size_t server_count() const { return shape_of_.size(); }
  [[nodiscard]] const ServerShape& shape(std::size_t server) const {
    return shapes_[shape_of_[server]];
  }
  [[nodiscard]] std::size_t most_nics() const;  // rails
  [[nodiscard]] int most_ports_per_nic() const;

 private:
  std::vector<ServerShape> shapes_;
  std::vector<std::uint32_t> shape_of_;
  std::int64_t count_ = 0;
};

// Adds every server under its name (or "node<i>"), then the scale-up domains if inputs ask for
// them. Returns the first device of each server. Radices and such were checked by refuse().
std::vector<fabric::DeviceId> stamp_servers(fabric::FabricBuilder& builder, const Inputs& inputs);

}  // namespace weft::topology
