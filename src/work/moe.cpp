#include "work/moe.h"

#include <fmt/format.h>

namespace weft::work {

MoeShape dispatch_shape() {
  MoeShape shape;
  shape.element_bytes = 1;
  shape.scale_block = 128;
  return shape;
}

MoeShape combine_shape() {
  return {};
}

std::vector<std::string> validate(const MoeShape& shape, int ranks, int nodes) {
  std::vector<std::string> faults;
  if (shape.tokens < 1 || shape.hidden < 1) faults.emplace_back("tokens and hidden start at 1");
  if (shape.top_k < 1 || shape.top_k > shape.experts)
    faults.push_back(
        fmt::format("a token cannot have {} of {} experts", shape.top_k, shape.experts));
  if (ranks > 0 && shape.experts % ranks != 0)
    faults.push_back(
        fmt::format("{} experts do not spread evenly over {} ranks", shape.experts, ranks));
  if (shape.max_nodes > 0 && nodes > 0 && shape.max_nodes < nodes &&
      static_cast<std::int64_t>(shape.max_nodes) * shape.experts / nodes < shape.top_k)
    faults.push_back(fmt::format("{} nodes have {} experts, fewer than the {} of a token",
                                 shape.max_nodes, shape.max_nodes * shape.experts / nodes,
                                 shape.top_k));
  if (shape.skew < 0 || shape.skew > 3) faults.emplace_back("the skew lies between 0 and 3");
  if (shape.skew > 0 && !shape.drawn)
    faults.emplace_back("a skew needs drawn routing: there is no closed form");
  return faults;
}

}  // namespace weft::work
