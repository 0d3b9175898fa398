#include "emit/network_ports.h"

#include "base/text.h"

namespace weft::emit {

using fabric::DeviceId;
using fabric::DeviceKind;
using fabric::LinkId;

std::vector<NetworkPort> network_ports(const fabric::Fabric& fabric, DeviceId device) {
  std::vector<NetworkPort> ports;
  const auto given = split_whitespace(fabric.label(device, "ports"));
  for (const LinkId link : fabric.out_links(device)) {
    if (!fabric::is_network(fabric.link_class(link).kind)) continue;
    const auto number = ports.size() < given.size() ? parse_int(given[ports.size()]) : std::nullopt;
    ports.push_back({static_cast<int>(number.value_or(static_cast<int>(ports.size()) + 1)), link});
  }
  return ports;
}

int arrival_port(const fabric::Fabric& fabric, LinkId link) {
  const LinkId back = fabric::reverse(link);
  for (const NetworkPort& port : network_ports(fabric, fabric.to(link))) {
    if (port.link == back) return port.number;
  }
  return 0;
}

std::vector<DeviceId> network_devices(const fabric::Fabric& fabric) {
  std::vector<DeviceId> devices;
  for (const DeviceKind kind : {DeviceKind::network_switch, DeviceKind::gateway, DeviceKind::nic}) {
    for (const DeviceId device : fabric.of_kind(kind)) {
      if (!network_ports(fabric, device).empty()) devices.push_back(device);
    }
  }
  return devices;
}

}  // namespace weft::emit
