// Counter-based random numbers: value n of stream (seed, entity) is a pure function of the three,
// so results do not depend on the order in which entities draw, nor on the number of threads.
// SplitMix64 finaliser over the mixed key (Steele, Lea, Flood 2014); passes for simulation use,
// not for cryptography.
#pragma once

#include <cstdint>

namespace weft {

std::uint64_t mix64(std::uint64_t x);  // one SplitMix64 finalisation
std::uint64_t hash_combine(std::uint64_t a, std::uint64_t b);

class RandomStream {
 public:
  RandomStream(std::uint64_t seed, std::uint64_t entity);
  std::uint64_t next();
  double uniform();                          // [0, 1)
  std::uint64_t below(std::uint64_t bound);  // [0, bound), unbiased. REQUIRES bound > 0
  double exponential(double mean);

 private:
  std::uint64_t key_;
  std::uint64_t counter_ = 0;
};

}  // namespace weft
