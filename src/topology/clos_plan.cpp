#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "topology/clos.h"

namespace weft::topology {

namespace {

constexpr double kRounding = 1e-9;  // so that 48 / 3 links up is 16, not 17

std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

double rate_at(const ClosRequest& request, int tier) {
  return tier == 1 ? request.host_per_fabric : 1.0;
}

std::int64_t radix_at(const ClosRequest& request, int tier) {
  return request.radix[static_cast<std::size_t>(tier - 1)];
}

double oversubscription_at(const ClosRequest& request, int tier) {
  return request.oversubscription[static_cast<std::size_t>(tier - 1)];
}

// Links down that a switch of `tier` may use.
std::int64_t down_limit(const ClosRequest& request, int tier) {
  if (tier == request.tiers) return radix_at(request, tier);
  return most_down(radix_at(request, tier), oversubscription_at(request, tier), 1.0);
}

// Leaves that a full block of `tier` holds, in whole groups where one fits.
std::int64_t leaves_per_block(const ClosRequest& request, int tier) {
  std::int64_t leaves = 1;
  for (int t = 2; t <= tier; ++t) {
    leaves *= down_limit(request, t);
    if (leaves > request.leaf_group) leaves -= leaves % request.leaf_group;
  }
  return leaves;
}

// Blocks of each tier and the children of a full one: from the top down as few as hold the leaves,
// then as even as groups allow. Fills blocks and children.
std::vector<ClosTier> spread_leaves(const ClosRequest& request) {
  std::vector<ClosTier> tiers(static_cast<std::size_t>(request.tiers));
  std::int64_t leaves = request.leaves;
  for (int tier = request.tiers; tier >= 2; --tier) {
    const std::int64_t limit = leaves_per_block(request, tier - 1);
    std::int64_t blocks = ceil_div(leaves, limit);
    if (tier == request.tiers) blocks = std::max(blocks, request.top_children);
    std::int64_t below = ceil_div(leaves, blocks);
    if (tier > 2 && limit % request.leaf_group == 0) {
      below = ceil_div(below, request.leaf_group) * request.leaf_group;
    }
    tiers[static_cast<std::size_t>(tier - 1)].children = ceil_div(leaves, below);
    leaves = below;
  }
  tiers[0].children = request.leaf_hosts;
  tiers[0].blocks = request.leaves;
  for (std::size_t t = 1; t + 1 < tiers.size(); ++t) {
    tiers[t].blocks = ceil_div(tiers[t - 1].blocks, tiers[t].children);
  }
  tiers.back().children = tiers[tiers.size() - 2].blocks;
  return tiers;
}

std::string refuse_spread(const ClosRequest& request, const std::vector<ClosTier>& tiers) {
  std::int64_t leaves = 1;
  for (std::size_t t = 1; t + 1 < tiers.size(); ++t) leaves *= tiers[t].children;
  return fmt::format(
      "{} leaves in equal parts of {} make {} parts under the top tier, {} are asked",
      request.leaves, leaves, tiers.back().children, request.top_children);
}

// Fewest parents, then fewest cables. `down` links are used below; `children` blocks share a
// parent.
bool choose_parents(const ClosRequest& request, int tier, std::int64_t down, std::int64_t children,
                    ClosTier& out) {
  const std::int64_t need =
      needed_up(down, oversubscription_at(request, tier), rate_at(request, tier));
  const std::int64_t room = radix_at(request, tier) - down;
  const std::int64_t limit = down_limit(request, tier + 1);
  for (std::int64_t parents = 1; parents <= room; ++parents) {
    const std::int64_t bundle = ceil_div(need, parents);
    if (parents * bundle > room || children * bundle > limit) continue;
    out.parents = parents;
    out.bundle = bundle;
    return true;
  }
  return false;
}

std::vector<std::string> refuse_request(const ClosRequest& request) {
  std::vector<std::string> faults;
  for (int tier = 1; tier <= request.tiers; ++tier) {
    if (radix_at(request, tier) >= 2) continue;
    faults.push_back(fmt::format(
        "the switch of tier {} has no known number of ports; give its model one, or radix", tier));
  }
  if (!faults.empty()) return faults;
  const double ratio = oversubscription_at(request, 1);
  const std::int64_t up = needed_up(request.leaf_hosts, ratio, request.host_per_fabric);
  if (request.leaf_hosts < 1 || request.leaf_hosts + up > radix_at(request, 1)) {
    const std::int64_t shown = std::max<std::int64_t>(request.leaf_hosts, 1);
    const std::int64_t shown_up = needed_up(shown, ratio, request.host_per_fabric);
    faults.push_back(
        fmt::format("a leaf with {} host links at oversubscription {} needs {} + {} = {} ports, "
                    "its radix is {}",
                    shown, ratio, shown, shown_up, shown + shown_up, radix_at(request, 1)));
    return faults;
  }
  if (request.leaves < request.top_children) {
    faults.push_back(fmt::format(
        "{} tiers need at least {} leaves, the hosts fill {} of {} host links; use fewer tiers",
        request.tiers, request.top_children, request.leaves, request.leaf_hosts));
  }
  if (request.top_children > down_limit(request, request.tiers)) {
    faults.push_back(fmt::format(
        "{} parts under the top tier need a link each on every top switch, its radix is {}",
        request.top_children, down_limit(request, request.tiers)));
  }
  const std::int64_t most = most_leaves(request);
  if (request.leaves > most) {
    faults.push_back(fmt::format(
        "{} leaves are needed and {} tiers of these switches join at most {} ({} host links)",
        request.leaves, request.tiers, most, most * request.leaf_hosts));
  }
  return faults;
}

}  // namespace

std::int64_t needed_up(std::int64_t down, double oversubscription, double rate) {
  const double up = static_cast<double>(down) * rate / oversubscription;
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(up - kRounding)));
}

std::int64_t most_down(std::int64_t radix, double oversubscription, double rate) {
  // down + down * rate / oversubscription <= radix, then whole links up.
  const double share = 1.0 + rate / oversubscription;
  auto down = static_cast<std::int64_t>(static_cast<double>(radix) / share + kRounding);
  down = std::min(down, radix - 1);
  while (down > 0 && down + needed_up(down, oversubscription, rate) > radix) --down;
  return down;
}

std::int64_t most_leaves(const ClosRequest& request) {
  return leaves_per_block(request, request.tiers - 1) * down_limit(request, request.tiers);
}

ClosAnswer plan_clos(const ClosRequest& request) {
  CHECK(request.tiers >= 2 && request.tiers <= 4);
  CHECK(request.oversubscription.size() + 1 >= static_cast<std::size_t>(request.tiers));
  ClosAnswer answer;
  answer.refusals = refuse_request(request);
  if (!answer.refusals.empty()) return answer;

  auto& tiers = answer.plan.tiers;
  tiers = spread_leaves(request);
  if (tiers.back().children < request.top_children) {
    answer.refusals.push_back(refuse_spread(request, tiers));
    return answer;
  }
  std::int64_t down = request.leaf_hosts;
  for (int tier = 1; tier < request.tiers; ++tier) {
    ClosTier& here = tiers[static_cast<std::size_t>(tier - 1)];
    ClosTier& above = tiers[static_cast<std::size_t>(tier)];
    // Always possible: one cable to each of the needed parents fits, by down_limit and
    // spread_leaves.
    CHECK(choose_parents(request, tier, down, above.children, here));
    above.width = here.width * here.parents;
    down = above.children * here.bundle;
  }
  return answer;
}

std::vector<std::uint32_t> fill_leaves(std::int64_t ports, std::int64_t per_leaf) {
  std::vector<std::uint32_t> leaf_of_port(static_cast<std::size_t>(ports));
  for (std::size_t i = 0; i < leaf_of_port.size(); ++i) {
    leaf_of_port[i] = static_cast<std::uint32_t>(i / static_cast<std::size_t>(per_leaf));
  }
  return leaf_of_port;
}

}  // namespace weft::topology
