// What distance adds to a collective: the latency of NCCL's model knows adapters and switches of
// one machine hall, no wide-area links. The algorithm's exact steps are run once with every step
// taking only the time that wide-area links on its way take; the last arrival is the longest chain
// of dependent crossings. Leaves out: that a sender's window (NCCL's buffers, a transport's
// credits) may be smaller than rate x round trip, which lowers the rate.
#pragma once

#include "collective/collective.h"
#include "routing/routes.h"

namespace weft::engine {

// True when some link class of the fabric is wide-area; without one there is nothing to ask.
bool has_wide_area(const fabric::Fabric& fabric);

Duration wide_area_delay(const fabric::Fabric& fabric, const routing::Routes& routes,
                         const collective::Algorithm& algorithm, const collective::Request& request,
                         const collective::ChannelPlan& plan);

}  // namespace weft::engine
