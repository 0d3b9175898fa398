// Static check for deadlock of a lossless network: a cyclic buffer dependency over the links that
// routes use. Vertex: a link into a switch, with the buffer at its far end. Edge u -> v: some route
// enters a switch by u and leaves by v, so bytes held in u's buffer wait for room in v's. If the
// graph has a cycle, full buffers can block each other for good. Dally and Seitz, IEEE Trans.
// Computers C-36, 1987. One priority (virtual lane) carries all; leaves out schemes with several.
#pragma once

#include <vector>

#include "fabric/fabric.h"
#include "routing/routes.h"

namespace weft::routing {

// Links of one cycle, each waiting for the next and the last for the first; empty when there is
// none and the network cannot deadlock. Parallel links count as one (the first stands for all).
std::vector<fabric::LinkId> find_buffer_cycle(const fabric::Fabric& fabric, const Routes& routes);

}  // namespace weft::routing
