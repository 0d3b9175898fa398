// The part of a Fabric that network routes see: forwarding devices with their neighbours (parallel
// cables merged), and leaf groups, the sets of edge switches that NICs are cabled to. With
// `up_down` every switch is two vertices, s while a route may still go up and s + n after it went
// down; links up keep the first, links down lead to the second. Up is towards the switches of the
// highest tier (or, where all are of one, towards the first switch). Autonet: Schroeder et al.,
// 1990.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fabric/fabric.h"

namespace weft::routing {

inline constexpr std::uint32_t kNoIndex = 0xffffffffu;

struct SwitchGraph {
  explicit SwitchGraph(const fabric::Fabric& fabric, bool up_down = false);

  [[nodiscard]] std::span<const std::uint32_t> neighbours(std::uint32_t s) const {
    return std::span(neighbour).subspan(neighbour_begin[s],
                                        neighbour_begin[s + 1] - neighbour_begin[s]);
  }
  // Vertices with `v` among their neighbours.
  [[nodiscard]] std::span<const std::uint32_t> before(std::uint32_t v) const {
    if (layers == 1) return neighbours(v);  // cables go both ways
    return std::span(before_vertex).subspan(before_begin[v], before_begin[v + 1] - before_begin[v]);
  }
  // Where a link from vertex `v` to the switch with index `n` leads; kNoIndex when it may not be
  // taken.
  [[nodiscard]] std::uint32_t next_vertex(std::uint32_t v, std::uint32_t n) const;
  [[nodiscard]] bool is_up(std::uint32_t from, std::uint32_t to) const {
    return level[to] < level[from] || (level[to] == level[from] && to < from);
  }
  [[nodiscard]] std::span<const std::uint32_t> edge_switches(std::uint32_t group) const {
    return std::span(group_switch)
        .subspan(group_begin[group], group_begin[group + 1] - group_begin[group]);
  }
  [[nodiscard]] std::size_t vertex_count() const { return device.size(); }
  [[nodiscard]] std::size_t switch_count() const { return device.size() / layers; }
  [[nodiscard]] std::size_t group_count() const { return group_begin.size() - 1; }

  std::size_t layers = 1;
  std::vector<fabric::DeviceId> device;                    // of each vertex
  std::vector<std::uint32_t> neighbour_begin;              // per vertex, into neighbour
  std::vector<std::uint32_t> neighbour;                    // vertices, ascending, each once
  std::vector<std::uint32_t> before_begin, before_vertex;  // the reverse; layers > 1 only
  std::vector<std::uint32_t> level;  // links from the nearest root, per switch; up_down only
  // By device: index of a switch, leaf group of a NIC, kNoIndex for the rest. A NIC without a
  // switch has kNoIndex too.
  std::vector<std::uint32_t> index_of_device;
  std::vector<std::uint32_t> group_begin;   // per group, into group_switch
  std::vector<std::uint32_t> group_switch;  // switch index, ascending
  std::vector<fabric::DeviceId> group_nic;  // one NIC of each group

 private:
  void find_levels(const fabric::Fabric& fabric);
  void add_down_layer();
};

// Takes part in forwarding: network switch, gateway, optical circuit switch.
bool forwards(fabric::DeviceKind kind);

}  // namespace weft::routing
