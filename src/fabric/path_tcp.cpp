// Kernel TCP: a core copies the payload into socket buffers and builds segments, the NIC fetches
// them by DMA, and at the other end interrupt, driver and protocol run on a core that copies the
// payload out again. GPU memory is staged before and after.
#include <fmt/format.h>

#include "fabric/data_path_parts.h"

namespace weft::fabric {

namespace {

BitRate socket_rate(Bytes segment, Duration time) {
  return BitRate::from_gigabytes_per_second(segment.to_double() / time.to_nanoseconds());
}

void add_socket_leg(PathBuilder& builder, const PathCosts& costs, bool sending) {
  const SocketRates rates = socket_rates(costs);
  const Duration each = sending ? rates.send_per_segment : rates.receive_per_segment;
  builder.begin_leg(Mover::cpu, sending ? "copy into the socket and build segments"
                                        : "receive segments and copy out of the socket");
  builder.cap_leg(socket_rate(costs.segment, each),
                  fmt::format("one core takes {} for {} B of {}", to_text(each),
                              costs.segment.count(), sending ? "sending" : "receiving"));
  DataPath& path = builder.path();
  path.cpu_s_per_gb += each.to_seconds() * 1e9 / costs.segment.to_double();
  path.dram_bytes_per_byte += 2;  // the copy reads and writes
  ++path.copies;
  if (sending) {
    builder.add_part("send system call", costs.system_call);
    builder.add_part("TCP/IP send", costs.segment_cost);
    builder.add_part("doorbell", costs.doorbell);
    return;
  }
  builder.add_part("interrupt coalescing", costs.interrupt_coalescing);
  builder.add_part("interrupt", costs.interrupt);
  builder.add_part("driver", costs.driver_per_frame);
  builder.add_part("TCP/IP receive", costs.segment_cost);
  builder.add_part("wake-up of the receiver", costs.wake_up);
  builder.add_part("receive system call", costs.system_call);
}

void add_wire_leg(PathBuilder& builder, const Fabric& fabric, const PathCosts& costs,
                  const NetworkLegs& network, DeviceId from, DeviceId to) {
  const auto out = inner_route(fabric, from, network.source_nic, {.use_nvlink = false});
  builder.begin_leg(Mover::nic,
                    fmt::format("TCP segments from {} to {}", fabric.name(network.source_nic),
                                fabric.name(network.destination_nic)));
  builder.add_crossing("doorbell over PCIe", out);
  builder.add_part("descriptor fetch", costs.wqe_fetch);
  builder.add_read(out, {.mover = Mover::nic}, "host memory read", costs.memory_access);
  builder.add_part("NICs", nic_pair_time(fabric, costs.network, network));
  builder.add_network(network.links, costs.tcp_mss, costs.tcp_overhead);
  builder.add_links(inner_route(fabric, network.destination_nic, to, {.use_nvlink = false}),
                    {.mover = Mover::nic});
  builder.add_part("host memory write", costs.memory_access);
  builder.path().dram_bytes_per_byte += 2;
}

}  // namespace

PathAnswer tcp_path(const Fabric& fabric, const PathCosts& given, const NetworkRoute& route,
                    const PathQuery& query) {
  PathCosts costs = given;
  if (!given.network.rdma) {  // the stack is TCP itself and says how large its segments are
    costs.tcp_mss = given.network.mtu;
    costs.tcp_overhead = given.network.overhead;
  }
  NetworkCosts ip = costs.network;
  ip.routable = true;  // TCP brings its own IP header
  const NetworkLegs network = find_network(fabric, ip, route, query);
  if (!network.refusal.empty()) return refuse(network.refusal);
  const DeviceId from = host_memory_of(fabric, query.source);
  const DeviceId to = host_memory_of(fabric, query.destination);
  if (!from.valid() || !to.valid()) {
    return refuse("a server without a CPU has no kernel to run TCP");
  }
  const bool from_gpu = fabric.kind(query.source) == DeviceKind::gpu;
  const bool to_gpu = fabric.kind(query.destination) == DeviceKind::gpu;
  PathBuilder builder(fabric, costs, query, Via::tcp);
  builder.path().note = network.note;
  if (from_gpu) add_copy_to_host(builder, fabric, costs, query.source, from);
  add_socket_leg(builder, costs, true);
  add_wire_leg(builder, fabric, costs, network, from, to);
  add_socket_leg(builder, costs, false);
  if (to_gpu) add_copy_from_host(builder, fabric, costs, to, query.destination);
  DataPath& path = builder.path();
  const int copies_launched = (from_gpu ? 1 : 0) + (to_gpu ? 1 : 0);
  path.chunk = copies_launched > 0 ? costs.staging_chunk : costs.segment;
  path.slots = costs.staging_slots;
  path.cpu_s_per_gb +=
      copies_launched * costs.copy_launch.to_seconds() * 1e9 / costs.staging_chunk.to_double();
  return builder.finish();
}

}  // namespace weft::fabric
