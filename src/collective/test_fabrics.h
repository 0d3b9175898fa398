// Small clusters for the tests of this folder, built by hand so that each figure they lead to can
// be checked on paper. Used by tests only; shipped servers live in data/.
#pragma once

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "collective/channels.h"
#include "fabric/fabric_builder.h"

namespace weft::collective::test_fabrics {

using fabric::DeviceClass;
using fabric::DeviceClassId;
using fabric::DeviceId;
using fabric::DeviceKind;
using fabric::Fabric;
using fabric::FabricBuilder;
using fabric::LinkClass;
using fabric::LinkClassId;
using fabric::LinkKind;
using fabric::Vendor;

// GPUs and NICs behind PCIe switches of two sockets, NVLink as `mesh` or one NVSwitch says.
struct ServerSpec {
  int gpus = 8;
  int compute_capability = 90;
  Vendor gpu_vendor = Vendor::nvidia;
  bool multicast = false;
  bool peer_to_peer = true;
  int nvswitch_links = 0;  // NVLinks of each GPU to the NVSwitch
  int nvlink_generation = 4;
  LinkKind mesh_kind = LinkKind::nvlink;
  std::vector<std::array<int, 3>> mesh;          // GPU, GPU, links
  int gpus_per_switch = 2, nics_per_switch = 2;  // PCIe switches; nics 0: none
  double nic_gbps = 400;
  Vendor nic_vendor = Vendor::mellanox;
  int pcie_generation = 5;
  Vendor cpu_vendor = Vendor::intel;
  double socket_gb_per_s = 22;  // peer traffic between the sockets
};

inline LinkClass pcie(int generation) {
  constexpr std::array<double, 7> kGigabytes{0, 4, 8, 15.75, 31.5, 63, 121};
  LinkClass link;
  link.kind = LinkKind::pcie;
  link.generation = generation;
  link.width = 16;
  link.raw_rate =
      BitRate::from_gigabytes_per_second(kGigabytes[static_cast<std::size_t>(generation)]);
  return link;
}

inline LinkClass nvlink(LinkKind kind, int generation, int links) {
  LinkClass link;
  link.kind = kind;
  link.generation = generation;
  link.width = links;
  const double one = kind == LinkKind::xgmi ? 64 : generation >= 5 ? 50 : 25;
  link.raw_rate = BitRate::from_gigabytes_per_second(one * links);
  return link;
}

struct ServerParts {
  DeviceClassId gpu, nic, cpu, bridge, pcie_switch, nvswitch;
  LinkClassId pcie, on_die, socket;
};

inline ServerParts server_parts(FabricBuilder& builder, const ServerSpec& spec) {
  DeviceClass gpu;
  gpu.kind = DeviceKind::gpu;
  gpu.vendor = spec.gpu_vendor;
  gpu.compute_capability = spec.compute_capability;
  gpu.multicast = spec.multicast;
  gpu.peer_to_peer = spec.peer_to_peer;
  DeviceClass nic;
  nic.kind = DeviceKind::nic;
  nic.vendor = spec.nic_vendor;
  nic.model = spec.nic_vendor == Vendor::aws ? "efa" : "connectx";
  nic.port_rate = BitRate::from_gigabits_per_second(spec.nic_gbps);
  DeviceClass cpu;
  cpu.kind = DeviceKind::cpu;
  cpu.vendor = spec.cpu_vendor;
  DeviceClass bridge, pcie_switch, nvswitch;
  bridge.kind = DeviceKind::host_bridge;
  pcie_switch.kind = DeviceKind::pcie_switch;
  nvswitch.kind = DeviceKind::nvswitch;
  nvswitch.multicast = spec.multicast;
  LinkClass on_die, socket;
  on_die.kind = LinkKind::on_die;
  on_die.raw_rate = BitRate::from_gigabytes_per_second(200);
  socket.kind = LinkKind::inter_socket;
  socket.raw_rate = BitRate::from_gigabytes_per_second(60);
  socket.peer_rate = BitRate::from_gigabytes_per_second(spec.socket_gb_per_s);
  return {builder.device_class(gpu),
          builder.device_class(nic),
          builder.device_class(cpu),
          builder.device_class(bridge),
          builder.device_class(pcie_switch),
          builder.device_class(nvswitch),
          builder.link_class(pcie(spec.pcie_generation)),
          builder.link_class(on_die),
          builder.link_class(socket)};
}

inline void add_gpu_links(FabricBuilder& builder, const ServerSpec& spec, const ServerParts& parts,
                          const std::vector<DeviceId>& gpus) {
  if (spec.nvswitch_links > 0) {
    const DeviceId nvswitch = builder.add_device(parts.nvswitch, {.name = "nvs0"});
    const LinkClassId link =
        builder.link_class(nvlink(LinkKind::nvlink, spec.nvlink_generation, spec.nvswitch_links));
    for (DeviceId gpu : gpus) builder.add_link({gpu, nvswitch}, link);
  }
  for (const auto& [a, b, links] : spec.mesh)
    builder.add_link({gpus[static_cast<std::size_t>(a)], gpus[static_cast<std::size_t>(b)]},
                     builder.link_class(nvlink(spec.mesh_kind, spec.nvlink_generation, links)));
}

// One server: socket s has half of the PCIe switches.
inline Fabric server(const ServerSpec& spec) {
  FabricBuilder builder;
  const ServerParts parts = server_parts(builder, spec);
  builder.begin_server();
  const DeviceId cpu0 = builder.add_device(parts.cpu, {.name = "cpu0", .numa = 0});
  const DeviceId cpu1 = builder.add_device(parts.cpu, {.name = "cpu1", .numa = 1});
  builder.add_link({cpu0, cpu1}, parts.socket);
  std::vector<DeviceId> gpus;
  int nics = 0;
  const int switches = (spec.gpus + spec.gpus_per_switch - 1) / spec.gpus_per_switch;
  for (int s = 0; s < switches; ++s) {
    const DeviceId cpu = s < (switches + 1) / 2 ? cpu0 : cpu1;
    const DeviceId bridge = builder.add_device(parts.bridge, {.name = fmt::format("hb{}", s)});
    const DeviceId plx = builder.add_device(parts.pcie_switch, {.name = fmt::format("plx{}", s)});
    builder.add_link({cpu, bridge}, parts.on_die);
    builder.add_link({bridge, plx}, parts.pcie);
    for (int g = 0; g < spec.gpus_per_switch && static_cast<int>(gpus.size()) < spec.gpus; ++g) {
      gpus.push_back(builder.add_device(parts.gpu, {.name = fmt::format("gpu{}", gpus.size())}));
      builder.add_link({plx, gpus.back()}, parts.pcie);
    }
    for (int k = 0; k < spec.nics_per_switch; ++k) {
      const DeviceId nic = builder.add_device(parts.nic, {.name = fmt::format("nic{}", nics++)});
      builder.add_link({plx, nic}, parts.pcie);
    }
  }
  add_gpu_links(builder, spec, parts, gpus);
  builder.end_server();
  return std::move(builder).build();
}

// `count` such servers, every NIC on one big switch.
inline Fabric cluster(const ServerSpec& spec, int count, bool reduces = false) {
  const Fabric one = server(spec);
  FabricBuilder builder;
  std::vector<DeviceId> first;
  for (int i = 0; i < count; ++i)
    first.push_back(builder.append_server(one, fmt::format("node{}", i)));
  DeviceClass leaf;
  leaf.kind = DeviceKind::network_switch;
  leaf.reduces = reduces;
  LinkClass cable;
  cable.kind = LinkKind::ethernet;
  cable.raw_rate = BitRate::from_gigabits_per_second(spec.nic_gbps);
  const DeviceId hub = builder.add_device(builder.device_class(leaf), {.name = "hub", .tier = 1});
  const LinkClassId cable_class = builder.link_class(cable);
  for (DeviceId base : first)
    for (DeviceId nic : one.of_kind(DeviceKind::nic))
      builder.add_link({DeviceId(base.index() + nic.index()), hub}, cable_class);
  return std::move(builder).build();
}

inline ServerSpec a100() {
  ServerSpec spec;
  spec.compute_capability = 80;
  spec.nvswitch_links = 12;
  spec.nvlink_generation = 3;
  spec.nic_gbps = 200;
  spec.pcie_generation = 4;
  spec.cpu_vendor = Vendor::amd;
  spec.socket_gb_per_s = 16;
  return spec;
}
// AWS p4d: one 100 Gb/s EFA for two GPUs, PCIe declared Gen3, Intel.
inline ServerSpec p4d() {
  ServerSpec spec = a100();
  spec.nics_per_switch = 1;
  spec.nic_gbps = 100;
  spec.nic_vendor = Vendor::aws;
  spec.pcie_generation = 3;
  spec.cpu_vendor = Vendor::intel;
  spec.socket_gb_per_s = 10;
  return spec;
}
inline ServerSpec h100() {
  ServerSpec spec;
  spec.nvswitch_links = 18;
  spec.multicast = true;
  spec.gpus_per_switch = spec.nics_per_switch = 1;
  return spec;
}
inline ServerSpec b200() {
  ServerSpec spec = h100();
  spec.compute_capability = 100;
  spec.nvlink_generation = 5;
  return spec;
}
// DGX-1 with V100: the hybrid cube mesh, 6 NVLinks a GPU; 2 GPUs and a 100 Gb/s NIC a switch.
inline ServerSpec dgx1v() {
  ServerSpec spec;
  spec.compute_capability = 70;
  spec.nvlink_generation = 2;
  spec.pcie_generation = 3;
  spec.nic_gbps = 100;
  spec.nics_per_switch = 1;
  spec.socket_gb_per_s = 6;
  spec.mesh = {{0, 1, 1}, {0, 2, 1}, {0, 3, 2}, {1, 2, 2}, {1, 3, 1}, {2, 3, 2},
               {4, 5, 1}, {4, 6, 1}, {4, 7, 2}, {5, 6, 2}, {5, 7, 1}, {6, 7, 2},
               {0, 4, 2}, {1, 5, 2}, {2, 6, 1}, {3, 7, 1}};
  return spec;
}
// Four A100 with four NVLinks between any two.
inline ServerSpec a100_nv4() {
  ServerSpec spec = a100();
  spec.gpus = 4;
  spec.nvswitch_links = 0;
  for (int a = 0; a < 4; ++a)
    for (int b = a + 1; b < 4; ++b) spec.mesh.push_back({a, b, 4});
  return spec;
}
// MI300X: one xGMI link between any two of eight.
inline ServerSpec mi300x() {
  ServerSpec spec;
  spec.compute_capability = 942;
  spec.gpu_vendor = Vendor::amd;
  spec.mesh_kind = LinkKind::xgmi;
  spec.gpus_per_switch = spec.nics_per_switch = 1;
  for (int a = 0; a < 8; ++a)
    for (int b = a + 1; b < 8; ++b) spec.mesh.push_back({a, b, 1});
  return spec;
}
// No NVLink: `gpus` GPUs, two a switch.
inline ServerSpec pcie_only(int gpus) {
  ServerSpec spec;
  spec.gpus = gpus;
  spec.compute_capability = 89;
  spec.pcie_generation = 4;
  spec.nics_per_switch = 0;
  return spec;
}

inline Group all_gpus(const Fabric& fabric) {
  const auto gpus = fabric.of_kind(DeviceKind::gpu);
  return {{gpus.begin(), gpus.end()}};
}
// The first `local` GPUs of each server.
inline Group some_gpus(const Fabric& fabric, int local) {
  Group group;
  for (DeviceId gpu : fabric.of_kind(DeviceKind::gpu))
    if (static_cast<int>(fabric.info(gpu).local_index) < local) group.gpus.push_back(gpu);
  return group;
}

}  // namespace weft::collective::test_fabrics
