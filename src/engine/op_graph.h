// Who waits for whom among the ops of a work, dependencies and triggers alike, and how many things
// each still waits for.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "work/work.h"

namespace weft::engine {

class OpGraph {
 public:
  explicit OpGraph(const work::Work& work);
  // Ops that wait for nothing, by id.
  [[nodiscard]] std::vector<work::OpId> first() const;
  // The op has ended: adds those that now wait for nothing to `ready`.
  void ended(work::OpId op, std::vector<work::OpId>& ready);

 private:
  void satisfy(work::OpId op, std::vector<work::OpId>& ready) {
    if (--waits_for_[op.index()] == 0) ready.push_back(op);
  }

  const work::Work* work_;
  // Ops that wait for an op stand at begin_[op] in waiting_; one that names it twice does twice.
  std::vector<std::uint32_t> begin_, waits_for_;
  std::vector<work::OpId> waiting_;
  std::vector<std::uint32_t> activated_;  // by trigger
};

}  // namespace weft::engine
