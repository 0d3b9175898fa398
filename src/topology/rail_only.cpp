// Rail-only: every rail (NIC i of all servers) is a Clos network of its own and no switch joins two
// rails. A GPU reaches another rail only inside its server, over NVLink or PCIe, so traffic between
// rails goes through a relay (PXN). Source: W. Wang et al., "Rail-only: A Low-Cost High-Performance
// Network for Training LLMs with Trillion Parameters", HOTI 2024.
#include <fmt/format.h>

#include <array>

#include "topology/parameters.h"
#include "topology/plane_plan.h"

namespace weft::topology {

namespace {

class RailOnly : public ClosTopology {
 public:
  std::string_view name() const override { return "rail_only"; }
  std::string_view summary() const override {
    return "A network of its own for each rail; between rails only through the servers.";
  }
  std::span<const Parameter> parameters() const override { return parameters_; }

 protected:
  ClosAnswer plan(const Inputs& inputs, const HostPorts& ports) const override;

 private:
  std::array<Parameter, 6> parameters_ = {
      plane_tiers_parameter(),
      oversubscription_parameter("oversubscription", "a leaf"),
      oversubscription_parameter("oversubscription_2", "a switch of tier 2"),
      Parameter{"servers_per_leaf", "servers", kDerived, 1, 65536,
                "servers on one leaf of their rail; default: as many as radix and oversubscription "
                "leave",
                true},
      plane_pods_parameter(),
      radix_parameter(),
  };
};

ClosAnswer RailOnly::plan(const Inputs& inputs, const HostPorts& ports) const {
  const auto each = static_cast<std::int64_t>(ports.most_ports_per_nic());
  const auto servers = static_cast<std::int64_t>(ports.server_count());
  PlaneSize size{.ports = servers * each, .leaf_hosts = {}, .leaf_step = each};
  if (const auto given = whole_value(inputs, parameters_, "servers_per_leaf")) {
    size.leaf_hosts = std::min(*given, servers) * each;
  }
  ClosAnswer answer = plan_plane(inputs, parameters_, size);
  if (!answer.refusals.empty()) return answer;
  ClosPlan& plan = answer.plan;
  plan.planes = static_cast<std::int64_t>(ports.most_nics());
  plan.plane_word = "rail";
  const std::int64_t per_leaf = plan.tiers.front().children / each;
  for (std::size_t server = 0; server < ports.server_count(); ++server) {
    const ServerShape& shape = ports.shape(server);
    const std::int64_t leaf = static_cast<std::int64_t>(server) / per_leaf;
    for (std::size_t rail = 0; rail < shape.nics.size(); ++rail) {
      for (int p = 0; p < shape.nic_ports[rail]; ++p) {
        plan.leaf_of_port.push_back(static_cast<std::uint32_t>(leaf));
        plan.plane_of_port.push_back(static_cast<std::uint32_t>(rail));
      }
    }
  }
  return answer;
}

}  // namespace

const Topology& rail_only() {
  static const RailOnly kRow;
  return kRow;
}

}  // namespace weft::topology
