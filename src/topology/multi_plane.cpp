// Multi-plane: equal networks side by side that no link joins. Either every port of a NIC goes to
// its own plane (NICs of several ports), or NIC i of every server goes to plane i. Between planes
// bytes pass only through a server. Source: C. Zhao et al., "Insights into DeepSeek-V3: Scaling
// Challenges and Reflections on Hardware for AI Architectures", ISCA 2025 (8 planes, one per NIC).
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "topology/parameters.h"
#include "topology/plane_plan.h"

namespace weft::topology {

namespace {

class MultiPlane : public ClosTopology {
 public:
  std::string_view name() const override { return "multi_plane"; }
  std::string_view summary() const override {
    return "Equal, disjoint planes: a plane for each port of a NIC, or for each NIC of a server.";
  }
  std::span<const Parameter> parameters() const override { return parameters_; }

 protected:
  ClosAnswer plan(const Inputs& inputs, const HostPorts& ports) const override;

 private:
  std::array<Parameter, 8> parameters_ = {
      Parameter{"planes", "", kDerived, 1, 1024,
                "planes; default: one for each port of a NIC (by_port 1), else one for each NIC",
                true},
      Parameter{"by_port", "", kDerived, 0, 1,
                "1: port p of every NIC goes to plane p; 0: NIC i of every server goes to plane i; "
                "both modulo planes; default: 1 where NICs have several ports",
                true},
      plane_tiers_parameter(),
      oversubscription_parameter("oversubscription", "a leaf"),
      oversubscription_parameter("oversubscription_2", "a switch of tier 2"),
      leaf_hosts_parameter(),
      plane_pods_parameter(),
      radix_parameter(),
  };
};

// The plane of every port, in HostPorts order.
std::vector<std::uint32_t> assign_planes(const HostPorts& ports, bool by_port,
                                         std::int64_t planes) {
  std::vector<std::uint32_t> plane_of_port;
  for (std::size_t server = 0; server < ports.server_count(); ++server) {
    const ServerShape& shape = ports.shape(server);
    for (std::size_t nic = 0; nic < shape.nics.size(); ++nic) {
      for (int p = 0; p < shape.nic_ports[nic]; ++p) {
        const auto at = by_port ? static_cast<std::size_t>(p) : nic;
        plane_of_port.push_back(static_cast<std::uint32_t>(at % static_cast<std::size_t>(planes)));
      }
    }
  }
  return plane_of_port;
}

ClosAnswer MultiPlane::plan(const Inputs& inputs, const HostPorts& ports) const {
  const int most_ports = ports.most_ports_per_nic();
  const auto given = whole_value(inputs, parameters_, "by_port");
  const bool by_port = given ? *given == 1 : most_ports > 1;
  const std::int64_t most = by_port ? most_ports : static_cast<std::int64_t>(ports.most_nics());
  const std::int64_t planes = whole_value(inputs, parameters_, "planes").value_or(most);
  if (planes > most) {
    const std::string has = by_port ? fmt::format("no NIC has more than {} ports", most)
                                    : fmt::format("no server has more than {} NICs", most);
    return {.plan = {},
            .refusals = {fmt::format("{} planes are asked for and {}: {} planes would be empty",
                                     planes, has, planes - most)}};
  }
  const std::vector<std::uint32_t> plane_of_port = assign_planes(ports, by_port, planes);
  std::vector<std::int64_t> count(static_cast<std::size_t>(planes), 0);
  for (const std::uint32_t plane : plane_of_port) ++count[plane];
  ClosAnswer answer = plan_plane(inputs, parameters_,
                                 {.ports = *std::max_element(count.begin(), count.end()),
                                  .leaf_hosts = whole_value(inputs, parameters_, "leaf_hosts")});
  if (!answer.refusals.empty()) return answer;
  ClosPlan& plan = answer.plan;
  plan.planes = planes;
  plan.plane_of_port = plane_of_port;
  count.assign(count.size(), 0);
  for (const std::uint32_t plane : plane_of_port) {
    plan.leaf_of_port.push_back(
        static_cast<std::uint32_t>(count[plane]++ / plan.tiers.front().children));
  }
  return answer;
}

}  // namespace

const Topology& multi_plane() {
  static const MultiPlane kRow;
  return kRow;
}

}  // namespace weft::topology
