// Static check for deadlock of a lossless network: a cyclic buffer dependency over the links that
// routes use. Vertex: a link into a switch, with the buffer at its far end. Edge u -> v: some route
// enters a switch by u and leaves by v, so bytes held in u's buffer wait for room in v's. If the
// graph has a cycle, full buffers can block each other for good. Dally and Seitz, IEEE Trans.
// Computers C-36, 1987. With several virtual channels a vertex is a link and a channel. Valiant's
// detours are checked as shortest routes; leaves out bubble flow control and escape channels.
#pragma once

#include <cstdint>
#include <vector>

#include "fabric/fabric.h"
#include "routing/routes.h"

namespace weft::routing {

// Which virtual channel of a link a route uses.
//   one       all use the same
//   dateline  two: 1 from the link of a ring that closes it (from the last to the first node or
//             back) until the dimension is done, else 0; torus and mesh only
//   by_hop    one for each link of the longest route: the n-th link of a route uses the n-th
enum class Channels : std::uint8_t { one, dateline, by_hop };

// Links of one cycle, each waiting for the next and the last for the first; empty when there is
// none and the network cannot deadlock. Parallel links count as one (the first stands for all).
std::vector<fabric::LinkId> find_buffer_cycle(const fabric::Fabric& fabric, const Routes& routes,
                                              Channels channels = Channels::one);

}  // namespace weft::routing
