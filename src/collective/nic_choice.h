// Which NICs a GPU uses when it talks for itself (sends, rails, heads of NVLS trees): the nearest
// by path type, spread so that no rail is used twice while another lies idle.
#pragma once

#include <cstdint>
#include <vector>

#include "collective/node_view.h"

namespace weft::collective {

// `each` NICs for every GPU, GPU by GPU; between equals the one that serves fewest so far.
std::vector<std::uint32_t> nearest_nics(const NodeView& view, std::size_t each);

// How many each GPU may use: several only where every NIC serves one GPU from behind its own PCIe
// switches.
std::size_t nics_for_each_gpu(const NodeView& view);

// GB/s of network that the least served GPU has of `nics` (as nearest_nics gives them), NICs that
// serve several shared between them.
double network_of_a_gpu(const NodeView& view, const std::vector<std::uint32_t>& nics);

// Sends can go by PXN: from every GPU one NVLink to any other, each of which has NICs of its own.
bool can_relay(const NodeView& view, const std::vector<std::uint32_t>& nics);

// Every NIC's port is on a switch that reduces in the network.
bool network_reduces(const fabric::Fabric& fabric, const std::vector<fabric::DeviceId>& nics);

}  // namespace weft::collective
