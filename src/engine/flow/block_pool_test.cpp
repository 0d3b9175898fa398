#include "engine/flow/block_pool.h"

#include <gtest/gtest.h>

namespace weft::engine {
namespace {

TEST(BlockPool, WastesAtMostAQuarter) {
  for (std::uint32_t count = 1; count < 100'000; count += 1 + count / 50) {
    const std::uint32_t room = BlockPool<int>::room_for(count);
    EXPECT_GE(room, count);
    EXPECT_LE(room, count + count / 4);
    EXPECT_EQ(BlockPool<int>::room_for(room), room);  // a block's own room is its class
  }
}

TEST(BlockPool, GivesABlockOutAgain) {
  BlockPool<int> pool;
  const std::uint32_t a = pool.take(9);
  const std::uint32_t b = pool.take(9);
  EXPECT_EQ(b, a + 10);  // 9 is served from the class of 10
  pool.give_back(a, 9);
  EXPECT_EQ(pool.take(10), a);
  EXPECT_EQ(pool.take(10), b + 10);
}

}  // namespace
}  // namespace weft::engine
