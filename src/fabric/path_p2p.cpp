// Direct DMA inside one server: GPU to GPU over PCIe (peer-to-peer), and GPU from and to pinned
// host memory. A GPU writes to its peer and to the host with posted writes, and reads host memory.
#include <fmt/format.h>

#include "fabric/data_path_parts.h"

namespace weft::fabric {

namespace {

bool is_gpu(const Fabric& fabric, DeviceId device) {
  return fabric.kind(device) == DeviceKind::gpu;
}

PathAnswer peer_write(const Fabric& fabric, const PathCosts& costs, const PathQuery& query) {
  for (const DeviceId end : {query.source, query.destination}) {
    const DeviceClass& gpu = fabric.device_class(end);
    if (!gpu.peer_to_peer) {
      return refuse(fmt::format("the driver does not allow GPU peer-to-peer on {} ({})", gpu.model,
                                fabric.name(end)));
    }
  }
  const bool translated = fabric.device_class(query.source).ats;
  const auto links = inner_route(fabric, query.source, query.destination,
                                 {.use_nvlink = false, .acs = !translated});
  if (links.empty()) {
    return refuse(fmt::format("no PCIe path joins {} and {}", fabric.name(query.source),
                              fabric.name(query.destination)));
  }
  const bool by_engine = query.mover == Mover::copy_engine;
  const Duration launch = by_engine ? costs.copy_launch : Duration();
  const Mover mover = by_engine ? Mover::copy_engine : Mover::sm;
  PathBuilder builder(fabric, costs, query, Via::p2p);
  builder.begin_leg(mover, "peer-to-peer write over PCIe", launch);
  builder.add_part("copy launch", launch);
  builder.add_links(links, {.mover = mover, .peer = true});
  builder.add_part("GPU memory write", costs.gpu_memory_access);
  return builder.finish();
}

}  // namespace

void add_copy_to_host(PathBuilder& builder, const Fabric& fabric, const PathCosts& costs,
                      DeviceId gpu, DeviceId host) {
  builder.begin_leg(Mover::copy_engine,
                    fmt::format("DMA write into memory of {}", fabric.name(host)),
                    costs.copy_launch);
  builder.add_part("copy launch", costs.copy_launch);
  builder.add_links(inner_route(fabric, gpu, host), {.mover = Mover::copy_engine});
  builder.add_part("host memory write", costs.memory_access);
  builder.path().dram_bytes_per_byte += 1;
}

void add_copy_from_host(PathBuilder& builder, const Fabric& fabric, const PathCosts& costs,
                        DeviceId host, DeviceId gpu) {
  builder.begin_leg(Mover::copy_engine,
                    fmt::format("DMA read from memory of {}", fabric.name(host)),
                    costs.copy_launch);
  builder.add_part("copy launch", costs.copy_launch);
  builder.add_read(inner_route(fabric, host, gpu), {.mover = Mover::copy_engine},
                   "host memory read", costs.memory_access);
  builder.path().dram_bytes_per_byte += 1;
}

PathAnswer p2p_path(const Fabric& fabric, const PathCosts& costs, const PathQuery& query) {
  const ServerId server = fabric.info(query.source).server;
  if (!server.valid() || server != fabric.info(query.destination).server) {
    return refuse("the ends are in different servers");
  }
  const bool from_gpu = is_gpu(fabric, query.source);
  const bool to_gpu = is_gpu(fabric, query.destination);
  if (from_gpu && to_gpu) return peer_write(fabric, costs, query);
  if (!from_gpu && !to_gpu) return refuse("neither end is a GPU: a core copies host memory");
  if (inner_route(fabric, query.source, query.destination).empty()) {
    return refuse(fmt::format("no link leads from {} to {}", fabric.name(query.source),
                              fabric.name(query.destination)));
  }
  PathBuilder builder(fabric, costs, query, Via::p2p);
  if (from_gpu) {
    add_copy_to_host(builder, fabric, costs, query.source, query.destination);
  } else {
    add_copy_from_host(builder, fabric, costs, query.source, query.destination);
  }
  return builder.finish();
}

}  // namespace weft::fabric
