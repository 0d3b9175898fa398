// The constants of the data-path model as plain data. Values, units, sources and confidence live in
// data/constants/path_costs.yaml (loaded by scenario/); the defaults here are the same numbers and
// a test holds the two equal.
#pragma once

#include <string>

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
};

struct PathCosts {
  NetworkCosts network;
  // GPU copies
  Duration copy_launch = Duration::microseconds(6);
  double copy_engine_nvlink_efficiency = 0.88;  // of the link's payload rate
  double sm_nvlink_efficiency = 0.824;          // NCCL effective / payload rate, gen 4
  double copy_engine_pcie_efficiency = 1.0;
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
  Duration gpu_direct_extra = Duration::nanoseconds(400);
  // kernel TCP
  Duration system_call = Duration::nanoseconds(200);
  double socket_copy_ns_per_byte = 0.2;
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
  Duration remote_numa_extra = Duration::nanoseconds(100);
};

}  // namespace weft::fabric
