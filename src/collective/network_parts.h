// Which NICs a network joins at all. In rail-only and multi-plane networks switches fall into parts
// that no link joins, and NICs of different parts have no route.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fabric/fabric.h"

namespace weft::collective {

// For each NIC the part that its first network port is cabled into, by number; NICs cabled to each
// other are a part too. Empty when all are of one part.
std::vector<std::uint32_t> network_parts(const fabric::Fabric& fabric,
                                         std::span<const fabric::DeviceId> nics);

}  // namespace weft::collective
