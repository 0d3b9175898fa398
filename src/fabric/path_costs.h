// The constants of the data-path model as plain data. Values, units, sources and confidence live in
// data/constants/path_costs.yaml (loaded by scenario/); the defaults here are the same numbers and
// a test holds the two equal. What single links and switches cost stands in their classes.
#pragma once

#include <string>
#include <string_view>

#include "base/units.h"

namespace weft::fabric {

// What the network protocol adds. Filled by transport/ from the stack's preset.
struct NetworkCosts {
  std::string name = "infiniband";
  Bytes mtu{4096};                                 // payload bytes per packet
  Bytes overhead{26};                              // wire bytes added per packet
  Duration nic_pair = Duration::nanoseconds(600);  // both NICs together, wire and switches excluded
  bool routable = true;                            // false: RoCE v1 stays inside its L2 domain
  bool lossless = true;
  bool rdma = true;  // NICs read and write memory by themselves; false: kernel TCP only

  friend bool operator==(const NetworkCosts&, const NetworkCosts&) = default;
};

struct PathCosts {
  NetworkCosts network;
  // GPU copies
  Duration copy_launch = Duration::microseconds(6);
  double copy_engine_nvlink_efficiency = 0.88;        // of the payload rate, generation 4 and later
  double copy_engine_early_nvlink_efficiency = 0.98;  // generations 1 to 3
  double sm_nvlink_efficiency = 0.824;                // what NCCL gets of it, generations 2 and 4
  double sm_nvlink3_efficiency = 0.85;
  double sm_nvlink5_efficiency = 0.802;  // generation 5 and later
  double copy_engine_pcie_efficiency = 1.0;
  double c2c_read_efficiency = 0.822;   // host to GPU
  double c2c_write_efficiency = 0.656;  // GPU to host
  Duration gpu_memory_access = Duration::nanoseconds(430);
  int pcie_read_tags = 256;
  // staging
  Bytes staging_chunk = Bytes::mib(1);
  int staging_slots = 4;
  double pageable_copy_gb_per_s = 8;  // CPU memcpy per core
  // RDMA verbs
  Duration post_wqe = Duration::nanoseconds(40);
  Duration doorbell = Duration::nanoseconds(40);
  Duration wqe_fetch = Duration::nanoseconds(350);
  Duration completion = Duration::nanoseconds(20);
  Duration registration_base = Duration::microseconds(16);
  double registration_ns_per_byte = 0.06;
  Duration gpu_direct_extra = Duration::nanoseconds(300);  // at each end in GPU memory
  // kernel TCP
  Duration system_call = Duration::nanoseconds(200);
  double socket_copy_ns_per_byte = 0.1;
  Duration segment_cost = Duration::nanoseconds(500);
  Bytes segment = Bytes(64'000);
  Duration driver_per_frame = Duration::nanoseconds(100);
  Duration interrupt = Duration::nanoseconds(1500);
  Duration interrupt_coalescing = Duration::microseconds(8);
  Duration wake_up = Duration::microseconds(2);
  Bytes tcp_mss{8948};
  Bytes tcp_overhead{90};  // wire bytes per segment of tcp_mss
  // host
  Duration memory_access = Duration::nanoseconds(100);
  // What a device adds when it forwards, used where its class states none.
  Duration remote_numa_extra = Duration::nanoseconds(100);  // for each link between sockets
  Duration pcie_switch_forwarding = Duration::nanoseconds(105);
  Duration host_bridge_forwarding = Duration::nanoseconds(200);
  Duration nvswitch_forwarding = Duration::nanoseconds(150);
  Duration infiniband_switch_forwarding = Duration::nanoseconds(130);
  Duration ethernet_switch_forwarding = Duration::nanoseconds(600);
  double intel_peer_split = 5.0 / 6;  // rate left where a host bridge splits peer packets

  friend bool operator==(const PathCosts&, const PathCosts&) = default;
};

// Pinning and registering `size` bytes with the NIC, once per buffer: not part of a path's latency.
Duration registration_time(const PathCosts& costs, Bytes size);

// What one core moves through a socket on one side, while segments stream.
struct SocketRates {
  Duration send_per_segment, receive_per_segment;  // CPU time for PathCosts::segment bytes
};
SocketRates socket_rates(const PathCosts& costs);

// The share of NVLink's payload rate that copy engines, or SMs under NCCL, reach.
double copy_engine_nvlink_efficiency(const PathCosts& costs, int generation);
double sm_nvlink_efficiency(const PathCosts& costs, int generation);

// Reads data/constants/path_costs.yaml (the network part keeps its default): every constant
// exactly once, each with unit, source and confidence. Throws InputError with every fault.
PathCosts read_path_costs(std::string_view text, const std::string& file);

}  // namespace weft::fabric
