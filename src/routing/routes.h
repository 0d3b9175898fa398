// Routes: shortest paths between network ports (NICs) with ECMP next-hop sets. A table is kept per
// switch and destination *leaf group* (all NICs behind one set of edge switches), with equal sets
// shared, so memory grows with switches x leaves, not with endpoints squared.
// ECMP picks by a hash of the flow's entropy and a per-switch seed (no polarisation unless asked);
// other policies spread a flow's bytes, or choose among the ways by another rule (see Policy).
// NICs, network switches, gateways and circuit switches take part, over network links; NICs do not
// forward. A NIC with several ports uses those nearest to the destination.
// Leaves out: queues (adaptive looks at rates only), routes inside a server (fabric/data_path.h),
// weights for unequal links, and link failures while running. Model: docs/models/routing.md.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/fabric.h"

namespace weft::routing {

// How the bytes of a flow find their way.
//   ecmp             one shortest path, by hash
//   spray            all shortest paths; every device splits equally over its next links
//   adaptive         the same, split by the rates of the next links
//   flowlet          one shortest path, by hash, for each burst of a flow
//   dimension_order  torus and mesh: one shortest path, dimension by dimension
//   up_down          never up again after down (up*/down*), shortest such path by hash; any graph
//   valiant          over every other leaf group in equal parts, sprayed both ways
enum class Policy : std::uint8_t {
  ecmp,
  spray,
  adaptive,
  flowlet,
  dimension_order,
  up_down,
  valiant
};
std::string_view to_text(Policy policy);
std::string_view summary(Policy policy);  // one sentence for `weft list`
std::optional<Policy> parse_policy(std::string_view text);
std::vector<std::string> policy_names();
// Why the policy cannot run on this fabric; empty when it can.
std::string refuse_policy(const fabric::Fabric& fabric, Policy policy);

struct RouteOptions {
  std::uint64_t seed = 1;
  bool same_seed_everywhere = false;  // shows hash polarisation
  Policy policy = Policy::ecmp;
};

// Part of a flow's bytes that a link carries.
struct LinkFraction {
  fabric::LinkId link;
  double fraction = 0;
};

class Routes {
 public:
  // `fabric` must outlive the routes.
  Routes(const fabric::Fabric& fabric, RouteOptions options);
  ~Routes();
  Routes(Routes&&) noexcept;

  [[nodiscard]] Policy policy() const;
  // Whether a flow's bytes take several ways at once: ask spread() instead of path().
  [[nodiscard]] bool spreads() const;
  // Appends the links of one path from NIC to NIC, as the hash of `entropy` picks it; where bytes
  // spread, the path of one packet of them. False when there is none.
  bool path(fabric::DeviceId from_nic, fabric::DeviceId to_nic, std::uint64_t entropy,
            std::vector<fabric::LinkId>& out) const;
  // Appends every link that bytes from NIC to NIC take, each once, with the share of them that it
  // carries. Shares are split device by device; no path is enumerated. False when there is none.
  bool spread(fabric::DeviceId from_nic, fabric::DeviceId to_nic, std::uint64_t entropy,
              std::vector<LinkFraction>& out) const;
  // All equal-cost next links at `device` towards `to_nic`, in port order.
  [[nodiscard]] std::vector<fabric::LinkId> next_hops(fabric::DeviceId device,
                                                      fabric::DeviceId to_nic) const;
  // The same for what came in by link `in`: up_down allows less after a link down.
  [[nodiscard]] std::vector<fabric::LinkId> next_hops_after(fabric::LinkId in,
                                                            fabric::DeviceId to_nic) const;
  [[nodiscard]] int distance(fabric::DeviceId from,
                             fabric::DeviceId to_nic) const;  // links; -1 none
  // One NIC of every leaf group, in group order.
  [[nodiscard]] std::vector<fabric::DeviceId> group_representatives() const;
  [[nodiscard]] std::size_t memory_bytes() const;

  struct Table;  // routes_table.h, for this folder

 private:
  void spread_over_detours(fabric::DeviceId from, fabric::DeviceId to,
                           std::vector<LinkFraction>& out) const;

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
