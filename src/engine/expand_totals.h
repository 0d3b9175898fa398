// What the edges of one collective add up to, link by link: the Expander's scratch.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/expand.h"

namespace weft::engine {

// Sums over the edges of one collective, a column entry per link of the fabric; only the links
// touched are read and cleared.
struct Expander::LinkTotals {
  explicit LinkTotals(std::size_t links) : spent(links), wire(links), connections(links) {}
  void add(fabric::LinkId link, double spent_bytes, double wire_bytes) {
    const std::size_t i = link.index();
    if (connections[i]++ == 0) touched.push_back(link);
    spent[i] += spent_bytes;
    wire[i] += wire_bytes;
  }
  std::vector<double> spent, wire;
  std::vector<std::uint32_t> connections;
  std::vector<fabric::LinkId> touched;
};

}  // namespace weft::engine
