// One of several equal Clos planes: how many tiers it takes, and its smallest legal build, from the
// parameters that rail_only, multi_plane, dual_tor and the sites of scale_across share (tiers,
// oversubscription, oversubscription_2, pods, radix; those a table lacks have their defaults).
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "topology/clos.h"

namespace weft::topology {

struct PlaneSize {
  std::int64_t ports = 0;                  // host links of the fullest plane
  std::optional<std::int64_t> leaf_hosts;  // host links of a full leaf; none: as many as fit
  std::int64_t leaf_step = 1;              // host links of a leaf come in multiples of this
  std::int64_t leaf_group = 1;             // leaves that stay in one pod
  std::int64_t group_hosts = 0;  // hosts that a group of leaves takes; 0: leaf_group x leaf_hosts
  int most_tiers = 3;
  std::int64_t reserved = 0;  // ports of a top switch that do not go down
};

// Fills `tiers` of the plan. Tier 1 alone when one switch takes all ports and nothing asks for
// more.
ClosAnswer plan_plane(const Inputs& inputs, std::span<const Parameter> table,
                      const PlaneSize& size);

// Tiers, oversubscription of tiers 1 and 2, pods, radix: rows of the tables of planes.
Parameter plane_tiers_parameter();
Parameter plane_pods_parameter();

}  // namespace weft::topology
