// Dragonfly: groups of `a` switches, all of a group joined to one another, with `h` global links a
// switch that join every pair of groups with equally many cables; `p` NIC ports a switch. Balanced
// when a = 2p = 2h. Source: J. Kim, W. Dally, S. Scott, D. Abts, "Technology-Driven,
// Highly-Scalable Dragonfly Topology", ISCA 2008; palmtree arrangement: C. Camarero, E. Vallejo, R.
// Beivide, "Topological Characterization of Hamming and Dragonfly Networks", TACO 11(4), 2014.
// Leaves out: groups that are not fully joined (dragonfly+), unequal bundles between groups.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "topology/clos.h"
#include "topology/parameters.h"

namespace weft::topology {

namespace {

using fabric::DeviceId;

class Dragonfly : public Topology {
 public:
  std::string_view name() const override { return "dragonfly"; }
  std::string_view summary() const override {
    return "Fully joined groups of switches, every two groups joined by global links.";
  }
  std::span<const Parameter> parameters() const override { return parameters_; }
  std::vector<std::string> refuse(const Inputs& inputs) const override;
  fabric::Fabric build(const Inputs& inputs) const override;
  ClosedForm closed_form(const Inputs& inputs) const override;

 private:
  struct Shape {
    std::int64_t p = 0, a = 0, h = 0, g = 0;
    bool palmtree = true;
    // Cables between two groups.
    [[nodiscard]] std::int64_t bundle() const { return g > 1 ? a * h / (g - 1) : 0; }
  };
  Shape shape_of(const Inputs& inputs) const;

  std::array<Parameter, 6> parameters_ = {
      Parameter{"p", "ports", kDerived, 1, 65536, "NIC ports of a switch; default: h", true},
      Parameter{"a", "switches", kDerived, 1, 65536, "switches of a group; default: 2 h", true},
      Parameter{"h", "cables", kDerived, 1, 65536,
                "global links of a switch; default: the fewest whose groups hold the NIC ports",
                true},
      Parameter{"g", "groups", kDerived, 1, 1e6,
                "groups, at most a h + 1; default: as many as the NIC ports fill", true},
      Parameter{"palmtree", "", 1, 0, 1,
                "global wiring: 1: link i of a group leads to the group i + 1 before it; 0: to the "
                "groups in order (consecutive)",
                true},
      radix_parameter(),
  };
};

Dragonfly::Shape Dragonfly::shape_of(const Inputs& inputs) const {
  const std::int64_t ports = HostPorts(inputs).count();
  Shape shape;
  const auto fill = [&](std::int64_t h) {
    shape.h = h;
    shape.p = whole_value(inputs, parameters_, "p").value_or(h);
    shape.a = whole_value(inputs, parameters_, "a").value_or(2 * h);
    return shape.p * shape.a * (shape.a * shape.h + 1);
  };
  if (const auto h = whole_value(inputs, parameters_, "h")) {
    fill(*h);
  } else {
    for (std::int64_t most = 1; fill(most) < ports && most < 65536; ++most) {
    }
  }
  shape.g = whole_value(inputs, parameters_, "g")
                .value_or((ports + shape.p * shape.a - 1) / (shape.p * shape.a));
  shape.palmtree = *whole_value(inputs, parameters_, "palmtree") == 1;
  return shape;
}

std::vector<std::string> Dragonfly::refuse(const Inputs& inputs) const {
  std::vector<std::string> faults = check_inputs(inputs, parameters_);
  if (!faults.empty()) return faults;
  const Shape s = shape_of(inputs);
  const std::int64_t ports = HostPorts(inputs).count();
  if (s.p * s.a * s.g < ports) {
    faults.push_back(fmt::format("p {} x a {} x g {} = {} places for {} NIC ports", s.p, s.a, s.g,
                                 s.p * s.a * s.g, ports));
  }
  if (s.g > s.a * s.h + 1) {
    faults.push_back(
        fmt::format("{} groups need {} global links in each for a link to every other, a {} x h {} "
                    "are {}",
                    s.g, s.g - 1, s.a, s.h, s.a * s.h));
  }
  const int radix = tier_class(inputs, 1).radix;
  const std::int64_t needed = s.p + s.a - 1 + (s.g > 1 ? s.h : 0);
  if (radix != 0 && needed > radix) {
    faults.push_back(
        fmt::format("a switch needs p {} + (a {} - 1) + h {} = {} ports, its radix is "
                    "{}",
                    s.p, s.a, s.g > 1 ? s.h : 0, needed, radix));
  }
  return faults;
}

fabric::Fabric Dragonfly::build(const Inputs& inputs) const {
  const Shape s = shape_of(inputs);
  const HostPorts ports(inputs);
  fabric::FabricBuilder builder;
  const std::vector<DeviceId> first_device = stamp_servers(builder, inputs);
  const fabric::DeviceClassId device_class = builder.device_class(tier_class(inputs, 1));
  std::vector<DeviceId> switches;
  for (std::int64_t i = 0; i < s.a * s.g; ++i) {
    switches.push_back(builder.add_device(
        device_class, {.name = fmt::format("group{}/switch{}", i / s.a, i % s.a), .tier = 1}));
  }
  const fabric::LinkClassId host_link = builder.link_class(inputs.host_link);
  std::int64_t port = 0;
  for (std::size_t server = 0; server < ports.server_count(); ++server) {
    const ServerShape& of = ports.shape(server);
    for (std::size_t n = 0; n < of.nics.size(); ++n) {
      const DeviceId nic(first_device[server].index() + of.nics[n].index());
      for (int p = 0; p < of.nic_ports[n]; ++p, ++port) {
        builder.add_link({nic, switches[static_cast<std::size_t>(port / s.p)]}, host_link);
      }
    }
  }
  const fabric::LinkClassId link = builder.link_class(inputs.fabric_link);
  const auto at = [&](std::int64_t group, std::int64_t place) {
    return switches[static_cast<std::size_t>(group * s.a + place)];
  };
  for (std::int64_t group = 0; group < s.g; ++group) {
    for (std::int64_t i = 0; i < s.a; ++i) {
      for (std::int64_t j = i + 1; j < s.a; ++j)
        builder.add_link({at(group, i), at(group, j)}, link);
    }
  }
  // Global port q = copy x (g - 1) + o of a group is on switch q / h. Offset o leads to the group
  // o + 1 before (palmtree) or to the o-th other group; the far end's offset follows.
  for (std::int64_t q = 0; q < s.bundle() * (s.g - 1); ++q) {
    const std::int64_t copy = q / (s.g - 1), o = q % (s.g - 1);
    for (std::int64_t group = 0; group < s.g; ++group) {
      const std::int64_t far = s.palmtree ? (group - o - 1 + s.g) % s.g : o + (o >= group ? 1 : 0);
      if (far < group) continue;  // one cable for both ends
      const std::int64_t back = s.palmtree ? s.g - 2 - o : group - (group > far ? 1 : 0);
      builder.add_link({at(group, q / s.h), at(far, (copy * (s.g - 1) + back) / s.h)}, link);
    }
  }
  return std::move(builder).build();
}

ClosedForm Dragonfly::closed_form(const Inputs& inputs) const {
  const Shape s = shape_of(inputs);
  const std::int64_t ports = HostPorts(inputs).count();
  ClosedForm form;
  form.hosts = ports;
  form.switches = s.a * s.g;
  form.switch_links = s.g * s.a * (s.a - 1) / 2 + s.bundle() * s.g * (s.g - 1) / 2;
  form.tiers = {{"router", 1, *form.switches, 0, *form.switch_links}};
  const bool full = ports == s.p * s.a * s.g;
  // Local, global, local joins any two switches. Where two hops cannot reach all of them (a - 1
  // local, h global, and one more of either kind), some pair needs all three.
  const std::int64_t two_hops = s.a + s.h + s.h * (s.a - 1) * 2 + s.h * (s.h - 1);
  if (full && s.g == 1) form.diameter_switches = s.a == 1 ? 1 : 2;
  if (full && s.g > 1 && s.a * s.g > two_hops) form.diameter_switches = 4;
  // Groups in halves: all bundles across, where each switch has NICs enough to fill its own.
  if (full && s.g > 1 &&
      static_cast<double>(s.p) * host_per_fabric(inputs) >= static_cast<double>(s.h)) {
    const std::int64_t half = s.g / 2;
    form.bisection =
        static_cast<double>(s.bundle() * half * (s.g - half)) / host_per_fabric(inputs);
    form.bisection_leaves = half * s.a;
  }
  return form;
}

}  // namespace

const Topology& dragonfly() {
  static const Dragonfly kRow;
  return kRow;
}

}  // namespace weft::topology
