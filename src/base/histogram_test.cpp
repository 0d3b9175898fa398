#include "base/histogram.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

namespace weft {
namespace {

TEST(Histogram, SmallValuesAreExact) {
  Histogram h;
  for (std::uint64_t v = 1; v <= 1000; ++v) h.add(v);
  EXPECT_EQ(h.percentile(50), 500u);  // rank ceil(0.5 * 1000) = 500
  EXPECT_EQ(h.percentile(99), 990u);
  EXPECT_EQ(h.percentile(99.9), 999u);
  EXPECT_EQ(h.percentile(0), 1u);
  EXPECT_EQ(h.percentile(100), 1000u);
  EXPECT_DOUBLE_EQ(h.mean(), 500.5);  // (1 + 1000) / 2
}

TEST(Histogram, EmptyAndExtremes) {
  Histogram h;
  EXPECT_EQ(h.percentile(50), 0u);
  EXPECT_EQ(h.min(), 0u);
  EXPECT_EQ(h.mean(), 0);
  h.add(UINT64_MAX, 3);
  h.add(0);
  EXPECT_EQ(h.percentile(100), UINT64_MAX);
  EXPECT_EQ(h.percentile(25), 0u);
  EXPECT_EQ(h.max(), UINT64_MAX);
  EXPECT_EQ(h.count(), 4u);
}

// Values of every magnitude: a random number cut to a random number of bits.
rc::Gen<std::vector<std::uint64_t>> values() {
  const auto one =
      rc::gen::map(rc::gen::pair(rc::gen::arbitrary<std::uint64_t>(), rc::gen::inRange(0, 64)),
                   [](const auto& p) { return p.first >> p.second; });
  return rc::gen::nonEmpty(rc::gen::container<std::vector<std::uint64_t>>(one));
}

RC_GTEST_PROP(Histogram, PercentilesAreWithinAThousandth, ()) {
  auto all = *values();
  const int tenths = *rc::gen::inRange(0, 1001);
  Histogram h;
  for (const std::uint64_t v : all) h.add(v);
  std::sort(all.begin(), all.end());
  const auto rank = static_cast<std::size_t>(
      std::max(1.0, std::ceil(tenths * static_cast<double>(all.size()) / 1000)));
  const auto exact = static_cast<double>(all[rank - 1]);
  const auto found = static_cast<double>(h.percentile(tenths / 10.0));
  RC_ASSERT(std::abs(found - exact) <= exact / 1000);
}

RC_GTEST_PROP(Histogram, MergingIsAddingTogether, ()) {
  const auto left = *values();
  const auto right = *values();
  Histogram a, b, both;
  for (const std::uint64_t v : left) a.add(v), both.add(v);
  for (const std::uint64_t v : right) b.add(v), both.add(v);
  a.merge(b);
  RC_ASSERT(a.count() == both.count());
  RC_ASSERT(a.mean() == both.mean());
  for (const double p : {0.0, 10.0, 50.0, 99.0, 100.0}) {
    RC_ASSERT(a.percentile(p) == both.percentile(p));
  }
}

}  // namespace
}  // namespace weft
