// Rail-optimised network: NIC i of every server goes to the leaves of rail i, so that the same GPU
// of all servers under a set of leaves is one switch away; all leaves are joined by spines, and,
// beyond what two tiers hold, pods of whole scalable units by cores. Rails = most NICs of any
// server. One switch where all ports fit it. Published counts: NVIDIA DGX SuperPOD reference
// architecture (H100). Leaves out: rails that are not joined (rail-only).
#include <fmt/format.h>

#include <array>

#include "topology/clos.h"
#include "topology/parameters.h"

namespace weft::topology {

namespace {

class Rail : public ClosTopology {
 public:
  std::string_view name() const override { return "rail"; }
  std::string_view summary() const override {
    return "Rail-optimised: NIC i of every server on the leaves of rail i, leaves joined by "
           "spines.";
  }
  std::span<const Parameter> parameters() const override { return parameters_; }

 protected:
  ClosAnswer plan(const Inputs& inputs, const HostPorts& ports) const override;

 private:
  // The servers that share one leaf of every rail: a scalable unit.
  std::int64_t servers_per_leaf(const Inputs& inputs, const HostPorts& ports) const;
  ClosRequest request(const Inputs& inputs, const HostPorts& ports, int tiers) const;

  std::array<Parameter, 7> parameters_ = {
      Parameter{"tiers", "", 0, 0, 4,
                "tiers of switches, 1 to 4; 0: the fewest that hold the servers", true},
      oversubscription_parameter("oversubscription", "a leaf"),
      oversubscription_parameter("oversubscription_2", "a switch of tier 2"),
      oversubscription_parameter("oversubscription_3", "a switch of tier 3"),
      Parameter{"servers_per_leaf", "servers", kDerived, 1, 65536,
                "servers on one leaf of each rail; default: as many as radix and oversubscription "
                "leave",
                true},
      Parameter{"pods", "", kDerived, 2, 65536,
                "parts under the top tier (3 or 4 tiers); default: the fewest, at least 2", true},
      radix_parameter(),
  };
};

double rate_ratio(const Inputs& inputs) {
  return static_cast<double>(inputs.host_link.raw_rate.bps()) /
         static_cast<double>(inputs.fabric_link.raw_rate.bps());
}

std::int64_t Rail::servers_per_leaf(const Inputs& inputs, const HostPorts& ports) const {
  if (const auto given = whole_value(inputs, parameters_, "servers_per_leaf")) return *given;
  return most_down(tier_class(inputs, 1).radix, value(inputs, parameters_, "oversubscription"),
                   rate_ratio(inputs)) /
         ports.most_ports_per_nic();
}

ClosRequest Rail::request(const Inputs& inputs, const HostPorts& ports, int tiers) const {
  ClosRequest request;
  request.tiers = tiers;
  for (const char* const name : {"oversubscription", "oversubscription_2", "oversubscription_3"}) {
    request.oversubscription.push_back(value(inputs, parameters_, name));
  }
  for (int tier = 1; tier <= tiers; ++tier) request.radix.push_back(tier_class(inputs, tier).radix);
  request.host_per_fabric = rate_ratio(inputs);
  const std::int64_t servers =
      std::min(servers_per_leaf(inputs, ports), static_cast<std::int64_t>(ports.server_count()));
  if (servers < 1) return request;  // leaf_hosts 0: refused with the arithmetic
  const auto rails = static_cast<std::int64_t>(ports.most_nics());
  const std::int64_t units =
      (static_cast<std::int64_t>(ports.server_count()) + servers - 1) / servers;
  request.leaf_hosts = servers * ports.most_ports_per_nic();
  request.leaf_group = rails;
  request.leaves = units * rails;
  request.top_children = tiers > 2 ? whole_value(inputs, parameters_, "pods").value_or(2) : 1;
  return request;
}

std::vector<std::uint32_t> rail_leaves(const HostPorts& ports, std::int64_t servers_per_leaf) {
  std::vector<std::uint32_t> leaf_of_port;
  leaf_of_port.reserve(static_cast<std::size_t>(ports.count()));
  for (std::size_t server = 0; server < ports.server_count(); ++server) {
    const std::size_t unit = server / static_cast<std::size_t>(servers_per_leaf);
    const ServerShape& shape = ports.shape(server);
    for (std::size_t rail = 0; rail < shape.nics.size(); ++rail) {
      const auto leaf = static_cast<std::uint32_t>(unit * ports.most_nics() + rail);
      leaf_of_port.insert(leaf_of_port.end(), static_cast<std::size_t>(shape.nic_ports[rail]),
                          leaf);
    }
  }
  return leaf_of_port;
}

ClosAnswer Rail::plan(const Inputs& inputs, const HostPorts& ports) const {
  auto tiers = static_cast<int>(*whole_value(inputs, parameters_, "tiers"));
  const int radix = tier_class(inputs, 1).radix;
  ClosAnswer answer;
  if (tiers == 1 || (tiers == 0 && ports.count() <= radix)) {
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
  answer = plan_clos(asked);
  if (!answer.refusals.empty()) return answer;
  const std::int64_t servers = asked.leaf_hosts / ports.most_ports_per_nic();
  answer.plan.leaf_of_port = rail_leaves(ports, servers);
  for (std::int64_t leaf = 0; leaf < asked.leaves; ++leaf) {
    answer.plan.leaf_names.push_back(
        fmt::format("rail{}-leaf{}", leaf % asked.leaf_group, leaf / asked.leaf_group));
  }
  return answer;
}

}  // namespace

const Topology& rail() {
  static const Rail kRow;
  return kRow;
}

}  // namespace weft::topology
