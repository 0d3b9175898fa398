// k-ary fat tree of 2, 3 or 4 tiers, any oversubscription at each tier, populated by any number of
// hosts: the smallest legal build (clos.h). Source: Al-Fares, Loukissas, Vahdat, "A Scalable,
// Commodity Data Center Network Architecture", SIGCOMM 2008.
#include <fmt/format.h>

#include <array>

#include "topology/clos.h"
#include "topology/parameters.h"

namespace weft::topology {

namespace {

class FatTree : public ClosTopology {
 public:
  std::string_view name() const override { return "fat_tree"; }
  std::string_view summary() const override {
    return "k-ary fat tree of 2, 3 or 4 tiers, the smallest that holds the hosts.";
  }
  std::span<const Parameter> parameters() const override { return parameters_; }

 protected:
  ClosAnswer plan(const Inputs& inputs, const HostPorts& ports) const override;

 private:
  ClosRequest request(const Inputs& inputs, const HostPorts& ports, int tiers) const;

  std::array<Parameter, 7> parameters_ = {
      Parameter{"tiers", "", 0, 0, 4,
                "tiers of switches, 1 to 4; 0: the fewest that hold the hosts", true},
      oversubscription_parameter("oversubscription", "a leaf"),
      oversubscription_parameter("oversubscription_2", "a switch of tier 2"),
      oversubscription_parameter("oversubscription_3", "a switch of tier 3"),
      leaf_hosts_parameter(),
      Parameter{"pods", "", kDerived, 2, 65536,
                "parts under the top tier (3 or 4 tiers); default: the fewest, at least 2", true},
      radix_parameter(),
  };
};

ClosRequest FatTree::request(const Inputs& inputs, const HostPorts& ports, int tiers) const {
  ClosRequest request;
  request.tiers = tiers;
  for (const char* const name : {"oversubscription", "oversubscription_2", "oversubscription_3"}) {
    request.oversubscription.push_back(value(inputs, parameters_, name));
  }
  for (int tier = 1; tier <= tiers; ++tier) request.radix.push_back(tier_class(inputs, tier).radix);
  request.host_per_fabric = static_cast<double>(inputs.host_link.raw_rate.bps()) /
                            static_cast<double>(inputs.fabric_link.raw_rate.bps());
  request.leaf_hosts = whole_value(inputs, parameters_, "leaf_hosts")
                           .value_or(most_down(request.radix[0], request.oversubscription[0],
                                               request.host_per_fabric));
  request.leaf_hosts = std::max<std::int64_t>(request.leaf_hosts, 0);
  request.leaves =
      request.leaf_hosts < 1 ? 0 : (ports.count() + request.leaf_hosts - 1) / request.leaf_hosts;
  if (tiers > 2) {
    request.top_children = whole_value(inputs, parameters_, "pods").value_or(2);
  }
  return request;
}

ClosAnswer FatTree::plan(const Inputs& inputs, const HostPorts& ports) const {
  auto tiers = static_cast<int>(*whole_value(inputs, parameters_, "tiers"));
  const int radix = tier_class(inputs, 1).radix;
  if (tiers == 1 || (tiers == 0 && ports.count() <= radix)) {
    ClosAnswer answer;
    answer.plan.tiers.push_back({.blocks = 1, .children = ports.count()});
    answer.plan.leaf_of_port = fill_leaves(ports.count(), ports.count());
    if (ports.count() > radix) {
      answer.refusals.push_back(
          fmt::format("{} NIC ports need more than one tier: radix is {}", ports.count(), radix));
    }
    return answer;
  }
  if (tiers == 0) {
    tiers = 2;
    while (tiers < 4 && radix >= 2) {
      const ClosRequest asked = request(inputs, ports, tiers);
      if (asked.leaf_hosts < 1 || asked.leaves <= most_leaves(asked)) break;
      ++tiers;
    }
  }
  const ClosRequest asked = request(inputs, ports, tiers);
  ClosAnswer answer = plan_clos(asked);
  if (answer.refusals.empty()) {
    answer.plan.leaf_of_port = fill_leaves(ports.count(), asked.leaf_hosts);
  }
  return answer;
}

}  // namespace

const Topology& fat_tree() {
  static const FatTree kRow;
  return kRow;
}

}  // namespace weft::topology
