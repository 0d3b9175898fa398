// RDMA writes: a core posts a work request and rings the doorbell, the sending NIC fetches the
// request and the payload by DMA, the receiving NIC writes it into memory; no core touches a byte.
// With GPU memory at an end this is GPUDirect RDMA, PCIe peer-to-peer between NIC and GPU.
#include <fmt/format.h>

#include "fabric/data_path_parts.h"

namespace weft::fabric {

namespace {

bool is_gpu(const Fabric& fabric, DeviceId device) {
  return fabric.kind(device) == DeviceKind::gpu;
}

std::vector<LinkId> dma_route(const Fabric& fabric, DeviceId from, DeviceId to, DeviceId nic) {
  return inner_route(fabric, from, to, {.use_nvlink = false, .acs = !fabric.device_class(nic).ats});
}

// Why a NIC cannot reach the memory of `end`; empty when it can.
std::string no_direct_access(const Fabric& fabric, DeviceId end, DeviceId nic) {
  if (dma_route(fabric, end, nic, nic).empty()) {
    return fmt::format("no PCIe path joins {} and {}", fabric.name(end), fabric.name(nic));
  }
  if (!is_gpu(fabric, end)) return {};
  for (const DeviceId device : {end, nic}) {
    const DeviceClass& c = fabric.device_class(device);
    if (!c.gpu_direct_rdma) {
      return fmt::format("{} ({}) does not allow GPUDirect RDMA", c.model, fabric.name(device));
    }
  }
  return {};
}

PathAnswer direct_path(const Fabric& fabric, const PathCosts& costs, const NetworkRoute& route,
                       const PathQuery& query, Via via) {
  if (!costs.network.rdma) {
    return refuse(fmt::format("{} has no RDMA", costs.network.name));
  }
  const NetworkLegs network = find_network(fabric, costs.network, route, query);
  if (!network.refusal.empty()) return refuse(network.refusal);
  std::string fault = no_direct_access(fabric, query.source, network.source_nic);
  if (fault.empty()) fault = no_direct_access(fabric, query.destination, network.destination_nic);
  if (!fault.empty()) return refuse(std::move(fault));
  PathBuilder builder(fabric, costs, query, via);
  builder.path().note = network.note;
  add_rdma_leg(builder, fabric, costs, network, query.source, query.destination);
  return builder.finish();
}

// The payload's way out of memory into the sending NIC.
void add_source_dma(PathBuilder& builder, const Fabric& fabric, const PathCosts& costs,
                    DeviceId source, DeviceId nic) {
  const bool gpu = is_gpu(fabric, source);
  builder.add_read(dma_route(fabric, source, nic, nic), {.mover = Mover::nic, .peer = gpu},
                   gpu ? "GPU memory read" : "host memory read",
                   gpu ? costs.gpu_direct_extra : costs.memory_access);
  if (!gpu) builder.path().dram_bytes_per_byte += 1;
}

void add_destination_dma(PathBuilder& builder, const Fabric& fabric, const PathCosts& costs,
                         DeviceId nic, DeviceId destination) {
  const bool gpu = is_gpu(fabric, destination);
  builder.add_links(dma_route(fabric, nic, destination, nic), {.mover = Mover::nic, .peer = gpu});
  builder.add_part(gpu ? "GPU memory write" : "host memory write",
                   gpu ? costs.gpu_direct_extra : costs.memory_access);
  if (!gpu) builder.path().dram_bytes_per_byte += 1;
}

}  // namespace

void add_rdma_leg(PathBuilder& builder, const Fabric& fabric, const PathCosts& costs,
                  const NetworkLegs& network, DeviceId source, DeviceId destination) {
  const Duration start = costs.post_wqe + costs.doorbell + costs.wqe_fetch + costs.completion;
  builder.begin_leg(Mover::nic, builder.text([&] {
    return fmt::format("{} write from {} to {}", costs.network.name,
                       fabric.name(network.source_nic), fabric.name(network.destination_nic));
  }),
                    start);
  builder.add_part("post work request", costs.post_wqe);
  builder.add_part("doorbell", costs.doorbell);
  const DeviceId core = host_memory_of(fabric, source);
  if (core.valid()) {
    builder.add_crossing("doorbell over PCIe",
                         dma_route(fabric, core, network.source_nic, network.source_nic));
  }
  builder.add_part("work request fetch", costs.wqe_fetch);
  add_source_dma(builder, fabric, costs, source, network.source_nic);
  builder.add_part("NICs", nic_pair_time(fabric, costs.network, network));
  builder.add_network(network.links, costs.network.mtu, costs.network.overhead);
  add_destination_dma(builder, fabric, costs, network.destination_nic, destination);
  builder.add_part("completion", costs.completion);
}

PathAnswer rdma_path(const Fabric& fabric, const PathCosts& costs, const NetworkRoute& route,
                     const PathQuery& query) {
  for (const DeviceId end : {query.source, query.destination}) {
    if (is_gpu(fabric, end)) {
      return refuse(
          fmt::format("{} is a GPU: use gdr, or staged through host memory", fabric.name(end)));
    }
  }
  return direct_path(fabric, costs, route, query, Via::rdma);
}

PathAnswer gdr_path(const Fabric& fabric, const PathCosts& costs, const NetworkRoute& route,
                    const PathQuery& query) {
  if (!is_gpu(fabric, query.source) && !is_gpu(fabric, query.destination)) {
    return refuse("neither end is a GPU: use rdma");
  }
  return direct_path(fabric, costs, route, query, Via::gdr);
}

}  // namespace weft::fabric
