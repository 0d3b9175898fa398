#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "routing/deadlock.h"
#include "routing/hand_drawn_test.h"
#include "routing/routes.h"

namespace weft::routing {
namespace {

using fabric::DeviceId;
using fabric::DeviceKind;
using fabric::Fabric;
using fabric::LinkId;
using test::Drawing;

Routes with(const Fabric& fabric, Policy policy) {
  return Routes(fabric, {.policy = policy});
}

std::map<LinkId, double> spread(const Routes& routes, DeviceId from, DeviceId to) {
  std::vector<LinkFraction> links;
  EXPECT_TRUE(routes.spread(from, to, 7, links));
  std::map<LinkId, double> shares;
  for (const LinkFraction& link : links) {
    EXPECT_TRUE(shares.emplace(link.link, link.fraction).second) << "a link twice";
  }
  return shares;
}

// What leaves a device is what came in; all of it leaves `from` and reaches `to`.
void expect_conserved(const Fabric& fabric, const Routes& routes, DeviceId from, DeviceId to) {
  std::map<DeviceId, double> balance;
  for (const auto& [link, share] : spread(routes, from, to)) {
    EXPECT_GT(share, 0);
    balance[fabric.from(link)] -= share;
    balance[fabric.to(link)] += share;
  }
  for (const auto& [device, sum] : balance) {
    EXPECT_NEAR(sum, device == from ? -1 : device == to ? 1 : 0, 1e-12) << fabric.name(device);
  }
}

TEST(Policies, NamesReadBack) {
  for (const std::string& name : policy_names()) EXPECT_EQ(to_text(*parse_policy(name)), name);
  EXPECT_FALSE(parse_policy("sprays"));
}

// Two leaves, four spines; spine 0 has two cables to each leaf, so five ways up: 1/5 a cable, and
// 1/2 of what reached spine 0 (2/5) on each of its cables down.
TEST(Spray, SplitsEquallyAtEveryDevice) {
  Drawing drawing;
  const auto leaf = drawing.add_switches(2), spine = drawing.add_switches(4);
  std::vector<LinkId> up, down;
  for (const std::size_t s : {0, 0, 1, 2, 3}) {
    up.push_back(drawing.cable(leaf[0], spine[s]));
    down.push_back(drawing.cable(spine[s], leaf[1]));
  }
  const DeviceId from = drawing.add_nic({leaf[0]}), to = drawing.add_nic({leaf[1]});
  const Fabric fabric = drawing.done();
  const Routes routes = with(fabric, Policy::spray);
  const auto shares = spread(routes, from, to);
  EXPECT_EQ(shares.size(), 12u);
  for (std::size_t i = 0; i < up.size(); ++i) {
    EXPECT_DOUBLE_EQ(shares.at(up[i]), 0.2);
    EXPECT_DOUBLE_EQ(shares.at(down[i]), 0.2);
  }
  expect_conserved(fabric, routes, from, to);
}

// A NIC on two leaves of which one has an 800G and a 400G link up, the other two of 400G. Spray:
// 1/2 to each leaf, 1/4 on each link up. Adaptive: the NIC's ports are equal, the first leaf splits
// 2:1.
TEST(Adaptive, SplitsByRate) {
  Drawing drawing;
  const auto leaf = drawing.add_switches(3), spine = drawing.add_switches(2);
  const LinkId fast = drawing.fast_cable(leaf[0], spine[0]);
  const LinkId slow = drawing.cable(leaf[0], spine[1]);
  const LinkId other = drawing.cable(leaf[1], spine[0]);
  drawing.cable(leaf[1], spine[1]);
  for (const DeviceId s : spine) drawing.cable(s, leaf[2]);
  const DeviceId from = drawing.add_nic({leaf[0], leaf[1]}), to = drawing.add_nic({leaf[2]});
  const Fabric fabric = drawing.done();
  EXPECT_DOUBLE_EQ(spread(with(fabric, Policy::spray), from, to).at(fast), 0.25);
  const auto shares = spread(with(fabric, Policy::adaptive), from, to);
  EXPECT_DOUBLE_EQ(shares.at(fast), 1.0 / 3);
  EXPECT_DOUBLE_EQ(shares.at(slow), 1.0 / 6);
  EXPECT_DOUBLE_EQ(shares.at(other), 0.25);
  expect_conserved(fabric, with(fabric, Policy::adaptive), from, to);
}

int ring_distance(int a, int b, int size, bool wrap) {
  const int straight = std::abs(a - b);
  return wrap ? std::min(straight, size - straight) : straight;
}

// Every path is as long as the distances of both dimensions, goes through the first dimension
// before the second, and takes two links more for the NICs.
void check_dimension_order(int rows, int columns, bool wrap) {
  Drawing drawing;
  drawing.grid(static_cast<std::size_t>(rows), static_cast<std::size_t>(columns), wrap);
  const Fabric fabric = drawing.done();
  const Routes routes = with(fabric, Policy::dimension_order);
  const auto nics = fabric.of_kind(DeviceKind::nic);
  for (int a = 0; a < rows * columns; ++a) {
    for (int b = 0; b < rows * columns; ++b) {
      if (a == b) continue;
      std::vector<LinkId> links;
      ASSERT_TRUE(routes.path(nics[static_cast<std::size_t>(a)], nics[static_cast<std::size_t>(b)],
                              0, links));
      EXPECT_EQ(static_cast<int>(links.size()),
                2 + ring_distance(a / columns, b / columns, rows, wrap) +
                    ring_distance(a % columns, b % columns, columns, wrap));
      bool second = false;
      for (std::size_t i = 1; i + 1 < links.size(); ++i) {
        const auto from = static_cast<int>(fabric.from(links[i]).index());
        const auto to = static_cast<int>(fabric.to(links[i]).index());
        const bool in_second = from / columns == to / columns;
        EXPECT_TRUE(in_second || !second) << "back to the first dimension";
        second = in_second;
      }
    }
  }
}

TEST(DimensionOrder, PathsAreShortestAndInOrder) {
  check_dimension_order(4, 5, true);
  check_dimension_order(2, 6, false);
}

TEST(DimensionOrder, NeedsAGrid) {
  Drawing drawing;
  drawing.add_nic(drawing.add_switches(1));
  const Fabric fabric = drawing.done();
  EXPECT_NE(refuse_policy(fabric, Policy::dimension_order), "");
  EXPECT_EQ(refuse_policy(fabric, Policy::up_down), "");
}

// Rings of five wait in a circle whatever the order of dimensions; the second channel from the
// dateline on breaks them. In any order of dimensions turns close circles even with two channels.
TEST(Deadlock, TorusNeedsDimensionOrderAndADateline) {
  Drawing drawing;
  drawing.grid(5, 5, true);
  const Fabric fabric = drawing.done();
  const Routes minimal(fabric, {});
  EXPECT_FALSE(find_buffer_cycle(fabric, minimal).empty());
  EXPECT_FALSE(find_buffer_cycle(fabric, minimal, Channels::dateline).empty());
  EXPECT_TRUE(find_buffer_cycle(fabric, minimal, Channels::by_hop).empty());
  const Routes ordered = with(fabric, Policy::dimension_order);
  EXPECT_FALSE(find_buffer_cycle(fabric, ordered).empty());
  EXPECT_TRUE(find_buffer_cycle(fabric, ordered, Channels::dateline).empty());
}

// Without wrap the order of dimensions is enough.
TEST(Deadlock, MeshNeedsDimensionOrder) {
  Drawing drawing;
  drawing.grid(4, 4, false);
  const Fabric fabric = drawing.done();
  EXPECT_FALSE(find_buffer_cycle(fabric, Routes(fabric, {})).empty());
  EXPECT_TRUE(find_buffer_cycle(fabric, with(fabric, Policy::dimension_order)).empty());
}

// On a ring of six, up*/down* cuts the ring opposite its root: no cycle, and next neighbours across
// the cut (switches 3 and 2 + 1 hop, or 3 and 4) still meet, if need be the long way.
TEST(UpDown, BreaksTheCyclesOfARing) {
  Drawing drawing;
  drawing.grid(1, 6, true);
  const Fabric fabric = drawing.done();
  const Routes routes = with(fabric, Policy::up_down);
  EXPECT_FALSE(find_buffer_cycle(fabric, Routes(fabric, {})).empty());
  EXPECT_TRUE(find_buffer_cycle(fabric, routes).empty());
  const auto nics = fabric.of_kind(DeviceKind::nic);
  // Levels from root 0: 0 1 2 3 2 1. 2 to 4 through 3 goes down, then up: not allowed, so through
  // 0: 4 switch links instead of 2.
  EXPECT_EQ(routes.distance(nics[2], nics[4]), 2 + 4);
  EXPECT_EQ(routes.distance(nics[1], nics[5]), 2 + 2);
  for (const DeviceId from : nics) {
    for (const DeviceId to : nics) {
      std::vector<LinkId> links;
      ASSERT_TRUE(routes.path(from, to, 3, links));
      EXPECT_EQ(static_cast<int>(links.size()), routes.distance(from, to));
    }
  }
}

// A ring of eight: bytes over each of the six other groups in equal parts, sprayed both ways.
TEST(Valiant, SpreadsOverAllOtherGroups) {
  Drawing drawing;
  drawing.grid(1, 8, true);
  const Fabric fabric = drawing.done();
  const Routes routes = with(fabric, Policy::valiant);
  const auto nics = fabric.of_kind(DeviceKind::nic);
  expect_conserved(fabric, routes, nics[0], nics[1]);
  // Hops between switches 0 -> m -> 1 for m = 2..7: 2+1, 3+2, 4+3, 3+4, 2+3, 1+2 = 30 over six, and
  // the two links of the NICs.
  double hops = 0;
  for (const auto& [link, share] : spread(routes, nics[0], nics[1])) hops += share;
  EXPECT_NEAR(hops, 5 + 2, 1e-12);
  for (std::uint64_t entropy = 0; entropy < 50; ++entropy) {
    std::vector<LinkId> links;
    ASSERT_TRUE(routes.path(nics[0], nics[1], entropy, links));
    DeviceId at = nics[0];
    for (const LinkId link : links) {
      ASSERT_EQ(fabric.from(link), at);
      at = fabric.to(link);
    }
    EXPECT_EQ(at, nics[1]);
  }
}

}  // namespace
}  // namespace weft::routing
