// Algorithms that go in rounds, every rank sending to one partner a round: halving-doubling, Bruck,
// hypercube, PAT. Their rounds as data, so that steps, fluid form and the tuner's row come from one
// place; and what a round-based algorithm loads inside and outside of a node.
// Leaves out: the contents of the chunks (each algorithm's file).
#pragma once

#include <algorithm>
#include <vector>

#include "collective/schedule.h"

namespace weft::collective {

struct Round {
  bool exchange = false;       // partner: rank XOR distance; else rank + distance, round the group
  std::uint32_t distance = 0;  // in places
  std::uint32_t chunks = 0;    // how many of the buffer's equal chunks each rank sends
};

inline bool is_power_of_two(std::uint32_t n) {
  return n > 0 && (n & (n - 1)) == 0;
}

// The ranks that take part in halving and doubling: all, or with n no power of two the largest one
// below it; the first 2 x extra ranks pair up, the even one of a pair takes part for both.
struct Folded {
  [[nodiscard]] std::uint32_t rank(std::uint32_t place) const {
    return place < extra ? 2 * place : place + extra;
  }
  std::uint32_t places = 1, extra = 0;
};
Folded fold(std::uint32_t n);
inline Folded every_rank(std::uint32_t n) {
  return {n, 0};
}

// Distances 1, 2, 4, ... of reduce-scatter, then back for all-gather: most bytes stay near.
std::vector<Round> halving_doubling_rounds(work::CollectiveKind kind, std::uint32_t places);
std::vector<Round> bruck_rounds(work::CollectiveKind kind, std::uint32_t n);
std::vector<Round> hypercube_rounds(work::CollectiveKind kind, std::uint32_t n);
// All-gather; reduce-scatter is its mirror image in time and direction.
std::vector<Round> pat_rounds(std::uint32_t n);

std::uint32_t partner_of(const Round& round, std::uint32_t place, std::uint32_t places);

// What an algorithm takes, per byte of the buffer and rank of the busiest node, and its hops.
struct Shares {
  int intra_hops = 0, inter_hops = 0;
  double inside = 0, outside = 0;
};
Shares shares_of(std::string_view algorithm, work::CollectiveKind kind, const ChannelPlan& plan);

// Adds an edge for every rank and round; `chunk` in bytes.
void add_rounds(const std::vector<Round>& rounds, const Folded& ranks, double chunk,
                EdgeList& edges);

// The binomial tree over places counted from the root: a place's parent has its lowest bit clear.
struct Binomial {
  std::uint32_t n = 1, root = 0;
  [[nodiscard]] std::uint32_t rank(std::uint32_t place) const { return (place + root) % n; }
  static std::uint32_t low_bit(std::uint32_t place) { return place & (~place + 1); }
  static std::uint32_t parent(std::uint32_t place) { return place & (place - 1); }
  // Places below and at it: [place, end).
  [[nodiscard]] std::uint32_t end(std::uint32_t place) const {
    return std::min(place + low_bit(place), n);
  }
};

}  // namespace weft::collective
