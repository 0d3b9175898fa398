// The calendar gives what was put in, ordered by (time, entity), whatever the width of its buckets.
#include "engine/packet/event_queue.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "base/random.h"

namespace weft::engine::packet {
namespace {

// Holds `pending` events; each one taken puts another in, `spread` ahead at most, now and then a
// thousand times that.
void compare_with_a_set(std::size_t pending, std::uint64_t spread) {
  EventQueue queue;
  std::set<std::pair<Time, std::uint32_t>> expected;
  RandomStream random(7, pending * 31 + spread);
  const auto add = [&](Time now) {
    const std::uint64_t reach = random.below(50) == 0 ? spread * 1000 : spread;
    const std::pair entry{now + static_cast<Time>(random.below(reach)),
                          static_cast<std::uint32_t>(random.below(1u << 30))};
    if (expected.insert(entry).second) queue.push(entry.first, entry.second);
  };
  for (std::size_t i = 0; i < pending; ++i) add(0);
  for (std::size_t i = 0; i < 60 * pending; ++i) {
    EventQueue::Event event;
    ASSERT_TRUE(queue.pop(event));
    ASSERT_EQ(event.when, expected.begin()->first);
    ASSERT_EQ(event.entity, expected.begin()->second);
    expected.erase(expected.begin());
    add(event.when);
    if (expected.empty()) add(event.when);
  }
  EXPECT_EQ(queue.size(), expected.size());
}

TEST(EventQueue, KeepsOrderAtEveryDensity) {
  for (const std::size_t pending : {1u, 3u, 40u, 3000u}) {
    for (const std::uint64_t spread : {1ull, 500ull, 1'000'000ull, 50'000'000ull}) {
      compare_with_a_set(pending, spread);
    }
  }
}

TEST(EventQueue, ThousandsAtOneInstantComeByEntity) {
  EventQueue queue;
  for (std::uint32_t i = 5000; i-- > 0;) queue.push(77, i);
  EventQueue::Event event;
  for (std::uint32_t i = 0; i < 5000; ++i) {
    ASSERT_TRUE(queue.pop(event));
    EXPECT_EQ(event.when, 77);
    EXPECT_EQ(event.entity, i);
  }
  EXPECT_FALSE(queue.pop(event));
}

}  // namespace
}  // namespace weft::engine::packet
