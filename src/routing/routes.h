// Routes: shortest paths between network ports (NICs) with ECMP next-hop sets. A table is kept per
// switch and destination *leaf group* (all NICs behind one set of edge switches), with equal sets
// shared, so memory grows with switches x leaves, not with endpoints squared.
// ECMP picks by a hash of the flow's entropy and a per-switch seed (no polarisation unless asked).
// NICs, network switches, gateways and circuit switches take part, over network links; NICs do not
// forward. A NIC with several ports uses those nearest to the destination.
// Leaves out: routes inside a server (fabric/data_path.h), weights for unequal links, and link
// failures while running. Model: docs/models/routing.md.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "fabric/fabric.h"

namespace weft::routing {

struct RouteOptions {
  std::uint64_t seed = 1;
  bool same_seed_everywhere = false;  // shows hash polarisation
};

class Routes {
 public:
  // `fabric` must outlive the routes.
  Routes(const fabric::Fabric& fabric, RouteOptions options);
  ~Routes();
  Routes(Routes&&) noexcept;

  // Appends the links of one path from NIC to NIC, as the hash of `entropy` picks it.
  // False when there is none.
  bool path(fabric::DeviceId from_nic, fabric::DeviceId to_nic, std::uint64_t entropy,
            std::vector<fabric::LinkId>& out) const;
  // All equal-cost next links at `device` towards `to_nic`, in port order.
  [[nodiscard]] std::vector<fabric::LinkId> next_hops(fabric::DeviceId device,
                                                      fabric::DeviceId to_nic) const;
  [[nodiscard]] int distance(fabric::DeviceId from,
                             fabric::DeviceId to_nic) const;  // links; -1 none
  // One NIC of every leaf group, in group order.
  [[nodiscard]] std::vector<fabric::DeviceId> group_representatives() const;
  [[nodiscard]] std::size_t memory_bytes() const;

 private:
  struct Table;
  std::unique_ptr<Table> table_;
};

// What ECMP hashes: a RoCEv2 five-tuple (source and destination address, UDP, source port, port
// 4791). Each NIC has one address; the source port follows from the queue pair numbers as Linux
// derives it (rdma_calc_flow_label and rdma_flow_label_to_udp_sport in include/rdma/ib_verbs.h),
// and the numbers from (from, to, queue_pair), so that queue pairs of one connection differ.
std::uint64_t entropy_of(fabric::DeviceId from_nic, fabric::DeviceId to_nic,
                         std::uint32_t queue_pair);
// The UDP source port of that queue pair, 49152 to 65535.
std::uint16_t udp_source_port(fabric::DeviceId from_nic, fabric::DeviceId to_nic,
                              std::uint32_t queue_pair);

}  // namespace weft::routing
