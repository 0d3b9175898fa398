// Pods under a layer of optical circuit switches (OCS): each pod is a leaf-spine network whose
// spines have fibres to the circuit switches; circuit switch k takes fibre k of every pod and joins
// the pods in pairs. The pairings are those of a round-robin tournament, round k mod (P - 1), so
// that over the switches every two pods get equally many circuits (a uniform mesh). A circuit is a
// link of its own between two spines: the OCS is mirrors, without buffer, without a choice and
// without a device in the fabric; its light path adds to the circuit's latency. Source: A. Singh et
// al., "Jupiter Evolving: Transforming Google's Datacenter Network via Optical Circuit Switches and
// Software-Defined Networking", SIGCOMM 2022. Leaves out: circuits that move while work runs,
// demand-aware meshes, transit through a third pod.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/check.h"
#include "topology/parameters.h"
#include "topology/plane_plan.h"

namespace weft::topology {

namespace {

using fabric::DeviceId;

class OpticalCircuit : public ClosTopology {
 public:
  std::string_view name() const override { return "optical_circuit"; }
  std::string_view summary() const override {
    return "Leaf-spine pods joined in a uniform mesh by optical circuit switches.";
  }
  std::span<const Parameter> parameters() const override { return parameters_; }
  ClosedForm closed_form(const Inputs& inputs) const override;

 protected:
  ClosAnswer plan(const Inputs& inputs, const HostPorts& ports) const override;
  void join_planes(fabric::FabricBuilder& builder, const Inputs& inputs, const ClosPlan& plan,
                   const ClosSwitches& switches) const override;

 private:
  std::int64_t circuits_of_pod(const Inputs& inputs, const ClosPlan& plan) const;

  std::array<Parameter, 8> parameters_ = {
      Parameter{"pods", "", 2, 2, 65536, "pods that circuits join", true},
      Parameter{"circuits", "", kDerived, 1, 65536,
                "circuits of a pod, one to each circuit switch; default: the bandwidth of its "
                "hosts, in equal numbers to every other pod",
                true},
      Parameter{"ocs_ports", "ports", 136, 2, 65536,
                "ports of a circuit switch, each a fibre pair of a pod", true},
      Parameter{"ocs_latency_ns", "ns", 30, 0, 1e9,
                "time of the light through a circuit switch, added to the circuit's two cables"},
      Parameter{"spines", "switches", kDerived, 1, 65536,
                "spines of a pod; default: the fewest that equal bundles fit", true},
      oversubscription_parameter("oversubscription", "a leaf"),
      leaf_hosts_parameter(),
      radix_parameter(),
  };
};

// The pod that meets `pod` in round `round` (circle method); itself when it sits out (odd counts).
std::int64_t opponent(std::int64_t pods, std::int64_t round, std::int64_t pod) {
  const std::int64_t even = pods + pods % 2, ring = even - 1;
  std::int64_t other = 0;
  if (pod == even - 1) {
    // The fixed one meets the pod that would meet itself: 2 x = round (mod ring).
    other = round % 2 == 0 ? round / 2 : (round + ring) / 2;
  } else {
    other = (round - pod % ring + ring) % ring;
    if (other == pod) other = even - 1;
  }
  return other >= pods ? pod : other;
}

std::int64_t rounds_of(std::int64_t pods) {
  return pods + pods % 2 - 1;
}

// Circuits on the spine of a pod that has most: rounds go to the spines in turn, each as a whole,
// and the last one may be short.
std::int64_t most_circuits(std::int64_t circuits, std::int64_t rounds, std::int64_t spines) {
  const std::int64_t groups = (circuits + rounds - 1) / rounds;
  const std::int64_t of_one = (groups + spines - 1) / spines;
  const bool short_one = (groups - 1) % spines == 0;  // the short round is the last of the fullest
  return (of_one - 1) * rounds + (short_one ? circuits - (groups - 1) * rounds : rounds);
}

// Servers fill the pods in order, as equally as whole servers allow.
std::size_t pod_of(std::size_t server, std::size_t servers, std::int64_t pods) {
  return server * static_cast<std::size_t>(pods) / servers;
}

std::int64_t OpticalCircuit::circuits_of_pod(const Inputs& inputs, const ClosPlan& plan) const {
  if (const auto given = whole_value(inputs, parameters_, "circuits")) return *given;
  const std::int64_t rounds = rounds_of(plan.planes);
  const std::vector<std::int64_t> hosts = hosts_per_leaf(plan, 0);
  std::int64_t total = 0;
  for (const std::int64_t of_leaf : hosts) total += of_leaf;
  const double need = static_cast<double>(total) * host_per_fabric(inputs);
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(need) / rounds) * rounds;
}

// A pod of `spines` spines with leaves of as many hosts as fit, or the smallest legal one.
ClosAnswer plan_pod(const Inputs& inputs, std::span<const Parameter> table, std::int64_t ports) {
  const auto given_hosts = whole_value(inputs, table, "leaf_hosts");
  const auto spines = whole_value(inputs, table, "spines");
  const double ratio = value(inputs, table, "oversubscription");
  if (!spines) {
    // Half of a spine's ports for circuits, as many as go down.
    const std::int64_t spine_radix =
        tier_class(inputs, ports * 2 <= tier_class(inputs, 1).radix ? 1 : 2).radix;
    return plan_plane(
        inputs, table,
        {.ports = ports, .leaf_hosts = given_hosts, .most_tiers = 2, .reserved = spine_radix / 2});
  }
  const std::int64_t radix = tier_class(inputs, 1).radix;
  const std::int64_t hosts = std::max<std::int64_t>(
      1, given_hosts.value_or(std::min(ports, most_down(radix, ratio, host_per_fabric(inputs)))));
  const std::int64_t need = needed_up(hosts, ratio, host_per_fabric(inputs));
  const std::int64_t bundle = (need + *spines - 1) / *spines;
  const std::int64_t leaves = (ports + hosts - 1) / hosts;
  ClosAnswer answer;
  if (hosts + *spines * bundle > radix) {
    answer.refusals.push_back(fmt::format(
        "a leaf with {} host links and {} spines x {} links needs {} ports, its radix is {}", hosts,
        *spines, bundle, hosts + *spines * bundle, radix));
  }
  answer.plan.tiers.push_back(
      {.blocks = leaves, .children = hosts, .parents = *spines, .bundle = bundle});
  answer.plan.tiers.push_back({.blocks = 1, .width = *spines, .children = leaves});
  return answer;
}

ClosAnswer OpticalCircuit::plan(const Inputs& inputs, const HostPorts& ports) const {
  const std::int64_t pods = *whole_value(inputs, parameters_, "pods");
  if (pods > static_cast<std::int64_t>(ports.server_count())) {
    return {.plan = {},
            .refusals = {fmt::format("{} pods are asked for and there are {} servers", pods,
                                     ports.server_count())}};
  }
  std::vector<std::int64_t> count(static_cast<std::size_t>(pods), 0);
  for (std::size_t server = 0; server < ports.server_count(); ++server) {
    count[pod_of(server, ports.server_count(), pods)] += ports.shape(server).ports;
  }
  ClosAnswer answer = plan_pod(inputs, parameters_, *std::max_element(count.begin(), count.end()));
  if (!answer.refusals.empty()) return answer;
  ClosPlan& plan = answer.plan;
  plan.planes = pods;
  plan.plane_word = "pod";
  count.assign(count.size(), 0);
  for (std::size_t server = 0; server < ports.server_count(); ++server) {
    const std::size_t pod = pod_of(server, ports.server_count(), pods);
    for (std::int64_t p = 0; p < ports.shape(server).ports; ++p) {
      plan.leaf_of_port.push_back(
          static_cast<std::uint32_t>(count[pod]++ / plan.tiers.front().children));
      plan.plane_of_port.push_back(static_cast<std::uint32_t>(pod));
    }
  }
  const std::int64_t circuits = circuits_of_pod(inputs, plan);
  const std::int64_t rounds = rounds_of(pods);
  const auto ocs_ports = *whole_value(inputs, parameters_, "ocs_ports");
  if (pods > ocs_ports) {
    answer.refusals.push_back(fmt::format(
        "a circuit switch takes one fibre of each of {} pods, it has {} ports", pods, ocs_ports));
  }
  if (circuits < rounds) {
    answer.refusals.push_back(
        fmt::format("{} pods need {} circuits each for one to every other pod, there are {}", pods,
                    rounds, circuits));
  }
  const ClosTier& top = plan.tiers.back();
  const ClosTier& leaf = plan.tiers.front();
  const std::int64_t spines = top.switches();
  const std::int64_t down = plan.tiers.size() == 1 ? leaf.children : top.children * leaf.bundle;
  const std::int64_t needed = down + most_circuits(circuits, rounds, spines);
  const int radix = tier_class(inputs, static_cast<int>(plan.tiers.size())).radix;
  if (needed > radix) {
    answer.refusals.push_back(
        fmt::format("{} circuits of a pod over {} spines with {} links down need {} ports on a "
                    "spine, its radix is {}",
                    circuits, spines, down, needed, radix));
  }
  return answer;
}

void OpticalCircuit::join_planes(fabric::FabricBuilder& builder, const Inputs& inputs,
                                 const ClosPlan& plan, const ClosSwitches& switches) const {
  fabric::LinkClass circuit = inputs.fabric_link;
  circuit.kind = fabric::LinkKind::optical_circuit;
  circuit.name = fmt::format("circuit of {}", circuit.name);
  circuit.latency = circuit.latency * 2 +
                    Duration::from_seconds(value(inputs, parameters_, "ocs_latency_ns") * 1e-9);
  const fabric::LinkClassId link = builder.link_class(circuit);
  const std::int64_t rounds = rounds_of(plan.planes);
  const std::int64_t spines = plan.tiers.back().switches();
  for (std::int64_t k = 0; k < circuits_of_pod(inputs, plan); ++k) {
    const auto spine = static_cast<std::size_t>(k / rounds % spines);
    for (std::int64_t pod = 0; pod < plan.planes; ++pod) {
      const std::int64_t other = opponent(plan.planes, k % rounds, pod);
      if (other <= pod) continue;
      builder.add_link({switches[static_cast<std::size_t>(pod)].back()[spine],
                        switches[static_cast<std::size_t>(other)].back()[spine]},
                       link);
    }
  }
}

ClosedForm OpticalCircuit::closed_form(const Inputs& inputs) const {
  const ClosPlan plan = this->plan(inputs, HostPorts(inputs)).plan;
  ClosedForm form = ClosTopology::closed_form(inputs);
  const std::int64_t circuits = circuits_of_pod(inputs, plan);
  const std::int64_t pods = plan.planes, rounds = rounds_of(pods);
  const std::int64_t spines = plan.tiers.back().switches();
  form.parts = 1;
  // Pairs of a circuit switch; one pod sits out if their number is odd.
  form.tiers.back().links_across = circuits * (pods / 2);
  *form.switch_links += form.tiers.back().links_across;
  const bool one_tier = plan.tiers.size() == 1;
  form.diameter_switches = one_tier ? 2 : 4;
  // To a leaf of the last pod: the circuits of the round in which the first pod meets the last,
  // each reached over a leaf's cables to that spine, and left over as many.
  std::int64_t round = 0;
  while (opponent(pods, round, 0) != pods - 1) ++round;
  const std::int64_t between = circuits / rounds + (round < circuits % rounds ? 1 : 0);
  const std::int64_t bundle = one_tier ? 1 : plan.tiers.front().bundle;
  form.shortest_paths = between * bundle * bundle;
  // The first half of the pods against the rest: stated where circuits lie equally on all spines
  // and pods are alike, so that pods and circuits alone limit it.
  form.bisection.reset();
  form.bisection_leaves = pods / 2 * plan.leaves();
  bool equal = circuits % (rounds * spines) == 0;
  double pod_capacity = 0;
  for (std::size_t pod = 0; pod < static_cast<std::size_t>(pods); ++pod) {
    double capacity = 0;
    for (const double leaf : block_capacity(plan, pod, 0, host_per_fabric(inputs))) {
      capacity += leaf;
    }
    if (pod == 0) pod_capacity = capacity;
    equal = equal && capacity == pod_capacity;
  }
  if (equal) {
    const std::int64_t half = pods / 2;
    form.bisection = std::min(
        static_cast<double>(half) * pod_capacity,
        static_cast<double>(circuits / rounds * half * (pods - half)) / host_per_fabric(inputs));
  }
  return form;
}

}  // namespace

const Topology& optical_circuit() {
  static const OpticalCircuit kRow;
  return kRow;
}

}  // namespace weft::topology
