// Dual-ToR network of segments: every NIC has two ports on two ToR switches, one pair of ToRs a
// rail and segment. With two planes (the default) the first ToR of every pair belongs to one
// aggregation plane and the second to another; with one plane all ToRs share the aggregation
// switches. Cores above are optional (tiers 3). Source: K. Qian et al., "Alibaba HPN: A Data Center
// Network for Large Language Model Training", SIGCOMM 2024. Leaves out: the 8 backup ports of a
// ToR, the links that LACP bonds (each port is its own way), and the front-end network.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "topology/parameters.h"
#include "topology/plane_plan.h"

namespace weft::topology {

namespace {

constexpr int kTors = 2;  // of a rail in a segment, one for each port of a NIC

class DualTor : public ClosTopology {
 public:
  std::string_view name() const override { return "dual_tor"; }
  std::string_view summary() const override {
    return "Every NIC's two ports on two ToRs, rails in segments, as in Alibaba's HPN.";
  }
  std::span<const Parameter> parameters() const override { return parameters_; }

 protected:
  ClosAnswer plan(const Inputs& inputs, const HostPorts& ports) const override;

 private:
  std::array<Parameter, 7> parameters_ = {
      Parameter{"planes", "", 2, 1, 2,
                "2: the two ToRs of a pair belong to two disjoint planes; 1: to one network", true},
      Parameter{"tiers", "", 2, 2, 3, "2: ToR and aggregation; 3: cores that join pods as well",
                true},
      oversubscription_parameter("oversubscription", "a ToR"),
      Parameter{"oversubscription_2", "ratio", 15, 0.01, 1000,
                "bandwidth down over bandwidth up of an aggregation switch (3 tiers)"},
      Parameter{"servers_per_segment", "servers", kDerived, 1, 65536,
                "servers that share the ToRs of every rail; default: as many as radix and "
                "oversubscription leave",
                true},
      plane_pods_parameter(),
      radix_parameter(),
  };
};

std::vector<std::string> refuse_ports(const Inputs& inputs, const HostPorts& ports) {
  for (std::size_t server = 0; server < ports.server_count(); ++server) {
    const ServerShape& shape = ports.shape(server);
    for (std::size_t nic = 0; nic < shape.nics.size(); ++nic) {
      if (shape.nic_ports[nic] == kTors) continue;
      return {fmt::format(
          "a NIC needs {} ports, one for each ToR of its pair; {} of server {} has {}", kTors,
          inputs.servers[server]->name(shape.nics[nic]), server, shape.nic_ports[nic])};
    }
  }
  return {};
}

ClosAnswer DualTor::plan(const Inputs& inputs, const HostPorts& ports) const {
  ClosAnswer answer;
  answer.refusals = refuse_ports(inputs, ports);
  if (!answer.refusals.empty()) return answer;
  const std::int64_t planes = *whole_value(inputs, parameters_, "planes");
  const auto rails = static_cast<std::int64_t>(ports.most_nics());
  const auto servers = static_cast<std::int64_t>(ports.server_count());
  const std::int64_t tors = kTors / planes;  // of a rail, segment and plane
  PlaneSize size{.ports = servers, .leaf_hosts = {}, .leaf_group = rails * tors};
  std::int64_t segment = whole_value(inputs, parameters_, "servers_per_segment")
                             .value_or(most_down(tier_class(inputs, 1).radix,
                                                 value(inputs, parameters_, "oversubscription"),
                                                 host_per_fabric(inputs)));
  segment = std::min(segment, servers);
  size.leaf_hosts = segment;
  size.group_hosts = std::max<std::int64_t>(segment, 1);
  answer = plan_plane(inputs, parameters_, size);
  if (!answer.refusals.empty()) return answer;
  ClosPlan& plan = answer.plan;
  plan.planes = planes;
  plan.tier_words = {"tor", "agg", "core", "top"};
  for (std::int64_t leaf = 0; leaf < plan.leaves(); ++leaf) {
    const std::int64_t place = leaf % size.leaf_group;
    plan.leaf_names.push_back(fmt::format("segment{}/rail{}-tor{}", leaf / size.leaf_group,
                                          place / tors,
                                          tors == 1           ? ""
                                          : place % tors == 0 ? "a"
                                                              : "b"));
  }
  for (std::int64_t server = 0; server < servers; ++server) {
    const ServerShape& shape = ports.shape(static_cast<std::size_t>(server));
    for (std::size_t rail = 0; rail < shape.nics.size(); ++rail) {
      for (int p = 0; p < kTors; ++p) {
        const std::int64_t pair = server / segment * rails + static_cast<std::int64_t>(rail);
        plan.leaf_of_port.push_back(
            static_cast<std::uint32_t>(planes == kTors ? pair : pair * kTors + p));
        plan.plane_of_port.push_back(planes == kTors ? static_cast<std::uint32_t>(p) : 0);
      }
    }
  }
  return answer;
}

}  // namespace

const Topology& dual_tor() {
  static const DualTor kRow;
  return kRow;
}

}  // namespace weft::topology
