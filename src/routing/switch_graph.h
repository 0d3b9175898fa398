// The part of a Fabric that network routes see: forwarding devices with their neighbours (parallel
// cables merged), and leaf groups, the sets of edge switches that NICs are cabled to.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fabric/fabric.h"

namespace weft::routing {

inline constexpr std::uint32_t kNoIndex = 0xffffffffu;

struct SwitchGraph {
  explicit SwitchGraph(const fabric::Fabric& fabric);

  [[nodiscard]] std::span<const std::uint32_t> neighbours(std::uint32_t s) const {
    return std::span(neighbour).subspan(neighbour_begin[s],
                                        neighbour_begin[s + 1] - neighbour_begin[s]);
  }
  [[nodiscard]] std::span<const std::uint32_t> edge_switches(std::uint32_t group) const {
    return std::span(group_switch)
        .subspan(group_begin[group], group_begin[group + 1] - group_begin[group]);
  }
  [[nodiscard]] std::size_t switch_count() const { return device.size(); }
  [[nodiscard]] std::size_t group_count() const { return group_begin.size() - 1; }

  std::vector<fabric::DeviceId> device;        // of each switch
  std::vector<std::uint32_t> neighbour_begin;  // per switch, into neighbour
  std::vector<std::uint32_t> neighbour;        // switch index, ascending, each once
  // By device: index of a switch, leaf group of a NIC, kNoIndex for the rest. A NIC without a
  // switch has kNoIndex too.
  std::vector<std::uint32_t> index_of_device;
  std::vector<std::uint32_t> group_begin;   // per group, into group_switch
  std::vector<std::uint32_t> group_switch;  // switch index, ascending
  std::vector<fabric::DeviceId> group_nic;  // one NIC of each group
};

// Takes part in forwarding: network switch, gateway, optical circuit switch.
bool forwards(fabric::DeviceKind kind);

}  // namespace weft::routing
