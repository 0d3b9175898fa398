// Routing policies on generated networks: dimension order and the dateline on tori, up*/down* on
// all rows, Valiant on a dragonfly under the pattern that is worst for shortest routes.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "conformance/sketch.h"
#include "routing/deadlock.h"
#include "routing/routes.h"

namespace weft {
namespace {

using fabric::DeviceId;
using fabric::DeviceKind;
using fabric::Fabric;
using routing::Channels;
using routing::find_buffer_cycle;
using routing::Policy;
using routing::Routes;
using test::Prepared;
using test::Sketch;

Fabric built(const Sketch& sketch) {
  const Prepared prepared(sketch);
  const topology::Topology& row = *topology::find_topology(sketch.topology);
  EXPECT_EQ(row.refuse(prepared.inputs), std::vector<std::string>{});
  return row.build(prepared.inputs);
}

Sketch one_nic_servers(std::string topology, std::size_t servers, int radix,
                       std::map<std::string, double> parameters) {
  return {.topology = std::move(topology),
          .servers = std::vector<test::ServerSketch>(servers, {1, 1, 1}),
          .radix = radix,
          .parameters = std::move(parameters)};
}

int longest(const Fabric& fabric, const Routes& routes) {
  int most = 0;
  const auto nics = fabric.of_kind(DeviceKind::nic);
  for (const DeviceId from : nics) {
    for (const DeviceId to : nics) {
      std::vector<fabric::LinkId> links;
      EXPECT_TRUE(routes.path(from, to, 5, links));
      EXPECT_EQ(static_cast<int>(links.size()), routes.distance(from, to));
      most = std::max(most, static_cast<int>(links.size()));
    }
  }
  return most;
}

// 5 x 5 x 2: no way is longer than 2 + 2 + 1 links and those of the NICs; rings of five make cycles
// on one channel, the dateline none. (Rings of four have none to begin with: ways half round start
// at even nodes upwards and at odd ones downwards, so that two links in a row never meet the next
// two.) 4 x 4 x 2 as a mesh needs no second channel.
TEST(TorusRoutes, DimensionOrderNeedsTheDateline) {
  const Fabric torus =
      built(one_nic_servers("torus", 50, 8, {{"dim_1", 5}, {"dim_2", 5}, {"dim_3", 2}}));
  const Routes ordered(torus, {.policy = Policy::dimension_order});
  EXPECT_EQ(longest(torus, ordered), 5 + 2);
  EXPECT_FALSE(find_buffer_cycle(torus, ordered).empty());
  EXPECT_TRUE(find_buffer_cycle(torus, ordered, Channels::dateline).empty());
  EXPECT_FALSE(find_buffer_cycle(torus, Routes(torus, {})).empty());
  const Fabric mesh = built(
      one_nic_servers("torus", 32, 8, {{"dim_1", 4}, {"dim_2", 4}, {"dim_3", 2}, {"wrap", 0}}));
  const Routes on_mesh(mesh, {.policy = Policy::dimension_order});
  EXPECT_EQ(longest(mesh, on_mesh), 7 + 2);
  EXPECT_TRUE(find_buffer_cycle(mesh, on_mesh).empty());
}

// up*/down* has no cycle on networks whose shortest routes have; every NIC still reaches every NIC.
TEST(UpDownRoutes, AreFreeOfCyclesOnAnyNetwork) {
  for (const Sketch& sketch :
       {one_nic_servers("torus", 16, 8, {{"dim_1", 4}, {"dim_2", 4}}),
        one_nic_servers("dragonfly", 72, 16, {}), one_nic_servers("fat_tree", 16, 4, {})}) {
    const Fabric fabric = built(sketch);
    const Routes routes(fabric, {.policy = Policy::up_down});
    EXPECT_TRUE(find_buffer_cycle(fabric, routes).empty()) << sketch.topology;
    const int shortest = longest(fabric, Routes(fabric, {}));
    EXPECT_GE(longest(fabric, routes), shortest) << sketch.topology;
    if (sketch.topology == "fat_tree") {
      EXPECT_EQ(longest(fabric, routes), shortest);
    }
  }
}

// The most that a switch-to-switch link carries when NIC i of every group sends to NIC i of the
// next group, in flows.
double fullest(const Fabric& fabric, Policy policy, std::size_t group, std::size_t shift) {
  const Routes routes(fabric, {.policy = policy});
  const auto nics = fabric.of_kind(DeviceKind::nic);
  std::map<fabric::LinkId, double> load;
  for (std::size_t i = 0; i < nics.size(); ++i) {
    std::vector<routing::LinkFraction> links;
    EXPECT_TRUE(routes.spread(nics[i], nics[(i + group * shift) % nics.size()], 0, links));
    for (const auto& [link, fraction] : links) load[link] += fraction;
  }
  double most = 0;
  for (const auto& [link, flows] : load) {
    const bool inside = fabric.kind(fabric.from(link)) == DeviceKind::network_switch &&
                        fabric.kind(fabric.to(link)) == DeviceKind::network_switch;
    if (inside) most = std::max(most, flows);
  }
  return most;
}

// p = 2, a = 4, h = 2, 9 groups of 8 NICs: one link joins a group to the next, and with shortest
// routes it carries nearly all 8 flows (two global links are as short for some), so a NIC gets 1/(a
// p) = 1/8 of its rate at worst. Valiant's detours use all 8 global links twice for 8 flows: about
// 2 on each, half the rate.
TEST(DragonflyRoutes, ValiantSpreadsTheNeighbourPattern) {
  const Fabric fabric = built(one_nic_servers("dragonfly", 72, 16, {{"palmtree", 0}}));
  const double minimal = fullest(fabric, Policy::spray, 8, 1);
  const double detours = fullest(fabric, Policy::valiant, 8, 1);
  EXPECT_GT(minimal, 5);
  EXPECT_LE(minimal, 8);
  EXPECT_LT(detours, 3);
  EXPECT_GE(detours, 1.5);
  const Routes routes(fabric, {});
  EXPECT_EQ(longest(fabric, routes), 3 + 2);  // local, global, local
  EXPECT_FALSE(find_buffer_cycle(fabric, routes).empty());
  EXPECT_TRUE(find_buffer_cycle(fabric, routes, Channels::by_hop).empty());
}

}  // namespace
}  // namespace weft
