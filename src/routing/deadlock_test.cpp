#include "routing/deadlock.h"

#include <gtest/gtest.h>

#include "routing/hand_drawn_test.h"

namespace weft::routing {
namespace {

using fabric::DeviceId;
using fabric::Fabric;
using fabric::LinkId;
using test::Drawing;

// Switches in a ring, a NIC on each.
Fabric ring(int count) {
  Drawing drawing;
  const auto s = drawing.add_switches(count);
  for (int i = 0; i < count; ++i) {
    drawing.cable(s[static_cast<std::size_t>(i)], s[static_cast<std::size_t>((i + 1) % count)]);
  }
  for (const DeviceId at : s) drawing.add_nic({at});
  return drawing.done();
}

// Minimal routes between opposite corners of a ring of four turn every corner both ways: the four
// clockwise links wait for one another.
TEST(Deadlock, RingOfFourWithMinimalRoutesHasACycle) {
  const Fabric fabric = ring(4);
  const Routes routes(fabric, {});
  const std::vector<LinkId> cycle = find_buffer_cycle(fabric, routes);
  ASSERT_EQ(cycle.size(), 4u);
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    EXPECT_EQ(fabric.to(cycle[i]), fabric.from(cycle[(i + 1) % cycle.size()]));
  }
}

// In a triangle every switch is next to every other: no route passes through one.
TEST(Deadlock, RingOfThreeHasNone) {
  const Fabric fabric = ring(3);
  EXPECT_TRUE(find_buffer_cycle(fabric, Routes(fabric, {})).empty());
}

TEST(Deadlock, LeafSpineHasNone) {
  Drawing drawing;
  const auto leaf = drawing.add_switches(4), spine = drawing.add_switches(2);
  for (const DeviceId l : leaf) {
    for (const DeviceId s : spine) drawing.cable(l, s);
    drawing.add_nic({l});
  }
  const Fabric fabric = drawing.done();
  EXPECT_TRUE(find_buffer_cycle(fabric, Routes(fabric, {})).empty());
}

// A leaf-spine that lost cables: leaf0 reaches leaf2 only by bouncing off leaf1 (down and up
// again). leaf0-spine0-leaf1-spine1-leaf2-spine2-leaf0 closes the ring.
TEST(Deadlock, BouncesAfterLostCablesCloseACycle) {
  Drawing drawing;
  const auto leaf = drawing.add_switches(5), spine = drawing.add_switches(5);
  for (std::size_t i = 0; i < 5; ++i) {
    drawing.cable(leaf[i], spine[i]);
    drawing.cable(leaf[(i + 1) % 5], spine[i]);
    drawing.add_nic({leaf[i]});
  }
  const Fabric fabric = drawing.done();
  EXPECT_EQ(find_buffer_cycle(fabric, Routes(fabric, {})).size(), 10u);
}

}  // namespace
}  // namespace weft::routing
