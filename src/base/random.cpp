#include "base/random.h"

#include <cmath>

#include "base/check.h"

namespace weft {

namespace {
// 2^64 divided by the golden ratio, made odd: SplitMix64's increment.
constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15u;
__extension__ using Uint128 = unsigned __int128;
}  // namespace

std::uint64_t mix64(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

std::uint64_t hash_combine(std::uint64_t a, std::uint64_t b) {
  return mix64(mix64(a + kGolden) ^ (b + kGolden));
}

RandomStream::RandomStream(std::uint64_t seed, std::uint64_t entity)
    : key_(hash_combine(seed, entity)) {}

std::uint64_t RandomStream::next() {
  ++counter_;
  return mix64(key_ + counter_ * kGolden);
}

double RandomStream::uniform() {
  return static_cast<double>(next() >> 11) * 0x1p-53;
}

// Lemire's multiply-and-reject (ACM TOMACS 29(1), 2019).
std::uint64_t RandomStream::below(std::uint64_t bound) {
  CHECK(bound > 0);
  Uint128 product = static_cast<Uint128>(next()) * bound;
  if (static_cast<std::uint64_t>(product) < bound) {
    const std::uint64_t threshold = (0 - bound) % bound;  // 2^64 mod bound
    while (static_cast<std::uint64_t>(product) < threshold) {
      product = static_cast<Uint128>(next()) * bound;
    }
  }
  return static_cast<std::uint64_t>(product >> 64);
}

double RandomStream::exponential(double mean) {
  return -mean * std::log1p(-uniform());
}

}  // namespace weft
