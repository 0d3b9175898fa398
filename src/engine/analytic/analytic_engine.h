// The analytic engine: the latency-bandwidth model per op and the critical path over ops. An op
// takes latency + the longest time one link (or a cap) needs for the op's bytes; ops never share.
// Exact where nothing is shared, a lower bound elsewhere. Same Setup and Result as every engine.
// Model and limits: docs/models/analytic_engine.md. Source: R. Hockney, The communication
// challenge for MPP, Parallel Computing 20 (1994).
#pragma once

#include "engine/engine.h"

namespace weft::engine {

const Engine& analytic_engine();  // name "analytic"

}  // namespace weft::engine
