// The path classes of `nvidia-smi topo -m` between any two devices of one server, and the matrix.
// X self, NV# (# NVLinks in all, directly or through NVSwitch), XGMI, C2C, PIX at most one PCIe
// switch, PXB several switches, PHB through a host bridge, NODE between host bridges of one NUMA
// node, SYS across, NET another server. Two functions of one card (equal "bus_id" label up to the
// dot) are PIX. ACS does not change a class: the classes tell the wiring, not the traffic.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fabric/fabric.h"

namespace weft::fabric {

enum class PathKind : std::uint8_t { self, nvlink, xgmi, c2c, pix, pxb, phb, node, sys, net };

struct PathClass {
  PathKind kind = PathKind::sys;
  int nvlinks = 0;  // for nvlink
  friend bool operator==(PathClass, PathClass) = default;
};
std::string to_text(PathClass c);  // "X" "NV18" "C2C" "PIX" ...

PathClass path_class(const Fabric& fabric, DeviceId a, DeviceId b);

// The NIC of the server of `device` (a gpu or cpu) that its traffic leaves by: the nearest by class
// with a network link. Equally near NICs are dealt out in order to the devices that share them.
std::optional<DeviceId> nearest_nic(const Fabric& fabric, DeviceId device);

// Rows and columns: GPUs then NICs of one server, in local order.
struct TopologyMatrix {
  std::vector<DeviceId> devices;
  std::vector<std::string> headers;  // GPU0.. NIC0..
  std::vector<std::vector<PathClass>> cells;
  std::vector<std::string> cpu_affinity, numa_affinity, gpu_numa_id;  // per GPU row
  std::vector<std::pair<std::string, std::string>> nic_legend;        // NIC0 -> mlx5_0
};
TopologyMatrix topology_matrix(const Fabric& fabric, ServerId server);

}  // namespace weft::fabric
