// What Routes keeps, and the steps of all policies over it. Private to routing/.
#pragma once

#include <optional>
#include <vector>

#include "routing/routes.h"
#include "routing/switch_graph.h"
#include "routing/table_builder.h"

namespace weft::routing {

struct Routes::Table {
  Table(const fabric::Fabric& fabric, RouteOptions options);

  // Ways out of a device towards a NIC: links, and the links' count to the NIC.
  struct Ways {
    std::vector<fabric::LinkId> links;
    int distance = -1;
  };

  // Leaf group of a NIC, kNoIndex when it is cabled to no switch.
  [[nodiscard]] std::uint32_t group_of(fabric::DeviceId nic) const;
  [[nodiscard]] std::uint64_t hash(fabric::DeviceId device, std::uint64_t entropy,
                                   bool is_nic) const;
  [[nodiscard]] const Entry& entry(std::uint32_t vertex, std::uint32_t group) const {
    return table.entry(vertex, group);
  }
  // The vertex that a link into a switch leads to from `vertex` (kNoIndex: from a NIC).
  [[nodiscard]] std::uint32_t vertex_after(std::uint32_t vertex, fabric::LinkId link) const;

  // Fills `ways` for the first hop of a NIC: its ports nearest to `to`.
  void ways_of_nic(fabric::DeviceId from, fabric::DeviceId to, Ways& ways) const;
  // The links of switch `at` to `to`, in port order of the NIC.
  void links_to_nic(fabric::DeviceId at, fabric::DeviceId to,
                    std::vector<fabric::LinkId>& out) const;
  // Replaces `out` by the next links from a vertex towards a group, those that the policy allows;
  // at an edge switch of the group, the links to `to`.
  void next_links(std::uint32_t vertex, std::uint32_t group, fabric::DeviceId to,
                  std::vector<fabric::LinkId>& out) const;

  // Walks from vertex to NIC `to`, or to an edge switch of its group when `to_switch`; appends the
  // links and returns the last vertex.
  std::uint32_t walk(std::uint32_t vertex, fabric::DeviceId to, bool to_switch,
                     std::uint64_t entropy, std::vector<fabric::LinkId>& out) const;
  // The leaf group that Valiant's detour of a flow passes; nullopt: straight.
  [[nodiscard]] std::optional<std::uint32_t> detour(fabric::DeviceId from, fabric::DeviceId to,
                                                    std::uint64_t entropy) const;

  const fabric::Fabric& fabric;
  RouteOptions options;
  SwitchGraph graph;
  RouteTable table;
};

// The neighbour of router `at` on the way to router `to` by dimension order: the first dimension
// that differs, the shorter way round; half way round, even coordinates go up and odd ones down.
fabric::DeviceId dimension_order_next(const fabric::Grid& grid, fabric::DeviceId at,
                                      fabric::DeviceId to);

}  // namespace weft::routing
