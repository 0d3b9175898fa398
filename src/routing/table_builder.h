// Fills the table of Routes: for 32 leaf groups at a time one breadth-first search carries a bit
// per group, and the switches' next-hop sets fall out of the bits of their neighbours
// ("multi-source BFS", Then et al., VLDB 2014). Equal sets of one switch become one entry; a run of
// 32 groups with one entry takes one cell, other runs point to 32 entries.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fabric/fabric.h"
#include "routing/switch_graph.h"

namespace weft::routing {

inline constexpr std::uint32_t kLanes = 32;

// Next links of one switch towards some leaf groups. `distance` counts links to the NIC.
struct Entry {
  std::uint32_t hop_begin = 0;
  std::uint32_t hop_count = 0;
  std::uint32_t distance = 0;  // 0: no route
};
inline constexpr std::uint32_t kNoRoute = 0;   // entries that all switches share
inline constexpr std::uint32_t kAttached = 1;  // the NIC is cabled to this switch: ask its links

struct RouteTable {
  [[nodiscard]] const Entry& entry(std::uint32_t s, std::uint32_t group) const {
    const std::uint32_t cell = cells[s * runs + group / kLanes];
    if ((cell & kMixed) == 0) return entries[cell];
    return entries[mixed[(cell & ~kMixed) * std::size_t{kLanes} + group % kLanes]];
  }
  [[nodiscard]] std::span<const fabric::LinkId> hops(const Entry& e) const {
    return std::span(hop_links).subspan(e.hop_begin, e.hop_count);
  }
  [[nodiscard]] std::size_t memory_bytes() const;

  static constexpr std::uint32_t kMixed = 0x80000000u;
  std::size_t runs = 0;              // of 32 groups each
  std::vector<std::uint32_t> cells;  // [vertex * runs + run]: entry, or kMixed | block of `mixed`
  std::vector<std::uint32_t> mixed;  // blocks of 32 entries
  std::vector<Entry> entries;
  std::vector<fabric::LinkId> hop_links;  // in port order within a set
};

RouteTable build_table(const fabric::Fabric& fabric, const SwitchGraph& graph);

}  // namespace weft::routing
