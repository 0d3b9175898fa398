#include "base/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/random.h"

namespace weft {
namespace {

TEST(Histogram, SmallValuesAreExact) {
  Histogram h;
  for (std::uint64_t v = 1; v <= 100; ++v) h.add(v);
  EXPECT_EQ(h.quantile(0.5), 50u);  // nearest rank: ceil(0.5 x 100) = the 50th smallest
  EXPECT_EQ(h.quantile(0.99), 99u);
  EXPECT_EQ(h.quantile(1), 100u);
  EXPECT_EQ(h.quantile(0), 1u);
  EXPECT_DOUBLE_EQ(h.mean(), 50.5);  // (1 + 100) / 2
}

TEST(Histogram, QuantilesAreWithinAStepOfTheExactOnes) {
  Histogram h;
  std::vector<std::uint64_t> values;
  RandomStream random(7, 0);
  for (int i = 0; i < 5000; ++i) {
    const auto value = static_cast<std::uint64_t>(std::exp(random.uniform() * 40));
    values.push_back(value);
    h.add(value);
  }
  std::sort(values.begin(), values.end());
  for (const double part : {0.01, 0.25, 0.5, 0.9, 0.99, 0.999}) {
    const auto exact = values[static_cast<std::size_t>(std::ceil(part * 5000)) - 1];
    EXPECT_LE(h.quantile(part), exact) << part;
    // A step is 1/256 of the power of two below it, so at most 1/256 of the value.
    EXPECT_GE(static_cast<double>(h.quantile(part)), static_cast<double>(exact) * 255 / 256);
  }
  EXPECT_EQ(h.max(), values.back());
}

TEST(Histogram, StepsTileTheRangeAndHoldWhatWasAdded) {
  Histogram h;
  for (const std::uint64_t v : {0ull, 255ull, 256ull, 511ull, 512ull, 513ull, 1023ull, 1024ull})
    h.add(v);
  h.add(UINT64_MAX);
  const auto steps = h.steps();
  // 512 and 513 share a step of two: 512 = 256 x 2.
  ASSERT_EQ(steps.size(), 8u);
  EXPECT_EQ(steps[4].from, 512u);
  EXPECT_EQ(steps[4].to, 514u);
  EXPECT_EQ(steps[4].count, 2u);
  EXPECT_EQ(steps[6].to, steps[6].from + 4);  // 1024 = 256 x 4
  EXPECT_EQ(h.quantile(1), UINT64_MAX);
}

TEST(Histogram, MergingIsAddingToOne) {
  Histogram a, b, both;
  for (std::uint64_t v = 0; v < 3000; v += 7) {
    (v % 2 == 0 ? a : b).add(v * v);
    both.add(v * v);
  }
  a.merge(b);
  EXPECT_EQ(a.count(), both.count());
  EXPECT_DOUBLE_EQ(a.mean(), both.mean());
  for (const double part : {0.1, 0.5, 0.99}) EXPECT_EQ(a.quantile(part), both.quantile(part));
}

}  // namespace
}  // namespace weft
