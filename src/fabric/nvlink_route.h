// Chains of NVLinks (or xGMI links) between two GPUs, through NVSwitches of any number of tiers and
// across servers, never through a GPU. Traffic between two GPUs is spread over all of them.
#pragma once

#include <vector>

#include "fabric/fabric.h"

namespace weft::fabric {

struct NvlinkChain {
  std::vector<LinkId> links;
  double share = 1;  // of the traffic, by the rate of the first link; shares add up to 1
};

// Every first link on a shortest chain, each continued by one chain; empty when none.
std::vector<NvlinkChain> nvlink_chains(const Fabric& fabric, DeviceId from, DeviceId to);

}  // namespace weft::fabric
