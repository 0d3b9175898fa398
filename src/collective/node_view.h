// One node as NCCL's topology code sees it: the GPUs of a group inside one NVLink domain or server,
// the NICs there, and between them links with the round bandwidths NCCL gives to link types. All
// NVSwitches are one vertex; parallel NVLinks are one link. Paths are NCCL's: NVLink when there is
// one, else the fewest PCIe hops, through the CPU where peer-to-peer is not allowed.
// Leaves out: paths that go through a third GPU (NVB), POWER's NVLinks to the CPU.
// Source: NCCL 2.30 src/graph/topo.cc and paths.cc (facts only).
#pragma once

#include <cstdint>
#include <vector>

#include "fabric/fabric.h"

namespace weft::collective {

// NCCL's path types in its order; node (between host bridges of one NUMA node) counts as phb.
enum class Reach : std::uint8_t { loc, nvl, c2c, pix, pxb, pxn, phb, sys, none };

struct ViewLink {
  std::uint32_t from = 0, to = 0;
  double bandwidth = 0;  // GB/s
  bool pcie = false;
};

struct ViewPath {
  std::vector<std::uint32_t> links;
  Reach reach = Reach::none;
  double bandwidth = 0;       // of its narrowest link
  bool intel_bridge = false;  // PHB through an Intel CPU: PCIe links carry 6/5 of the payload
  [[nodiscard]] bool exists() const { return reach != Reach::none; }
};

struct NodeView {
  std::vector<fabric::DeviceId> devices;  // position = what two equal nodes have in common
  std::vector<std::uint32_t> gpus, nics;  // positions
  std::vector<ViewLink> links;
  std::vector<std::uint32_t> nic_out, nic_in;  // per NIC: the link to and from the network
  std::vector<std::vector<ViewPath>> gpu_gpu;  // [from][to] by place in gpus
  std::vector<std::vector<ViewPath>> gpu_nic, nic_gpu;
  double nvlink_total = 0;  // GB/s that the best-connected GPU has in NVLinks or xGMI
  double total = 0;         // the same, or its PCIe when that is more
  bool multicast = false;   // every GPU reaches NVSwitches that multicast
  int compute_capability = 0;
  fabric::Vendor gpu_vendor = fabric::Vendor::unknown;
  fabric::Vendor cpu_vendor = fabric::Vendor::unknown;
};

// `devices` in the order that makes equal nodes comparable, `gpus` the group's members among them.
NodeView view_node(const fabric::Fabric& fabric, std::vector<fabric::DeviceId> devices,
                   const std::vector<fabric::DeviceId>& gpus);

}  // namespace weft::collective
