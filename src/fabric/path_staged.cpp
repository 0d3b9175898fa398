// Through host memory. Inside a server: GPU to pinned buffer to GPU, or a core copying pageable
// memory into the buffer a GPU reads. Across servers: D2H, RDMA between the hosts, H2D. The legs
// work on different chunks at once.
#include <fmt/format.h>

#include "fabric/data_path_parts.h"

namespace weft::fabric {

namespace {

struct Ends {
  bool from_gpu = false, to_gpu = false;
  DeviceId source_host, destination_host;
};

Ends ends_of(const Fabric& fabric, const PathQuery& query) {
  return {fabric.kind(query.source) == DeviceKind::gpu,
          fabric.kind(query.destination) == DeviceKind::gpu, host_memory_of(fabric, query.source),
          host_memory_of(fabric, query.destination)};
}

// A core copies between two buffers of host memory: read and write, and its time per byte.
void add_core_copy(PathBuilder& builder, const Fabric& fabric, const PathCosts& costs,
                   DeviceId from, DeviceId to, std::string what) {
  builder.begin_leg(Mover::cpu, std::move(what));
  builder.add_part("host memory read", costs.memory_access);
  if (from != to) builder.add_links(inner_route(fabric, from, to), {.mover = Mover::cpu});
  builder.cap_leg(BitRate::from_gigabytes_per_second(costs.pageable_copy_gb_per_s),
                  "one core's memory copy");
  DataPath& path = builder.path();
  path.dram_bytes_per_byte += 2;
  path.cpu_s_per_gb += 1 / costs.pageable_copy_gb_per_s;
  ++path.copies;
}

void stage(PathBuilder& builder, const PathCosts& costs, int launches) {
  DataPath& path = builder.path();
  path.chunk = costs.staging_chunk;
  path.slots = costs.staging_slots;
  // A core launches every copy of every chunk.
  path.cpu_s_per_gb +=
      launches * costs.copy_launch.to_seconds() * 1e9 / costs.staging_chunk.to_double();
}

PathAnswer inside(const Fabric& fabric, const PathCosts& costs, const PathQuery& query,
                  const Ends& ends) {
  PathBuilder builder(fabric, costs, query, Via::staged);
  if (!ends.from_gpu && !ends.to_gpu) {
    if (inner_route(fabric, query.source, query.destination).empty()) {
      return refuse(fmt::format("no link leads from {} to {}", fabric.name(query.source),
                                fabric.name(query.destination)));
    }
    add_core_copy(builder, fabric, costs, query.source, query.destination, "memory copy by a core");
    return builder.finish();
  }
  const DeviceId buffer = ends.from_gpu ? ends.source_host : ends.destination_host;
  if (ends.from_gpu) {
    add_copy_to_host(builder, fabric, costs, query.source, buffer);
  } else {
    add_core_copy(builder, fabric, costs, query.source, buffer, "copy into a pinned buffer");
  }
  if (ends.to_gpu) {
    add_copy_from_host(builder, fabric, costs, buffer, query.destination);
  } else {
    add_core_copy(builder, fabric, costs, buffer, query.destination, "copy out of a pinned buffer");
  }
  stage(builder, costs, ends.from_gpu && ends.to_gpu ? 2 : 1);
  return builder.finish();
}

PathAnswer across(const Fabric& fabric, const PathCosts& costs, const NetworkRoute& route,
                  const PathQuery& query, const Ends& ends) {
  if (!costs.network.rdma) return refuse(fmt::format("{} has no RDMA", costs.network.name));
  if (!ends.from_gpu && !ends.to_gpu) return refuse("both ends are host memory: use rdma");
  const NetworkLegs network = find_network(fabric, costs.network, route, query);
  if (!network.refusal.empty()) return refuse(network.refusal);
  PathBuilder builder(fabric, costs, query, Via::staged);
  builder.path().note = network.note;
  if (ends.from_gpu) add_copy_to_host(builder, fabric, costs, query.source, ends.source_host);
  add_rdma_leg(builder, fabric, costs, network, ends.source_host, ends.destination_host);
  if (ends.to_gpu) {
    add_copy_from_host(builder, fabric, costs, ends.destination_host, query.destination);
  }
  stage(builder, costs, (ends.from_gpu ? 1 : 0) + (ends.to_gpu ? 1 : 0));
  return builder.finish();
}

}  // namespace

PathAnswer staged_path(const Fabric& fabric, const PathCosts& costs, const NetworkRoute& route,
                       const PathQuery& query) {
  const Ends ends = ends_of(fabric, query);
  for (const auto& [end, host] : {std::pair{query.source, ends.source_host},
                                  std::pair{query.destination, ends.destination_host}}) {
    if (!host.valid()) {
      return refuse(fmt::format("no CPU memory is reachable from {}", fabric.name(end)));
    }
  }
  const bool one_server = fabric.info(query.source).server == fabric.info(query.destination).server;
  return one_server ? inside(fabric, costs, query, ends)
                    : across(fabric, costs, route, query, ends);
}

}  // namespace weft::fabric
