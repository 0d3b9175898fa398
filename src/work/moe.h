// The shape of one mixture-of-experts exchange: how many tokens go where. Dispatch sends each token
// to the ranks of its experts, combine brings the results back along the same ways. Leaves out:
// shared experts (no traffic) and replicated ones. Model: docs/models/moe.md.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "base/units.h"

namespace weft::work {

struct MoeShape {
  std::int64_t tokens = 4096;  // that each rank holds
  std::int64_t hidden = 7168;  // elements a token
  int experts = 256;           // in equal shares on the ranks of the group, in rank order
  int top_k = 8;               // experts of a token
  int max_nodes = 0;           // node-limited routing: its experts are on so many nodes; 0: any
  int element_bytes = 2;       // 1 fp8, 2 bf16
  int scale_block = 0;         // fp8: a 4-byte scale for each so many elements; 0: none
  double skew = 0;             // popularity of the i-th expert 1/(i+1)^skew; 0: all alike
  bool drawn = false;          // routing drawn token by token; else expected values
  std::uint64_t seed = 1;

  [[nodiscard]] std::int64_t token_bytes() const {
    return hidden * element_bytes +
           (scale_block > 0 ? (hidden + scale_block - 1) / scale_block * 4 : 0);
  }
  // Every copy of every token of one rank, its own experts' included: what DeepEP's bandwidth of
  // low-latency kernels counts, and the op's size.
  [[nodiscard]] Bytes size() const { return Bytes(tokens * top_k * token_bytes()); }

  friend auto operator<=>(const MoeShape&, const MoeShape&) = default;
};

// fp8 with a scale for 128 elements there, bf16 back: DeepSeek-V3's.
MoeShape dispatch_shape();
MoeShape combine_shape();

// Every fault as one sentence; `ranks` and `nodes` of the group, 0 nodes: not known yet.
std::vector<std::string> validate(const MoeShape& shape, int ranks, int nodes);

}  // namespace weft::work
