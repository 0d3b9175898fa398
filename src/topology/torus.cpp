// Torus or mesh of 1 to 6 dimensions. A node is a server and a small router that all its NIC ports
// and its links to the neighbours are cabled to, as in TPU pods, Tofu or Cray's Gemini: servers do
// not forward. A dimension of size 2 has one link, not two between the same nodes. Source: W.
// Dally, B. Towles, "Principles and Practices of Interconnection Networks", 2004, chapter 5. Leaves
// out: twisted tori, nodes without a server.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "base/check.h"
#include "topology/clos.h"
#include "topology/parameters.h"

namespace weft::topology {

namespace {

using fabric::DeviceId;
using Sizes = std::vector<std::int64_t>;

constexpr int kMostDimensions = 6;

class Torus : public Topology {
 public:
  std::string_view name() const override { return "torus"; }
  std::string_view summary() const override {
    return "A router for each server in a torus or mesh of 1 to 6 dimensions.";
  }
  std::span<const Parameter> parameters() const override { return parameters_; }
  std::vector<std::string> refuse(const Inputs& inputs) const override;
  fabric::Fabric build(const Inputs& inputs) const override;
  ClosedForm closed_form(const Inputs& inputs) const override;

 private:
  struct Shape {
    Sizes sizes;
    bool wrap = true;
    std::int64_t links = 1;  // parallel cables to a neighbour
  };
  Shape shape_of(const Inputs& inputs) const;

  std::array<Parameter, kMostDimensions + 3> parameters_ = {
      size_parameter(1),
      size_parameter(2),
      size_parameter(3),
      size_parameter(4),
      size_parameter(5),
      size_parameter(6),
      Parameter{"wrap", "", 1, 0, 1, "1: every dimension is a ring (torus); 0: a line (mesh)",
                true},
      Parameter{"links", "cables", 1, 1, 64, "parallel cables to each neighbour", true},
      radix_parameter(),
  };

  static Parameter size_parameter(int dimension) {
    return {.name = fmt::format("dim_{}", dimension),
            .unit = "nodes",
            .default_value = kDerived,
            .min = 1,
            .max = 65536,
            .meaning = fmt::format("nodes in dimension {}; default: 1, or, where no dimension is "
                                   "given, three as equal as the servers allow",
                                   dimension),
            .whole = true};
  }
};

// Three factors, largest first, with the least sum.
Sizes cubic(std::int64_t nodes) {
  Sizes best = {nodes, 1, 1};
  for (std::int64_t c = 1; c * c * c <= nodes; ++c) {
    if (nodes % c != 0) continue;
    for (std::int64_t b = c; b * b <= nodes / c; ++b) {
      if (nodes / c % b != 0) continue;
      const Sizes found = {nodes / c / b, b, c};
      if (std::reduce(found.begin(), found.end()) < std::reduce(best.begin(), best.end())) {
        best = found;
      }
    }
  }
  return best;
}

// Cables between neighbours along a dimension for each line of it.
std::int64_t steps(std::int64_t size, bool wrap) {
  return wrap && size > 2 ? size : size - 1;
}

std::int64_t product(const Sizes& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>());
}

Torus::Shape Torus::shape_of(const Inputs& inputs) const {
  Shape shape;
  for (int d = 1; d <= kMostDimensions; ++d) {
    const auto given = whole_value(inputs, parameters_, fmt::format("dim_{}", d));
    if (!given) continue;
    while (static_cast<int>(shape.sizes.size()) < d - 1) shape.sizes.push_back(1);
    shape.sizes.push_back(*given);
  }
  if (shape.sizes.empty()) shape.sizes = cubic(static_cast<std::int64_t>(inputs.servers.size()));
  shape.wrap = *whole_value(inputs, parameters_, "wrap") == 1;
  shape.links = *whole_value(inputs, parameters_, "links");
  return shape;
}

std::string written(const Sizes& sizes) {
  return fmt::format("{}", fmt::join(sizes, " x "));
}

std::vector<std::string> Torus::refuse(const Inputs& inputs) const {
  std::vector<std::string> faults = check_inputs(inputs, parameters_);
  if (!faults.empty()) return faults;
  const Shape shape = shape_of(inputs);
  const auto servers = static_cast<std::int64_t>(inputs.servers.size());
  double nodes = 1;
  for (const std::int64_t size : shape.sizes) nodes *= static_cast<double>(size);
  if (nodes != static_cast<double>(servers)) {
    return {fmt::format("{} = {:.0f} nodes, each with one server, and there are {} servers",
                        written(shape.sizes), nodes, servers)};
  }
  std::int64_t neighbours = 0;
  for (const std::int64_t size : shape.sizes) neighbours += std::min<std::int64_t>(size - 1, 2);
  const HostPorts ports(inputs);
  const int radix = tier_class(inputs, 1).radix;
  for (std::size_t server = 0; server < ports.server_count(); ++server) {
    const std::int64_t own = ports.shape(server).ports;
    const std::int64_t needed = own + neighbours * shape.links;
    if (own == 0) {
      return {fmt::format("server {} has no NIC port, so its node could not be reached", server)};
    }
    if (radix != 0 && needed > radix) {
      return {
          fmt::format("a router needs {} ports for NICs + {} neighbours x {} links = {} ports, "
                      "its radix is {}",
                      own, neighbours, shape.links, needed, radix)};
    }
  }
  return {};
}

// Cables of every node to its next one along each dimension; strides count the last fastest.
void add_grid_links(fabric::FabricBuilder& builder, fabric::LinkClassId link_class,
                    const Sizes& sizes, bool wrap, std::int64_t links,
                    const std::vector<DeviceId>& routers) {
  const auto nodes = static_cast<std::int64_t>(routers.size());
  std::int64_t stride = nodes;
  for (const std::int64_t size : sizes) {
    stride /= size;
    for (std::int64_t node = 0; node < nodes; ++node) {
      const std::int64_t at = node / stride % size;
      if (at + 1 == size && (!wrap || size <= 2)) continue;
      const std::int64_t next = at + 1 == size ? node - at * stride : node + stride;
      for (std::int64_t l = 0; l < links; ++l) {
        builder.add_link(
            {routers[static_cast<std::size_t>(node)], routers[static_cast<std::size_t>(next)]},
            link_class);
      }
    }
  }
}

fabric::Fabric Torus::build(const Inputs& inputs) const {
  const Shape shape = shape_of(inputs);
  const HostPorts ports(inputs);
  fabric::FabricBuilder builder;
  const std::vector<DeviceId> first_device = stamp_servers(builder, inputs);
  const fabric::DeviceClassId router = builder.device_class(tier_class(inputs, 1));
  std::vector<DeviceId> routers;
  for (std::int64_t node = 0; node < product(shape.sizes); ++node) {
    std::string name = "router";
    std::int64_t stride = product(shape.sizes);
    for (const std::int64_t size : shape.sizes) {
      stride /= size;
      name += fmt::format("{}{}", name == "router" ? "" : ".", node / stride % size);
    }
    routers.push_back(builder.add_device(router, {.name = name, .tier = 1}));
  }
  const fabric::LinkClassId host_link = builder.link_class(inputs.host_link);
  for (std::size_t server = 0; server < ports.server_count(); ++server) {
    const ServerShape& of = ports.shape(server);
    for (std::size_t n = 0; n < of.nics.size(); ++n) {
      const DeviceId nic(first_device[server].index() + of.nics[n].index());
      for (int p = 0; p < of.nic_ports[n]; ++p) builder.add_link({nic, routers[server]}, host_link);
    }
  }
  add_grid_links(builder, builder.link_class(inputs.fabric_link), shape.sizes, shape.wrap,
                 shape.links, routers);
  fabric::Grid grid{.first = routers.front(), .size = {}, .wrap = shape.wrap};
  for (const std::int64_t size : shape.sizes) {
    grid.size.push_back(static_cast<std::uint32_t>(size));
  }
  builder.set_grid(std::move(grid));
  return std::move(builder).build();
}

// Orders in which the hops of each dimension can follow one another, times the cables of each hop;
// nullopt where the number does not fit.
std::optional<std::int64_t> count_paths(const Sizes& distances, std::int64_t links) {
  constexpr double kMost = 9e15;
  double ways = 1;
  std::int64_t hops = 0;
  for (const std::int64_t distance : distances) {
    for (std::int64_t i = 1; i <= distance; ++i) {
      ++hops;  // binomial(hops so far, i), whole at every step
      ways = ways * static_cast<double>(hops) / static_cast<double>(i);
    }
  }
  for (std::int64_t i = 0; i < hops; ++i) ways *= static_cast<double>(links);
  if (ways > kMost) return std::nullopt;
  return std::llround(ways);
}

ClosedForm Torus::closed_form(const Inputs& inputs) const {
  const Shape shape = shape_of(inputs);
  const HostPorts ports(inputs);
  const std::int64_t nodes = product(shape.sizes);
  ClosedForm form;
  form.hosts = ports.count();
  form.switches = nodes;
  form.switch_links = 0;
  form.diameter_switches = 1;
  Sizes corner;  // distances from the first node to the last
  for (const std::int64_t size : shape.sizes) {
    *form.switch_links += nodes / size * steps(size, shape.wrap) * shape.links;
    *form.diameter_switches += static_cast<int>(shape.wrap ? size / 2 : size - 1);
    corner.push_back(shape.wrap ? std::min<std::int64_t>(size - 1, 1) : size - 1);
  }
  form.tiers = {{"node", 1, nodes, 0, *form.switch_links}};
  form.shortest_paths = count_paths(corner, shape.links);
  // Across the first dimension of two or more, halved: two cables (one of a line) for each node of
  // a cross-section. Every line of nodes can fill its own cables.
  const auto cut = std::find_if(shape.sizes.begin(), shape.sizes.end(),
                                [](std::int64_t size) { return size > 1; });
  bool equal = true;
  for (std::size_t i = 1; i < ports.server_count(); ++i) {
    equal = equal && ports.shape(i).ports == ports.shape(0).ports;
  }
  if (!equal || cut == shape.sizes.end() || *cut % 2 != 0) return form;
  const std::int64_t across = nodes / *cut * (shape.wrap && *cut > 2 ? 2 : 1) * shape.links;
  form.bisection = std::min(static_cast<double>(ports.count()) / 2,
                            static_cast<double>(across) / host_per_fabric(inputs));
  return form;
}

}  // namespace

const Topology& torus() {
  static const Torus kRow;
  return kRow;
}

}  // namespace weft::topology
