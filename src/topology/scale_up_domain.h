// A scale-up domain across servers: planes of switch chips that join the GPUs of many servers, as
// in NVL72 (18 servers x 4 GPUs, 18 chips of 72 ports, one NVLink from every GPU to every chip).
// Chips belong to no server. Generators apply it through stamp_servers when Inputs::scale_up is
// set; a hand-drawn cluster calls add_scale_up itself after adding its servers. Leaves out: tiers
// of chips, trunk links between chips. Source: NVIDIA GB200 NVL72 architecture.
#pragma once

#include <string>
#include <vector>

#include "topology/topology.h"

namespace weft::topology {

// Why these servers cannot be joined so, a sentence with the arithmetic each.
std::vector<std::string> refuse_scale_up(const Inputs& inputs, const ScaleUp& scale_up);

// `first_device[i]` is the first device of server i in the builder, whose template is
// inputs.servers[i]. Adds chips "nvl<domain>/nvswitch<chip>". REQUIRES refuse_scale_up() empty.
void add_scale_up(fabric::FabricBuilder& builder, const Inputs& inputs, const ScaleUp& scale_up,
                  const std::vector<fabric::DeviceId>& first_device);

// Servers [first, last) of every domain, in order.
struct DomainRange {
  std::size_t first = 0, last = 0;
};
std::vector<DomainRange> scale_up_domains(const Inputs& inputs, const ScaleUp& scale_up);

}  // namespace weft::topology
