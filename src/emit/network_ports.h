// Port numbers of network devices: as the source numbered them (label `ports`), else counted from 1
// in the order in which the cables were added.
#pragma once

#include <vector>

#include "fabric/fabric.h"

namespace weft::emit {

struct NetworkPort {
  int number = 0;
  fabric::LinkId link;  // leaves the device
};
std::vector<NetworkPort> network_ports(const fabric::Fabric& fabric, fabric::DeviceId device);
// The number of the port at which `link` arrives.
int arrival_port(const fabric::Fabric& fabric, fabric::LinkId link);
// NICs, switches and gateways with at least one network cable, switches first.
std::vector<fabric::DeviceId> network_devices(const fabric::Fabric& fabric);

}  // namespace weft::emit
