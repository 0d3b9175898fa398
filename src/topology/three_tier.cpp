// The classic access / aggregation / core tree: every access switch is cabled to all aggregation
// switches of its pod (two, as a rule), and every aggregation switch to all cores. Unlike a fat
// tree the number of aggregation switches and cores is chosen, not derived.
#include <fmt/format.h>

#include <array>

#include "topology/clos.h"
#include "topology/parameters.h"

namespace weft::topology {

namespace {

// Bundles that the oversubscription asks for with these hosts and access switches per pod.
struct Sizes {
  std::int64_t hosts = 0, access = 0;  // per access switch; per pod
  std::int64_t aggregations = 0, cores = 0;
  std::int64_t access_bundle = 0, core_bundle = 0;
};

class ThreeTier : public ClosTopology {
 public:
  std::string_view name() const override { return "three_tier"; }
  std::string_view summary() const override {
    return "Access, aggregation and core: pods of access switches under a few aggregation "
           "switches.";
  }
  std::span<const Parameter> parameters() const override { return parameters_; }

 protected:
  ClosAnswer plan(const Inputs& inputs, const HostPorts& ports) const override;

 private:
  std::int64_t access_bundle(const Inputs& inputs, const Sizes& sizes) const;
  std::int64_t core_bundle(const Inputs& inputs, const Sizes& sizes) const;
  std::string size_access(const Inputs& inputs, Sizes& sizes) const;
  std::string size_pods(const Inputs& inputs, std::int64_t access_switches, Sizes& sizes) const;

  std::array<Parameter, 7> parameters_ = {
      oversubscription_parameter("oversubscription", "an access switch"),
      oversubscription_parameter("oversubscription_2", "an aggregation switch"),
      Parameter{"aggregations", "switches", 2, 1, 1024, "aggregation switches of a pod", true},
      Parameter{"cores", "switches", 2, 1, 1024, "core switches", true},
      Parameter{"access_per_pod", "switches", kDerived, 1, 65536,
                "access switches of a pod; default: as many as the aggregation switches take, "
                "spread over at least 2 pods",
                true},
      leaf_hosts_parameter(),
      radix_parameter(),
  };
};

std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

std::int64_t ThreeTier::access_bundle(const Inputs& inputs, const Sizes& sizes) const {
  const double rate = static_cast<double>(inputs.host_link.raw_rate.bps()) /
                      static_cast<double>(inputs.fabric_link.raw_rate.bps());
  const double ratio = value(inputs, parameters_, "oversubscription");
  return ceil_div(needed_up(sizes.hosts, ratio, rate), sizes.aggregations);
}

std::int64_t ThreeTier::core_bundle(const Inputs& inputs, const Sizes& sizes) const {
  const double ratio = value(inputs, parameters_, "oversubscription_2");
  return ceil_div(needed_up(sizes.access * sizes.access_bundle, ratio, 1.0), sizes.cores);
}

// Hosts and uplinks of an access switch; a sentence when they do not fit.
std::string ThreeTier::size_access(const Inputs& inputs, Sizes& sizes) const {
  const std::int64_t radix = tier_class(inputs, 1).radix;
  const auto given = whole_value(inputs, parameters_, "leaf_hosts");
  const auto needed = [&] {
    sizes.access_bundle = access_bundle(inputs, sizes);
    return sizes.hosts + sizes.aggregations * sizes.access_bundle;
  };
  sizes.hosts = given.value_or(std::max<std::int64_t>(radix - sizes.aggregations, 1));
  while (needed() > radix && !given && sizes.hosts > 1) --sizes.hosts;
  if (needed() <= radix) return {};
  return fmt::format(
      "an access switch with {} host links and {} aggregation switches x {} links "
      "needs {} ports, its radix is {}",
      sizes.hosts, sizes.aggregations, sizes.access_bundle, needed(), radix);
}

// Access switches of a pod and the bundles to the cores; a sentence when they do not fit.
std::string ThreeTier::size_pods(const Inputs& inputs, std::int64_t access_switches,
                                 Sizes& sizes) const {
  const std::int64_t radix = tier_class(inputs, 2).radix;
  const auto given = whole_value(inputs, parameters_, "access_per_pod");
  const auto needed = [&] {
    sizes.core_bundle = core_bundle(inputs, sizes);
    return sizes.access * sizes.access_bundle + sizes.cores * sizes.core_bundle;
  };
  // At least two pods, or the cores would join nothing.
  sizes.access = given.value_or(std::min(ceil_div(access_switches, 2), radix));
  while (needed() > radix && !given && sizes.access > 1) --sizes.access;
  if (needed() > radix) {
    return fmt::format(
        "an aggregation switch with {} access switches x {} links and {} cores x {} "
        "links needs {} ports, its radix is {}",
        sizes.access, sizes.access_bundle, sizes.cores, sizes.core_bundle, needed(), radix);
  }
  if (!given) {  // as even as the number of pods allows
    sizes.access = ceil_div(access_switches, ceil_div(access_switches, sizes.access));
    sizes.core_bundle = core_bundle(inputs, sizes);
  }
  return {};
}

ClosAnswer ThreeTier::plan(const Inputs& inputs, const HostPorts& ports) const {
  ClosAnswer answer;
  for (int tier = 1; tier <= 3; ++tier) {
    if (tier_class(inputs, tier).radix >= 2) continue;
    answer.refusals.emplace_back(
        "the switch model has no known number of ports; give it one, or radix");
    return answer;
  }
  Sizes sizes;
  sizes.aggregations = *whole_value(inputs, parameters_, "aggregations");
  sizes.cores = *whole_value(inputs, parameters_, "cores");
  std::string refusal = size_access(inputs, sizes);
  const std::int64_t access = ceil_div(ports.count(), sizes.hosts);
  if (refusal.empty() && access < 2) {
    refusal = fmt::format(
        "{} NIC ports fit one access switch of {} host links; three tiers need "
        "two, give leaf_hosts or use single_switch",
        ports.count(), sizes.hosts);
  }
  if (refusal.empty()) refusal = size_pods(inputs, access, sizes);
  const std::int64_t pods = sizes.access == 0 ? 0 : ceil_div(access, sizes.access);
  const std::int64_t core_ports = pods * sizes.aggregations * sizes.core_bundle;
  if (refusal.empty() && core_ports > tier_class(inputs, 3).radix) {
    refusal = fmt::format(
        "{} pods x {} aggregation switches x {} links need {} ports on a core, "
        "its radix is {}",
        pods, sizes.aggregations, sizes.core_bundle, core_ports, tier_class(inputs, 3).radix);
  }
  if (refusal.empty() && pods < 2) {
    refusal = fmt::format("{} access switches fit one pod of {}, so the cores would join nothing",
                          access, sizes.access);
  }
  if (!refusal.empty()) {
    answer.refusals.push_back(std::move(refusal));
    return answer;
  }
  answer.plan.tiers = {{.blocks = access,
                        .children = sizes.hosts,
                        .parents = sizes.aggregations,
                        .bundle = sizes.access_bundle},
                       {.blocks = pods,
                        .width = sizes.aggregations,
                        .children = sizes.access,
                        .parents = sizes.cores,
                        .bundle = sizes.core_bundle,
                        .mesh = true},
                       {.blocks = 1, .width = sizes.cores, .children = pods}};
  answer.plan.leaf_of_port = fill_leaves(ports.count(), sizes.hosts);
  answer.plan.tier_words = {"access", "aggregation", "core"};
  return answer;
}

}  // namespace

const Topology& three_tier() {
  static const ThreeTier kRow;
  return kRow;
}

}  // namespace weft::topology
