#include "topology/plane_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "topology/parameters.h"

namespace weft::topology {

namespace {

bool has_row(std::span<const Parameter> table, std::string_view name) {
  return std::any_of(table.begin(), table.end(),
                     [&](const Parameter& row) { return row.name == name; });
}

double value_or(const Inputs& inputs, std::span<const Parameter> table, std::string_view name,
                double otherwise) {
  if (!has_row(table, name)) return otherwise;
  const double number = value(inputs, table, name);
  return std::isnan(number) ? otherwise : number;
}

std::int64_t leaf_hosts_of(const Inputs& inputs, const PlaneSize& size, double oversubscription) {
  if (size.leaf_hosts) return *size.leaf_hosts;
  const std::int64_t most =
      most_down(tier_class(inputs, 1).radix, oversubscription, host_per_fabric(inputs));
  return most - most % size.leaf_step;
}

ClosRequest request_of(const Inputs& inputs, std::span<const Parameter> table,
                       const PlaneSize& size, int tiers) {
  ClosRequest request;
  request.tiers = tiers;
  for (const char* const name : {"oversubscription", "oversubscription_2", "oversubscription_3"}) {
    request.oversubscription.push_back(value_or(inputs, table, name, 1));
  }
  for (int tier = 1; tier <= tiers; ++tier) request.radix.push_back(tier_class(inputs, tier).radix);
  request.radix.back() -= size.reserved;
  request.host_per_fabric = host_per_fabric(inputs);
  request.leaf_hosts = leaf_hosts_of(inputs, size, request.oversubscription[0]);
  request.leaf_group = size.leaf_group;
  if (request.leaf_hosts >= 1) {
    const std::int64_t group =
        size.group_hosts > 0 ? size.group_hosts : size.leaf_group * request.leaf_hosts;
    request.leaves = (size.ports + group - 1) / group * size.leaf_group;
  }
  request.top_children =
      tiers > 2 ? static_cast<std::int64_t>(value_or(inputs, table, "pods", 2)) : 1;
  return request;
}

}  // namespace

ClosAnswer plan_plane(const Inputs& inputs, std::span<const Parameter> table,
                      const PlaneSize& size) {
  auto tiers = static_cast<int>(value_or(inputs, table, "tiers", 0));
  const int radix = tier_class(inputs, 1).radix;
  const bool one_switch =
      size.leaf_group == 1 && !size.leaf_hosts && size.ports + size.reserved <= radix;
  ClosAnswer answer;
  if (tiers == 1 || (tiers == 0 && one_switch)) {
    answer.plan.tiers.push_back({.blocks = 1, .children = size.ports});
    if (size.ports > radix) {
      answer.refusals.push_back(fmt::format(
          "{} NIC ports of one plane need more than one tier: radix is {}", size.ports, radix));
    }
    return answer;
  }
  if (tiers == 0) {
    tiers = 2;
    while (tiers < size.most_tiers && radix >= 2) {
      const ClosRequest asked = request_of(inputs, table, size, tiers);
      if (asked.leaf_hosts < 1 || asked.leaves <= most_leaves(asked)) break;
      ++tiers;
    }
  }
  return plan_clos(request_of(inputs, table, size, tiers));
}

Parameter plane_tiers_parameter() {
  return {.name = "tiers",
          .unit = "",
          .default_value = 0,
          .min = 0,
          .max = 3,
          .meaning = "tiers of switches, 1 to 3; 0: the fewest that hold the servers",
          .whole = true};
}

Parameter plane_pods_parameter() {
  return {.name = "pods",
          .unit = "",
          .default_value = kDerived,
          .min = 2,
          .max = 65536,
          .meaning = "parts under the top tier (3 tiers); default: the fewest, at least 2",
          .whole = true};
}

}  // namespace weft::topology
