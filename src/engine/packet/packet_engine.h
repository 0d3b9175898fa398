// The packet engine: every packet of every transfer over every link it takes, with queues, marks
// and acknowledgements. Model: docs/models/packet_engine.md.
#pragma once

#include "engine/engine.h"

namespace weft::engine {

const Engine& packet_engine();

}  // namespace weft::engine
