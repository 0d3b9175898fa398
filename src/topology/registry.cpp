#include <array>

#include "topology/topology.h"

namespace weft::topology {

#define X(name) const Topology& name();
#include "topology/list.def"
#undef X

std::span<const Topology* const> all_topologies() {
#define X(name) &name(),
  static const std::array kRows = {
#include "topology/list.def"
  };
#undef X
  return kRows;
}

const Topology* find_topology(std::string_view name) {
  for (const Topology* const row : all_topologies()) {
    if (row->name() == name) return row;
  }
  return nullptr;
}

}  // namespace weft::topology
