#include "topology/clos.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "topology/parameters.h"

namespace weft::topology {

namespace {

using fabric::DeviceId;

// "zone1/pod3/" in front of switches that belong to a block below the top.
std::string block_prefix(const ClosPlan& plan, std::size_t tier, std::int64_t block) {
  std::string prefix;
  const std::size_t top = plan.tiers.size() - 1;
  for (std::size_t t = std::max<std::size_t>(tier, 1); t < top; ++t) {
    std::int64_t at = block;
    for (std::size_t s = tier + 1; s <= t; ++s) at /= plan.tiers[s].children;
    prefix = fmt::format("{}{}/", t == 1 ? "pod" : "zone", at) + prefix;
  }
  return prefix;
}

std::string switch_name(const ClosPlan& plan, std::size_t tier, std::int64_t block,
                        std::int64_t at) {
  const std::string prefix = block_prefix(plan, tier, block);
  if (tier == 0 && !plan.leaf_names.empty()) {
    return prefix + plan.leaf_names[static_cast<std::size_t>(block)];
  }
  if (plan.tiers.size() == 1) return fmt::format("switch{}", at);
  return fmt::format("{}{}{}", prefix, plan.tier_words[tier], at);
}

// Switches of all tiers of a plane, [tier][block * width + position].
std::vector<std::vector<DeviceId>> add_switches(fabric::FabricBuilder& builder,
                                                const Inputs& inputs, const ClosPlan& plan,
                                                std::int64_t plane) {
  const std::string prefix =
      plan.planes == 1 ? std::string() : fmt::format("{}{}/", plan.plane_word, plane);
  std::vector<std::vector<DeviceId>> switches(plan.tiers.size());
  for (std::size_t t = 0; t < plan.tiers.size(); ++t) {
    const int tier_number = static_cast<int>(t) + 1;
    const fabric::DeviceClassId id = builder.device_class(tier_class(inputs, tier_number));
    for (std::int64_t i = 0; i < plan.tiers[t].switches(); ++i) {
      const std::int64_t block = i / plan.tiers[t].width;
      switches[t].push_back(
          builder.add_device(id, {.name = prefix + switch_name(plan, t, block, i),
                                  .tier = static_cast<std::uint8_t>(tier_number)}));
    }
  }
  return switches;
}

void add_host_links(fabric::FabricBuilder& builder, const Inputs& inputs, const ClosPlan& plan,
                    const HostPorts& ports, const std::vector<DeviceId>& first_device,
                    const ClosSwitches& switches) {
  const fabric::LinkClassId host_link = builder.link_class(inputs.host_link);
  std::size_t port = 0;
  for (std::size_t server = 0; server < ports.server_count(); ++server) {
    const ServerShape& shape = ports.shape(server);
    for (std::size_t n = 0; n < shape.nics.size(); ++n) {
      const DeviceId nic(first_device[server].index() + shape.nics[n].index());
      for (int p = 0; p < shape.nic_ports[n]; ++p, ++port) {
        const auto& leaves = switches[plan.plane_of(port)].front();
        builder.add_link({nic, leaves[plan.leaf_of_port[port]]}, host_link);
      }
    }
  }
}

// Cables from tier t to tier t + 1. Loops run block by block so that port numbers of a parent count
// through its children in order.
void add_tier_links(fabric::FabricBuilder& builder, fabric::LinkClassId link_class,
                    const ClosPlan& plan, std::size_t t,
                    const std::vector<std::vector<DeviceId>>& switches) {
  const ClosTier& here = plan.tiers[t];
  const ClosTier& above = plan.tiers[t + 1];
  for (std::int64_t i = 0; i < here.switches(); ++i) {
    const std::int64_t block = i / here.width / above.children;
    const std::int64_t group = here.mesh ? 0 : i % here.width;
    const std::int64_t first = block * above.width + group * here.parents;
    for (std::int64_t p = 0; p < here.parents; ++p) {
      for (std::int64_t b = 0; b < here.bundle; ++b) {
        builder.add_link({switches[t][static_cast<std::size_t>(i)],
                          switches[t + 1][static_cast<std::size_t>(first + p)]},
                         link_class);
      }
    }
  }
}

// Most cut capacity of one plane between its first blocks under the top and the rest.
double plane_bisection(const ClosPlan& plan, std::size_t plane, double host_per_fabric) {
  const std::vector<double> capacity =
      block_capacity(plan, plane, plan.tiers.size() - 2, host_per_fabric);
  double below = 0, above = 0;
  for (std::size_t i = 0; i < capacity.size(); ++i) {
    (i < capacity.size() / 2 ? below : above) += capacity[i];
  }
  return std::min(below, above);
}

// All leaves of a plane are one switch: what its hosts in the first half of all send to the others.
double star_bisection(const ClosPlan& plan, std::size_t plane) {
  const std::size_t ports = plan.leaf_of_port.size();
  double below = 0, above = 0;
  for (std::size_t port = 0; port < ports; ++port) {
    if (plan.plane_of(port) == plane) (port < ports / 2 ? below : above) += 1;
  }
  return std::min(below, above);
}

void fill_bisection(const Inputs& inputs, const ClosPlan& plan, ClosedForm& form) {
  const std::int64_t children = plan.tiers.size() == 1 ? 1 : plan.tiers.back().children;
  if (children < 2 && plan.tiers.front().blocks > 1) return;
  form.bisection = 0;
  for (std::size_t plane = 0; plane < static_cast<std::size_t>(plan.planes); ++plane) {
    *form.bisection += children < 2 ? star_bisection(plan, plane)
                                    : plane_bisection(plan, plane, host_per_fabric(inputs));
  }
  if (children < 2) return;
  form.bisection_leaves = plan.tiers[plan.tiers.size() - 2].blocks / 2;
  for (std::size_t t = 1; t + 1 < plan.tiers.size(); ++t) {
    form.bisection_leaves *= plan.tiers[t].children;
  }
}

}  // namespace

double host_per_fabric(const Inputs& inputs) {
  return static_cast<double>(inputs.host_link.raw_rate.bps()) /
         static_cast<double>(inputs.fabric_link.raw_rate.bps());
}

std::vector<std::int64_t> hosts_per_leaf(const ClosPlan& plan, std::size_t plane) {
  std::vector<std::int64_t> hosts(static_cast<std::size_t>(plan.leaves()), 0);
  for (std::size_t port = 0; port < plan.leaf_of_port.size(); ++port) {
    if (plan.plane_of(port) == plane) ++hosts[plan.leaf_of_port[port]];
  }
  return hosts;
}

std::vector<double> block_capacity(const ClosPlan& plan, std::size_t plane, std::size_t tier,
                                   double host_per_fabric) {
  std::vector<double> capacity;
  for (const std::int64_t hosts : hosts_per_leaf(plan, plane)) {
    capacity.push_back(static_cast<double>(hosts));
  }
  for (std::size_t t = 0; t <= tier; ++t) {
    const ClosTier& here = plan.tiers[t];
    if (t > 0) {
      std::vector<double> joined(static_cast<std::size_t>(here.blocks), 0.0);
      for (std::size_t child = 0; child < capacity.size(); ++child) {
        joined[child / static_cast<std::size_t>(here.children)] += capacity[child];
      }
      capacity = std::move(joined);
    }
    if (here.up() == 0) break;
    const double up = static_cast<double>(here.width * here.up()) / host_per_fabric;
    for (double& c : capacity) c = std::min(c, up);
  }
  return capacity;
}

std::vector<std::string> ClosTopology::refuse(const Inputs& inputs) const {
  std::vector<std::string> faults = check_inputs(inputs, parameters());
  if (!faults.empty()) return faults;
  return plan(inputs, HostPorts(inputs)).refusals;
}

fabric::Fabric ClosTopology::build(const Inputs& inputs) const {
  const HostPorts ports(inputs);
  const ClosAnswer answer = plan(inputs, ports);
  CHECK(answer.refusals.empty());
  fabric::FabricBuilder builder;
  const std::vector<DeviceId> first_device = stamp_servers(builder, inputs);
  ClosSwitches switches;
  for (std::int64_t plane = 0; plane < answer.plan.planes; ++plane) {
    switches.push_back(add_switches(builder, inputs, answer.plan, plane));
  }
  add_host_links(builder, inputs, answer.plan, ports, first_device, switches);
  const fabric::LinkClassId fabric_link = builder.link_class(inputs.fabric_link);
  for (const auto& plane : switches) {
    for (std::size_t t = 0; t + 1 < answer.plan.tiers.size(); ++t) {
      add_tier_links(builder, fabric_link, answer.plan, t, plane);
    }
  }
  join_planes(builder, inputs, answer.plan, switches);
  return std::move(builder).build();
}

ClosedForm ClosTopology::closed_form(const Inputs& inputs) const {
  const HostPorts ports(inputs);
  const ClosAnswer answer = plan(inputs, ports);
  CHECK(answer.refusals.empty());
  const std::vector<ClosTier>& tiers = answer.plan.tiers;
  ClosedForm form;
  form.parts = answer.plan.planes;
  form.hosts = ports.count();
  form.switches = 0;
  form.switch_links = 0;
  for (std::size_t t = 0; t < tiers.size(); ++t) {
    const std::int64_t switches = answer.plan.planes * tiers[t].switches();
    form.tiers.push_back({answer.plan.tier_words[t], static_cast<int>(t) + 1, switches,
                          switches * tiers[t].up(), 0});
    *form.switches += switches;
    *form.switch_links += switches * tiers[t].up();
  }
  // Farthest: in different blocks under the top. Up: any parent, any cable; down: the one switch
  // that leads to the destination (with a mesh: any of the block's), any cable of the bundle.
  const bool one_block = tiers.size() == 1 || tiers.back().children == 1;
  form.diameter_switches = one_block ? 1 : 2 * static_cast<int>(tiers.size()) - 1;
  form.shortest_paths = 1;
  double down_rate = host_per_fabric(inputs);
  std::int64_t down = 0;
  for (std::size_t plane = 0; plane < static_cast<std::size_t>(answer.plan.planes); ++plane) {
    for (const std::int64_t hosts : hosts_per_leaf(answer.plan, plane))
      down = std::max(down, hosts);
  }
  for (std::size_t t = 0; t + 1 < tiers.size(); ++t) {
    if (!one_block) {
      *form.shortest_paths *=
          tiers[t].up() * tiers[t].bundle * (tiers[t].mesh ? tiers[t].width : 1);
    }
    form.oversubscription.push_back(static_cast<double>(down) * down_rate /
                                    static_cast<double>(tiers[t].up()));
    down = tiers[t + 1].children * tiers[t].bundle * (tiers[t].mesh ? tiers[t].width : 1);
    down_rate = 1;
  }
  fill_bisection(inputs, answer.plan, form);
  return form;
}

}  // namespace weft::topology
