// Folded Clos networks of 1 to 4 tiers with whole, equal bundles: the plan that single_switch,
// leaf_spine, fat_tree, three_tier and rail share. A block of tier t is a set of switches of tier t
// and the blocks of tier t - 1 below them; a leaf is a block of tier 1. Every top switch of a block
// has the same number of `parents`, with the same number of parallel cables (`bundle`) to each.
// Top switch j of every block meets the same group of parents (planes), or, with `mesh`, all of
// them. A plan may stand for several equal networks side by side that nothing joins (planes).
// Rule for the smallest legal build: fewest blocks, then, tier by tier from the leaf up,
// fewest parents such that equal bundles fit their ports and at least the bandwidth asked for goes
// up, then fewest cables. Reproduces the published DGX SuperPOD switch counts. Leaves out: bundles
// that differ by one cable, unequal ECMP weights.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "topology/ports.h"
#include "topology/topology.h"

namespace weft::topology {

struct ClosTier {
  std::int64_t blocks = 1;    // of this tier in the whole network
  std::int64_t width = 1;     // switches of this tier in a block
  std::int64_t children = 0;  // blocks of the tier below in a full block; tier 1: host links
  std::int64_t parents = 0;   // switches of the tier above that each switch is cabled to; top: 0
  std::int64_t bundle = 0;    // parallel cables to each parent
  bool mesh = false;          // parents are shared by all switches of the block
  [[nodiscard]] std::int64_t up() const { return parents * bundle; }
  [[nodiscard]] std::int64_t switches() const { return blocks * width; }
};

struct ClosPlan {
  std::vector<ClosTier> tiers;               // leaf first
  std::vector<std::uint32_t> leaf_of_port;   // by HostPorts order; within its plane
  std::int64_t planes = 1;                   // equal networks that no link joins
  std::vector<std::uint32_t> plane_of_port;  // empty: all in the only plane
  std::string plane_word = "plane";          // names: "plane0/leaf3"
  std::vector<std::string> leaf_names;       // empty: tier word and number; the pod comes in front
  // Names of the switches of each tier, leaf first.
  std::vector<std::string> tier_words = {"leaf", "spine", "core", "top"};
  [[nodiscard]] std::int64_t leaves() const { return tiers.front().blocks; }  // of a plane
  [[nodiscard]] std::size_t plane_of(std::size_t port) const {
    return plane_of_port.empty() ? 0 : plane_of_port[port];
  }
};

// Switches of all planes as built: [plane][tier][block * width + position].
using ClosSwitches = std::vector<std::vector<std::vector<fabric::DeviceId>>>;

struct ClosRequest {
  int tiers = 2;                  // 2 to 4
  std::int64_t leaves = 0;        // all of them
  std::int64_t leaf_hosts = 0;    // host links of a full leaf
  std::int64_t leaf_group = 1;    // leaves that must stay in one pod, where a pod holds that many
  std::int64_t top_children = 2;  // at least so many blocks under the top tier
  double host_per_fabric = 1;     // rate of a host link / rate of a fabric link
  std::vector<double> oversubscription;  // tier 1 first; one per tier below the top
  std::vector<std::int64_t> radix;       // tier 1 first
};

struct ClosAnswer {
  ClosPlan plan;                      // without leaf_of_port
  std::vector<std::string> refusals;  // when not empty, there is no plan
};

// Most links down, and the links up they need, that fit `radix` at `oversubscription`; `rate` is
// the rate of a link down over that of a link up.
std::int64_t most_down(std::int64_t radix, double oversubscription, double rate);
std::int64_t needed_up(std::int64_t down, double oversubscription, double rate);

// Most leaves that `request.tiers` tiers can join.
std::int64_t most_leaves(const ClosRequest& request);
ClosAnswer plan_clos(const ClosRequest& request);

// The ports of all servers in order, `per_leaf` to a leaf.
std::vector<std::uint32_t> fill_leaves(std::int64_t ports, std::int64_t per_leaf);

// Host links that each leaf of one plane has.
std::vector<std::int64_t> hosts_per_leaf(const ClosPlan& plan, std::size_t plane);
// Rate of a host link over that of a fabric link.
double host_per_fabric(const Inputs& inputs);

// What the blocks of tier `tier` (0: leaves) of a plane can send up, in host links: a block is
// limited by its hosts and, tier by tier up to its own, by its cables up; equal bundles spread
// evenly, so nothing else limits it.
std::vector<double> block_capacity(const ClosPlan& plan, std::size_t plane, std::size_t tier,
                                   double host_per_fabric);

// A topology that is a Clos network: rows derive from it and only plan.
class ClosTopology : public Topology {
 public:
  [[nodiscard]] std::vector<std::string> refuse(const Inputs& inputs) const override;
  [[nodiscard]] fabric::Fabric build(const Inputs& inputs) const override;
  [[nodiscard]] ClosedForm closed_form(const Inputs& inputs) const override;

 protected:
  // Called with inputs that check_inputs found no fault in.
  [[nodiscard]] virtual ClosAnswer plan(const Inputs& inputs, const HostPorts& ports) const = 0;
  // What joins the planes, for networks where something does.
  virtual void join_planes(fabric::FabricBuilder& /*builder*/, const Inputs& /*inputs*/,
                           const ClosPlan& /*plan*/, const ClosSwitches& /*switches*/) const {}
};

}  // namespace weft::topology
