// The ways that a sprayed flow's packets take in turn: a set of paths, and an order of them, in
// which every link comes as often as the routes give it a share of the flow's bytes. Paths drawn at
// random would load links unevenly for good: of 64 draws over 8 links one gets 13, not 8. Leaves
// out: what switches learn of queues while the flow runs.
#pragma once

#include <cstdint>
#include <vector>

#include "routing/routes.h"

namespace weft::engine::packet {

using WayLinks = std::vector<fabric::LinkId>;

// At most kMostWays paths between two NICs, one may come more than once. Empty: no route.
inline constexpr std::size_t kMostWays = 64;
std::vector<WayLinks> balanced_ways(const routing::Routes& routes, fabric::DeviceId from,
                                    fabric::DeviceId to, std::uint64_t seed);

}  // namespace weft::engine::packet
