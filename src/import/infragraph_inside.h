// The inside of one InfraGraph device that computes, as a server.
// Model: CPUs, PCIe switches and slots, xpus and NICs as the edges join them, outward from the
// CPUs; parts that no CPU reaches hang together under a switch at a CPU. Edges of xpus to each
// other and to NVLink switches are scale-up links. What the file leaves out is filled in as for
// other dumps. Leaves out: memory and management parts.
#pragma once

#include <memory>
#include <vector>

#include "fabric/fabric.h"
#include "import/importer.h"
#include "import/infragraph_model.h"

namespace weft::import {

// What a device is to a network.
enum class InfraRole { host, network_switch };
InfraRole role_of(const InfraGraph& graph, const InfraDevice& device);
// Components that are NICs: of choice nic, or devices with ports or NICs and without an xpu.
bool is_nic(const InfraGraph& graph, const InfraComponent& component);
// The nodes that are NICs, in order.
std::vector<std::size_t> nics_of(const InfraGraph& graph, const InfraDevice& device);

// REQUIRES role host. `rates`: of each NIC of nics_of().
std::shared_ptr<const fabric::Fabric> build_inside(const InfraGraph& graph,
                                                   const InfraDevice& device,
                                                   const std::vector<BitRate>& rates,
                                                   const ImportInputs& inputs);

}  // namespace weft::import
