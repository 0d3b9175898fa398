// How many tokens of a mixture-of-experts exchange go from where to where: expected values in
// closed form, or counts of a routing drawn with a seed. In tokens; bytes are token_bytes times
// that. Model: docs/models/moe.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "collective/channels.h"
#include "work/moe.h"

namespace weft::collective {

// Of one token with uniform routing: on how many nodes, ranks its experts are, by expectation.
struct ExpectedSpread {
  double nodes = 0, ranks = 0;
};
ExpectedSpread expected_spread(const work::MoeShape& shape, int ranks, int nodes);

class MoeTraffic {
 public:
  // REQUIRES a shape that refuse_moe does not refuse.
  MoeTraffic(const work::MoeShape& shape, const ChannelPlan& plan);

  // Tokens of `source` with an expert on the rank or node; every expert counted for itself.
  [[nodiscard]] double to_rank(std::uint32_t source, std::uint32_t rank) const {
    return uniform_ ? spread_.ranks * tokens_ / n_ : to_rank_[source * n_ + rank];
  }
  [[nodiscard]] double copies(std::uint32_t source, std::uint32_t rank) const {
    return uniform_ ? top_k_ * tokens_ / n_ : copies_[source * n_ + rank];
  }
  [[nodiscard]] double to_node(std::uint32_t source, std::uint32_t node) const {
    return uniform_ ? spread_.nodes * tokens_ / nodes_ : to_node_[source * nodes_ + node];
  }
  [[nodiscard]] bool uniform() const { return uniform_; }

 private:
  void draw(const work::MoeShape& shape, const ChannelPlan& plan);

  bool uniform_;
  std::size_t n_, nodes_;
  double tokens_, top_k_;
  ExpectedSpread spread_;
  std::vector<std::uint32_t> to_rank_, copies_, to_node_;
};

// Why the exchange cannot run on these ranks; empty when it can.
std::string refuse_moe(const work::MoeShape* shape, const ChannelPlan& plan);

}  // namespace weft::collective
