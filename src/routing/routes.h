// Routes: shortest paths between network ports (NICs) with ECMP next-hop sets. A table is kept per
// switch and destination *leaf group* (all NICs behind one set of edge switches), with equal sets
// shared, so memory grows with switches x leaves, not with endpoints squared.
// ECMP picks by a hash of the flow's entropy and a per-switch seed (no polarisation unless asked).
// Leaves out: routes inside a server (fabric/data_path.h) and link failures while running.
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
  [[nodiscard]] std::size_t memory_bytes() const;

 private:
  struct Table;
  std::unique_ptr<Table> table_;
};

}  // namespace weft::routing
