#include "engine/op_graph.h"

namespace weft::engine {

OpGraph::OpGraph(const work::Work& work)
    : begin_(work.ops.size() + 1), dependency_count_(work.ops.size()) {
  for (std::size_t i = 0; i < work.ops.size(); ++i) {
    dependency_count_[i] = static_cast<std::uint32_t>(work.ops[i].after.size());
    for (work::OpId before : work.ops[i].after) ++begin_[before.index() + 1];
  }
  for (std::size_t i = 1; i < begin_.size(); ++i) begin_[i] += begin_[i - 1];
  waiting_.resize(begin_.back());
  std::vector<std::uint32_t> next(begin_.begin(), begin_.end() - 1);
  for (std::size_t i = 0; i < work.ops.size(); ++i)
    for (work::OpId before : work.ops[i].after) waiting_[next[before.index()]++] = work::OpId(i);
}

}  // namespace weft::engine
