// The flow engine: every op is fluid that shares links max-min fairly with all others; rates
// change only when an op starts or ends, so events are few and exact. An op waits for its
// dependencies, spends its latency, then moves its bytes. The clock counts whole picoseconds;
// everything that happens at one instant is followed by one solve. Model and limits (no queues, no
// loss, no congestion-control transients): docs/models/flow_engine.md.
#pragma once

#include "engine/engine.h"

namespace weft::engine {

const Engine& flow_engine();  // name "flow"

}  // namespace weft::engine
