// Servers and small clusters that the tests of fabric/ and transport/ share. Test code only.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "fabric/data_path.h"
#include "fabric/fabric_builder.h"
#include "fabric/nvlink.h"
#include "fabric/pcie.h"

namespace weft::fabric::testing {

inline DeviceClass device(DeviceKind kind, std::string model) {
  DeviceClass c;
  c.kind = kind;
  c.model = std::move(model);
  return c;
}

inline LinkClass on_die() {
  LinkClass c;
  c.kind = LinkKind::on_die;
  c.name = "on die";
  c.raw_rate = BitRate::from_gigabytes_per_second(300);
  return c;
}

struct ServerOptions {
  int pcie_generation = 5;
  bool acs = false;
  bool intel = false;  // host bridges split peer packets
  bool peer_to_peer = true;
  bool gpu_direct_rdma = true;
  bool ats = false;
  bool multicast = false;     // NVLS, of compute capability 9.0
  int nvlink_generation = 4;  // 0: no NVLink
  std::vector<int> nvlinks = {5, 4, 4, 5};
  BitRate peer_rate = BitRate::from_gigabytes_per_second(22);  // between sockets
};

// Two sockets, each with two host bridges, each with one PCIe switch holding two GPUs and two NICs;
// all eight GPUs on NVSwitches. The shape of an HGX H100.
inline Fabric hgx(const ServerOptions& o = {}) {
  FabricBuilder b;
  b.begin_server();
  DeviceClass bridge = device(DeviceKind::host_bridge, "root");
  bridge.splits_p2p_tlps = o.intel;
  DeviceClass gpu = device(DeviceKind::gpu, "h100-sxm5-80gb");
  gpu.peer_to_peer = o.peer_to_peer;
  gpu.gpu_direct_rdma = o.gpu_direct_rdma;
  gpu.ats = o.ats;
  gpu.multicast = o.multicast;
  gpu.compute_capability = o.multicast ? 90 : 0;
  DeviceClass nvlink_switch = device(DeviceKind::nvswitch, "nvswitch");
  nvlink_switch.multicast = o.multicast;
  const auto pcie = b.link_class(pcie_link_class(o.pcie_generation, 16));
  const auto die = b.link_class(on_die());
  LinkClass upi;
  upi.kind = LinkKind::inter_socket;
  upi.name = "upi";
  upi.raw_rate = BitRate::from_gigabytes_per_second(32);
  std::vector<DeviceId> cpus, gpus;
  for (int i = 0; i < 2; ++i) {
    cpus.push_back(
        b.add_device(b.device_class(device(DeviceKind::cpu, "cpu")),
                     {.name = fmt::format("cpu{}", i), .numa = static_cast<std::int16_t>(i)}));
  }
  b.add_link({cpus[0], cpus[1]}, b.link_class(inter_socket_link_class(upi, 3, o.peer_rate)));
  for (int s = 0; s < 4; ++s) {
    const auto numa = static_cast<std::int16_t>(s / 2);
    const auto root =
        b.add_device(b.device_class(bridge), {.name = fmt::format("root{}", s), .numa = numa});
    const auto plx =
        b.add_device(b.device_class(device(DeviceKind::pcie_switch, "plx")),
                     {.name = fmt::format("plx{}", s), .numa = numa, .acs_redirect = o.acs});
    b.add_link({cpus[static_cast<std::size_t>(s) / 2], root}, die);
    b.add_link({root, plx}, pcie);
    for (int k = 2 * s; k < 2 * s + 2; ++k) {
      gpus.push_back(
          b.add_device(b.device_class(gpu), {.name = fmt::format("gpu{}", k), .numa = numa}));
      b.add_link({plx, gpus.back()}, pcie);
    }
    for (int k = 2 * s; k < 2 * s + 2; ++k) {
      const auto nic = b.add_device(b.device_class(device(DeviceKind::nic, "cx7")),
                                    {.name = fmt::format("nic{}", k), .numa = numa});
      b.add_link({plx, nic}, pcie);
    }
  }
  for (std::size_t s = 0; o.nvlink_generation > 0 && s < o.nvlinks.size(); ++s) {
    const auto nvswitch =
        b.add_device(b.device_class(nvlink_switch), {.name = fmt::format("nvswitch{}", s)});
    const auto nvlink = b.link_class(nvlink_link_class(o.nvlink_generation, o.nvlinks[s]));
    for (const DeviceId g : gpus) b.add_link({g, nvswitch}, nvlink);
  }
  b.end_server();
  return std::move(b).build();
}

// One CPU with its GPU and NIC straight under the host bridge.
inline Fabric small_server() {
  FabricBuilder b;
  b.begin_server();
  const auto pcie = b.link_class(pcie_link_class(5, 16));
  const auto cpu =
      b.add_device(b.device_class(device(DeviceKind::cpu, "cpu")), {.name = "cpu0", .numa = 0});
  const auto root = b.add_device(b.device_class(device(DeviceKind::host_bridge, "root")),
                                 {.name = "root0", .numa = 0});
  const auto gpu =
      b.add_device(b.device_class(device(DeviceKind::gpu, "gpu")), {.name = "gpu0", .numa = 0});
  const auto nic =
      b.add_device(b.device_class(device(DeviceKind::nic, "nic")), {.name = "nic0", .numa = 0});
  b.add_link({cpu, root}, b.link_class(on_die()));
  b.add_link({root, gpu}, pcie);
  b.add_link({root, nic}, pcie);
  b.end_server();
  return std::move(b).build();
}

// 400 Gb/s cables. PHY and FEC at both ends take 130 ns (InfiniBand) or 150 ns (Ethernet), fibre
// 4.9 ns a metre.
inline LinkClass cable(LinkKind kind, double metres) {
  LinkClass c;
  c.kind = kind;
  c.name = std::string(to_text(kind));
  c.raw_rate = BitRate::gigabits_per_second(400);
  c.latency = Duration::nanoseconds(kind == LinkKind::infiniband ? 130 : 150) +
              Duration::from_nanoseconds(4.9 * metres);
  return c;
}

// Two servers, NIC k of each on leaf 0 and leaf 1 (or both on leaf 0); one spine above.
struct Cluster {
  Fabric fabric;
  [[nodiscard]] DeviceId at(std::string_view name) const { return fabric.find(name).value(); }
};
inline Cluster cluster(const Fabric& server, LinkKind kind, bool one_leaf, bool reduces = false) {
  FabricBuilder b;
  b.append_server(server, "a");
  b.append_server(server, "c");
  DeviceClass network_switch = device(DeviceKind::network_switch, "switch");
  network_switch.reduces = reduces;
  const auto c = b.device_class(network_switch);
  const std::vector<DeviceId> leaf = {b.add_device(c, {.name = "leaf0", .tier = 1}),
                                      b.add_device(c, {.name = "leaf1", .tier = 1})};
  const DeviceId spine = b.add_device(c, {.name = "spine0", .tier = 2});
  const auto host = b.link_class(cable(kind, 5));
  for (const DeviceId l : leaf) b.add_link({l, spine}, b.link_class(cable(kind, 30)));
  for (std::size_t i = 0; i < server.device_count(); ++i) {
    if (server.kind(DeviceId(i)) != DeviceKind::nic) continue;
    b.add_link({DeviceId(i), leaf[0]}, host);
    b.add_link({DeviceId(server.device_count() + i), leaf[one_leaf ? 0 : 1]}, host);
  }
  return {std::move(b).build()};
}

// Breadth first over network links.
inline NetworkRoute shortest_route(const Fabric& fabric) {
  return [&fabric](DeviceId from, DeviceId to, std::uint64_t, std::vector<LinkId>& out) {
    std::map<DeviceId, LinkId> by = {{from, LinkId()}};
    std::vector<DeviceId> queue = {from};
    for (std::size_t i = 0; i < queue.size() && !by.contains(to); ++i) {
      for (const LinkId link : fabric.out_links(queue[i])) {
        const bool usable = is_network(fabric.link_class(link).kind);
        if (usable && by.try_emplace(fabric.to(link), link).second)
          queue.push_back(fabric.to(link));
      }
    }
    if (!by.contains(to)) return;
    const std::size_t begin = out.size();
    for (DeviceId d = to; d != from; d = fabric.from(out.back())) out.push_back(by[d]);
    std::reverse(out.begin() + static_cast<std::ptrdiff_t>(begin), out.end());
  };
}

}  // namespace weft::fabric::testing
