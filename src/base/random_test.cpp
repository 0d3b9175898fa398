#include "base/random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace weft {
namespace {

TEST(Random, FinaliserIsSplitMix64) {
  // The published first output of SplitMix64 seeded with 1234567 (Vigna's splitmix64.c): the state
  // is advanced by the golden-ratio constant, then finalised.
  EXPECT_EQ(mix64(1234567u + 0x9e3779b97f4a7c15u), 6457827717110365317u);
}

TEST(Random, AStreamIsAFunctionOfSeedAndEntity) {
  RandomStream a(1, 2), again(1, 2), other_entity(1, 3), other_seed(2, 2), swapped(2, 1);
  const std::uint64_t first = a.next();
  EXPECT_EQ(first, again.next());
  EXPECT_NE(first, other_entity.next());
  EXPECT_NE(first, other_seed.next());
  EXPECT_NE(first, swapped.next());
  EXPECT_NE(first, a.next());
}

TEST(Random, BelowIsEven) {
  RandomStream stream(7, 0);
  constexpr int kDraws = 60'000;
  std::vector<int> seen(6);
  for (int i = 0; i < kDraws; ++i) ++seen.at(stream.below(6));
  // Chi-squared with 5 degrees of freedom: 20.5 is exceeded once in a thousand.
  double chi = 0;
  for (const int n : seen) chi += (n - 10'000.0) * (n - 10'000.0) / 10'000.0;
  EXPECT_LT(chi, 20.5);
  EXPECT_EQ(stream.below(1), 0u);
  for (int i = 0; i < 100; ++i)
    EXPECT_LT(stream.below((std::uint64_t{1} << 63) + 1), (std::uint64_t{1} << 63) + 1);
}

TEST(Random, UniformAndExponentialHaveTheirMeans) {
  RandomStream stream(7, 1);
  constexpr int kDraws = 100'000;
  double uniform = 0, exponential = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double u = stream.uniform();
    ASSERT_TRUE(u >= 0 && u < 1);
    uniform += u;
    const double e = stream.exponential(3);
    ASSERT_TRUE(e >= 0 && std::isfinite(e));
    exponential += e;
  }
  // Standard errors: 1/sqrt(12 n) = 0.0009 and 3/sqrt(n) = 0.0095; five of them are allowed.
  EXPECT_NEAR(uniform / kDraws, 0.5, 0.0046);
  EXPECT_NEAR(exponential / kDraws, 3.0, 0.048);
}

}  // namespace
}  // namespace weft
