// Two tiers: leaves that hosts are cabled to, and spines that every leaf has an equal bundle to.
// NIC ports fill the leaves in order. Where all fit one leaf, there is no spine.
#include <fmt/format.h>

#include <array>

#include "topology/clos.h"
#include "topology/parameters.h"

namespace weft::topology {

namespace {

class LeafSpine : public ClosTopology {
 public:
  std::string_view name() const override { return "leaf_spine"; }
  std::string_view summary() const override {
    return "Two tiers: leaves for the hosts, an equal bundle from every leaf to every spine.";
  }
  std::span<const Parameter> parameters() const override { return parameters_; }

 protected:
  ClosAnswer plan(const Inputs& inputs, const HostPorts& ports) const override;

 private:
  // Host links of a leaf: given, spread over the leaves given, or as many as fit.
  std::int64_t leaf_hosts(const Inputs& inputs, const HostPorts& ports,
                          const ClosRequest& request) const;
  ClosAnswer plan_with_spines(const Inputs& inputs, const ClosRequest& request,
                              std::int64_t spines) const;

  std::array<Parameter, 6> parameters_ = {
      oversubscription_parameter("oversubscription", "a leaf"),
      Parameter{"spines", "switches", kDerived, 1, 65536,
                "spine switches; default: the fewest that equal bundles fit", true},
      Parameter{"links_per_spine", "cables", kDerived, 1, 65536,
                "parallel cables from a leaf to each spine; default: as oversubscription asks",
                true},
      Parameter{"leaves", "switches", kDerived, 1, 65536,
                "leaf switches, hosts spread over them; default: the fewest", true},
      leaf_hosts_parameter(),
      radix_parameter(),
  };
};

ClosAnswer refused(std::string sentence) {
  return {.plan = {}, .refusals = {std::move(sentence)}};
}

// Ports of neighbours stay together; leaves differ by one port at most.
std::vector<std::uint32_t> spread_over_leaves(std::int64_t ports, std::int64_t leaves) {
  std::vector<std::uint32_t> leaf_of_port(static_cast<std::size_t>(ports));
  for (std::size_t i = 0; i < leaf_of_port.size(); ++i) {
    leaf_of_port[i] = static_cast<std::uint32_t>(i * static_cast<std::size_t>(leaves) /
                                                 static_cast<std::size_t>(ports));
  }
  return leaf_of_port;
}

std::int64_t LeafSpine::leaf_hosts(const Inputs& inputs, const HostPorts& ports,
                                   const ClosRequest& request) const {
  if (const auto given = whole_value(inputs, parameters_, "leaf_hosts")) return *given;
  if (const auto leaves = whole_value(inputs, parameters_, "leaves")) {
    return (ports.count() + *leaves - 1) / *leaves;
  }
  const auto spines = whole_value(inputs, parameters_, "spines");
  const auto bundle = whole_value(inputs, parameters_, "links_per_spine");
  const double ratio = request.oversubscription[0];
  if (!spines) return most_down(request.radix[0], ratio, request.host_per_fabric);
  // The most hosts whose uplinks, rounded up to whole bundles, still fit.
  std::int64_t down = request.radix[0] - *spines * bundle.value_or(1);
  for (; down > 1; --down) {
    const std::int64_t need = needed_up(down, ratio, request.host_per_fabric);
    const std::int64_t each = bundle.value_or((need + *spines - 1) / *spines);
    if (need <= each * *spines && down + each * *spines <= request.radix[0]) break;
  }
  return down;
}

ClosAnswer LeafSpine::plan_with_spines(const Inputs& inputs, const ClosRequest& request,
                                       std::int64_t spines) const {
  const std::int64_t need =
      needed_up(request.leaf_hosts, request.oversubscription[0], request.host_per_fabric);
  const std::int64_t bundle =
      whole_value(inputs, parameters_, "links_per_spine").value_or((need + spines - 1) / spines);
  const std::int64_t up = spines * bundle;
  if (up < need) {
    return refused(
        fmt::format("{} host links at oversubscription {} need {} links up, {} spines x "
                    "{} links are {}",
                    request.leaf_hosts, request.oversubscription[0], need, spines, bundle, up));
  }
  if (request.leaf_hosts < 1 || request.leaf_hosts + up > request.radix[0]) {
    return refused(fmt::format(
        "a leaf with {} host links and {} spines x {} links needs {} ports, its radix is {}",
        request.leaf_hosts, spines, bundle, request.leaf_hosts + up, request.radix[0]));
  }
  if (request.leaves * bundle > request.radix[1]) {
    return refused(fmt::format("{} leaves x {} links need {} ports on a spine, its radix is {}",
                               request.leaves, bundle, request.leaves * bundle, request.radix[1]));
  }
  ClosAnswer answer;
  answer.plan.tiers.push_back({.blocks = request.leaves,
                               .children = request.leaf_hosts,
                               .parents = spines,
                               .bundle = bundle});
  answer.plan.tiers.push_back({.blocks = 1, .width = spines, .children = request.leaves});
  return answer;
}

ClosAnswer LeafSpine::plan(const Inputs& inputs, const HostPorts& ports) const {
  ClosRequest request;
  request.oversubscription = {value(inputs, parameters_, "oversubscription")};
  request.radix = {tier_class(inputs, 1).radix, tier_class(inputs, 2).radix};
  request.host_per_fabric = static_cast<double>(inputs.host_link.raw_rate.bps()) /
                            static_cast<double>(inputs.fabric_link.raw_rate.bps());
  if (request.radix[0] < 2 || request.radix[1] < 1) {
    return refused("the switch model has no known number of ports; give it one, or radix");
  }
  const auto spines = whole_value(inputs, parameters_, "spines");
  const auto leaves = whole_value(inputs, parameters_, "leaves");
  if (leaves && *leaves > ports.count()) {
    return refused(fmt::format("{} leaves are asked for {} NIC ports, some would have none",
                               *leaves, ports.count()));
  }
  if (whole_value(inputs, parameters_, "links_per_spine") && !spines) {
    return refused("links_per_spine is given without spines");
  }
  const bool plain = inputs.parameters.count("leaf_hosts") == 0 && !spines && !leaves;
  ClosAnswer answer;
  if (plain && ports.count() <= request.radix[0]) {
    answer.plan.tiers.push_back({.blocks = 1, .children = ports.count()});
    answer.plan.leaf_names = {"leaf0"};
    answer.plan.leaf_of_port = fill_leaves(ports.count(), ports.count());
    return answer;
  }
  request.leaf_hosts = leaf_hosts(inputs, ports, request);
  if (request.leaf_hosts < 1) {
    return refused(fmt::format("{} spines leave no port for hosts on a leaf of radix {}",
                               spines.value_or(0), request.radix[0]));
  }
  request.leaves =
      std::max(leaves.value_or(1), (ports.count() + request.leaf_hosts - 1) / request.leaf_hosts);
  if (leaves && request.leaves > *leaves) {
    return refused(fmt::format("{} NIC ports need {} leaves of {} host links, {} are asked",
                               ports.count(), request.leaves, request.leaf_hosts, *leaves));
  }
  request.top_children = 1;
  answer = spines ? plan_with_spines(inputs, request, *spines) : plan_clos(request);
  answer.plan.leaf_of_port = leaves ? spread_over_leaves(ports.count(), *leaves)
                                    : fill_leaves(ports.count(), request.leaf_hosts);
  return answer;
}

}  // namespace

const Topology& leaf_spine() {
  static const LeafSpine kRow;
  return kRow;
}

}  // namespace weft::topology
