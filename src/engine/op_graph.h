// Dependencies of the ops, turned around: who waits for whom, and how many each still waits for.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "work/work.h"

namespace weft::engine {

class OpGraph {
 public:
  explicit OpGraph(const work::Work& work);
  // Ops that wait for `op`, by id; one that names it twice appears twice.
  [[nodiscard]] std::span<const work::OpId> waiting_for(work::OpId op) const {
    return std::span(waiting_).subspan(begin_[op.index()],
                                       begin_[op.index() + 1] - begin_[op.index()]);
  }
  [[nodiscard]] std::uint32_t dependency_count(work::OpId op) const {
    return dependency_count_[op.index()];
  }

 private:
  std::vector<std::uint32_t> begin_, dependency_count_;
  std::vector<work::OpId> waiting_;
};

}  // namespace weft::engine
