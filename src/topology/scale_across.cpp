// Scale-across: two or more sites, each a leaf-spine network of its own, joined by wide-area links
// between gateways. Every spine of a site is cabled to every gateway; gateway i of a site has
// `wan_links` links to gateway i of every other site, of `wan_gbps` each and as long as
// `distance_km` of fibre: 4.9 us a km (group index 1.468: 1.468 / 299,792 km/s = 4.897 us). Leaves
// out: sites at different distances, amplifiers and protection switching, loss on the way.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "topology/parameters.h"
#include "topology/plane_plan.h"

namespace weft::topology {

namespace {

using fabric::DeviceId;

constexpr double kMicrosecondsPerKm = 4.9;

class ScaleAcross : public ClosTopology {
 public:
  std::string_view name() const override { return "scale_across"; }
  std::string_view summary() const override {
    return "Sites of leaf-spine networks, joined by wide-area links between gateways.";
  }
  std::span<const Parameter> parameters() const override { return parameters_; }
  ClosedForm closed_form(const Inputs& inputs) const override;

 protected:
  ClosAnswer plan(const Inputs& inputs, const HostPorts& ports) const override;
  void join_planes(fabric::FabricBuilder& builder, const Inputs& inputs, const ClosPlan& plan,
                   const ClosSwitches& switches) const override;

 private:
  [[nodiscard]] std::int64_t whole(const Inputs& inputs, std::string_view name) const {
    return *whole_value(inputs, parameters_, name);
  }

  std::array<Parameter, 9> parameters_ = {
      Parameter{"sites", "", 2, 2, 64, "sites, the servers in equal parts", true},
      Parameter{"gateways", "", 1, 1, 1024, "gateways of a site", true},
      Parameter{"gateway_links", "cables", 1, 1, 1024, "cables from every spine to every gateway",
                true},
      Parameter{"wan_links", "links", 1, 1, 1024,
                "wide-area links from a gateway to its peer in every other site", true},
      Parameter{"wan_gbps", "Gb/s", 400, 0.001, 1e6, "rate of a wide-area link, one direction"},
      Parameter{"distance_km", "km", 100, 0, 40000, "length of the fibre between two sites"},
      oversubscription_parameter("oversubscription", "a leaf"),
      leaf_hosts_parameter(),
      radix_parameter(),
  };
};

std::size_t site_of(std::size_t server, std::size_t servers, std::int64_t sites) {
  return server * static_cast<std::size_t>(sites) / servers;
}

ClosAnswer ScaleAcross::plan(const Inputs& inputs, const HostPorts& ports) const {
  const std::int64_t sites = whole(inputs, "sites");
  if (sites > static_cast<std::int64_t>(ports.server_count())) {
    return {.plan = {},
            .refusals = {fmt::format("{} sites are asked for and there are {} servers", sites,
                                     ports.server_count())}};
  }
  std::vector<std::int64_t> count(static_cast<std::size_t>(sites), 0);
  for (std::size_t server = 0; server < ports.server_count(); ++server) {
    count[site_of(server, ports.server_count(), sites)] += ports.shape(server).ports;
  }
  ClosAnswer answer =
      plan_plane(inputs, parameters_,
                 {.ports = *std::max_element(count.begin(), count.end()),
                  .leaf_hosts = whole_value(inputs, parameters_, "leaf_hosts"),
                  .most_tiers = 2,
                  .reserved = whole(inputs, "gateways") * whole(inputs, "gateway_links")});
  if (!answer.refusals.empty()) return answer;
  ClosPlan& plan = answer.plan;
  plan.planes = sites;
  plan.plane_word = "site";
  count.assign(count.size(), 0);
  for (std::size_t server = 0; server < ports.server_count(); ++server) {
    const std::size_t site = site_of(server, ports.server_count(), sites);
    for (std::int64_t p = 0; p < ports.shape(server).ports; ++p) {
      plan.leaf_of_port.push_back(
          static_cast<std::uint32_t>(count[site]++ / plan.tiers.front().children));
      plan.plane_of_port.push_back(static_cast<std::uint32_t>(site));
    }
  }
  // What gateways take of a spine, and of a gateway's own ports.
  const auto tiers = static_cast<int>(plan.tiers.size());
  const ClosTier& top = plan.tiers.back();
  const ClosTier& leaf = plan.tiers.front();
  const std::int64_t down =
      tiers == 1 ? leaf.children : top.children * plan.tiers[plan.tiers.size() - 2].bundle;
  const std::int64_t gateways = whole(inputs, "gateways"), links = whole(inputs, "gateway_links");
  const int radix = tier_class(inputs, tiers).radix;
  if (down + gateways * links > radix) {
    answer.refusals.push_back(fmt::format(
        "{} links down and {} gateways x {} links need {} ports on a top switch of a site, its "
        "radix is {}",
        down, gateways, links, down + gateways * links, radix));
  }
  const std::int64_t needed = top.switches() * links + (sites - 1) * whole(inputs, "wan_links");
  const int gateway_radix = tier_class(inputs, tiers + 1).radix;
  if (needed > gateway_radix) {
    answer.refusals.push_back(fmt::format(
        "a gateway needs {} top switches x {} links + {} sites x {} wide-area links = {} ports, "
        "its "
        "radix is {}",
        top.switches(), links, sites - 1, whole(inputs, "wan_links"), needed, gateway_radix));
  }
  return answer;
}

void ScaleAcross::join_planes(fabric::FabricBuilder& builder, const Inputs& inputs,
                              const ClosPlan& plan, const ClosSwitches& switches) const {
  fabric::DeviceClass gateway = tier_class(inputs, static_cast<int>(plan.tiers.size()) + 1);
  gateway.kind = fabric::DeviceKind::gateway;
  const fabric::DeviceClassId device_class = builder.device_class(gateway);
  const fabric::LinkClassId inside = builder.link_class(inputs.fabric_link);
  fabric::LinkClass wide = inputs.fabric_link;
  wide.kind = fabric::LinkKind::wide_area;
  wide.raw_rate = BitRate::gigabits_per_second(1).scaled(value(inputs, parameters_, "wan_gbps"));
  const double km = value(inputs, parameters_, "distance_km");
  wide.latency = Duration::from_seconds(km * kMicrosecondsPerKm * 1e-6);
  wide.name = fmt::format("wide-area {} over {} km", to_text(wide.raw_rate), km);
  const fabric::LinkClassId across = builder.link_class(wide);
  std::vector<std::vector<DeviceId>> gateways(switches.size());
  for (std::size_t site = 0; site < switches.size(); ++site) {
    for (std::int64_t g = 0; g < whole(inputs, "gateways"); ++g) {
      gateways[site].push_back(builder.add_device(
          device_class, {.name = fmt::format("site{}/gateway{}", site, g),
                         .tier = static_cast<std::uint8_t>(plan.tiers.size() + 1)}));
      for (const DeviceId top : switches[site].back()) {
        for (std::int64_t l = 0; l < whole(inputs, "gateway_links"); ++l) {
          builder.add_link({top, gateways[site].back()}, inside);
        }
      }
    }
  }
  for (std::size_t a = 0; a < gateways.size(); ++a) {
    for (std::size_t b = a + 1; b < gateways.size(); ++b) {
      for (std::size_t g = 0; g < gateways[a].size(); ++g) {
        for (std::int64_t l = 0; l < whole(inputs, "wan_links"); ++l) {
          builder.add_link({gateways[a][g], gateways[b][g]}, across);
        }
      }
    }
  }
}

ClosedForm ScaleAcross::closed_form(const Inputs& inputs) const {
  const ClosPlan plan = this->plan(inputs, HostPorts(inputs)).plan;
  ClosedForm form = ClosTopology::closed_form(inputs);
  const std::int64_t sites = plan.planes, gateways = whole(inputs, "gateways");
  const std::int64_t links = whole(inputs, "gateway_links"), wan = whole(inputs, "wan_links");
  const std::int64_t tops = plan.tiers.back().switches();
  form.parts = 1;
  const TierCounts gateway = {"gateway", form.tiers.back().tier + 1, sites * gateways, 0,
                              sites * (sites - 1) / 2 * gateways * wan};
  form.tiers.back().links_up = sites * gateways * tops * links;
  form.tiers.push_back(gateway);
  *form.switches += gateway.switches;
  *form.switch_links += sites * gateways * tops * links + gateway.links_across;
  form.oversubscription.resize(plan.tiers.size() - 1);
  // Up to a top switch, to any gateway, across, and down again.
  form.diameter_switches = 2 * static_cast<int>(plan.tiers.size()) + 2;
  std::int64_t up = 1, back = tops * links;  // ways from a leaf to the tops, from a gateway to one
  if (plan.tiers.size() > 1) {
    up = plan.tiers.front().up();
    back *= plan.tiers.front().bundle;
  }
  form.shortest_paths = up * gateways * links * wan * back;
  // Two sites: what the hosts send, what the gateways take, what the wide-area links carry.
  form.bisection.reset();
  form.bisection_leaves = sites / 2 * plan.leaves();
  if (sites != 2) return form;
  const double per_host = host_per_fabric(inputs);
  const double wide = value(inputs, parameters_, "wan_gbps") * 1e9 *
                      static_cast<double>(gateways * wan) /
                      static_cast<double>(inputs.host_link.raw_rate.bps());
  const double taken = static_cast<double>(gateways * tops * links) / per_host;
  form.bisection = std::min(wide, taken);
  for (std::size_t site = 0; site < 2; ++site) {
    double sent = 0;
    for (const double leaf : block_capacity(plan, site, plan.tiers.size() - 1, per_host)) {
      sent += leaf;
    }
    form.bisection = std::min(*form.bisection, sent);
  }
  return form;
}

}  // namespace

const Topology& scale_across() {
  static const ScaleAcross kRow;
  return kRow;
}

}  // namespace weft::topology
