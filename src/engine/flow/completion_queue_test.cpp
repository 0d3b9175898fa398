#include "engine/flow/completion_queue.h"

#include <gtest/gtest.h>

#include <map>

#include "base/random.h"

namespace weft::engine {
namespace {

Instant at(std::int64_t ps) {
  return Instant::at(Duration::picoseconds(ps));
}

TEST(CompletionQueue, OrdersByInstantThenNumber) {
  CompletionQueue queue;
  queue.set(2, at(10));
  queue.set(1, at(10));
  queue.set(0, at(30));
  EXPECT_EQ(queue.front(), 1u);
  queue.set(1, at(40));
  EXPECT_EQ(queue.front(), 2u);
  queue.erase(2);
  EXPECT_EQ(queue.front(), 0u);
  EXPECT_EQ(queue.front_time(), at(30));
}

TEST(CompletionQueue, AgreesWithASortedMapOverRandomChanges) {
  CompletionQueue queue;
  std::map<std::uint32_t, Instant> model;
  RandomStream random(3, 0);
  for (int i = 0; i < 20'000; ++i) {
    const auto flow = static_cast<std::uint32_t>(random.below(200));
    if (random.below(3) == 0 && model.count(flow) == 1) {
      queue.erase(flow);
      model.erase(flow);
    } else {
      const Instant when = at(static_cast<std::int64_t>(random.below(1000)));
      queue.set(flow, when);
      model[flow] = when;
    }
    ASSERT_EQ(queue.empty(), model.empty());
    if (model.empty()) continue;
    auto first = model.begin();
    for (auto it = model.begin(); it != model.end(); ++it)
      if (it->second < first->second) first = it;
    ASSERT_EQ(queue.front(), first->first);
    ASSERT_EQ(queue.front_time(), first->second);
  }
}

}  // namespace
}  // namespace weft::engine
