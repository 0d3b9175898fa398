// The tree of switches over which a network reduces (SHARP): joins the first switches of all
// members, rooted where the farthest of them is nearest. Each link carries one copy up and one
// down, however many members are below it. Leaves out: what a subnet manager that plans trees for
// several jobs would choose; limits on trees a switch can hold.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "fabric/fabric.h"

namespace weft::engine {

// Links towards the root, each once, none when all members share a switch; nullopt when switches
// that reduce do not join them. `which` spreads trees over roots and links that are equally good.
std::optional<std::vector<fabric::LinkId>> reduction_tree(const fabric::Fabric& fabric,
                                                          std::vector<fabric::DeviceId> leaves,
                                                          std::uint32_t which);

}  // namespace weft::engine
