#include "engine/op_graph.h"

namespace weft::engine {

using work::OpId;

OpGraph::OpGraph(const work::Work& work)
    : work_(&work),
      begin_(work.ops.size() + 1),
      waits_for_(work.ops.size()),
      activated_(work.triggers.size()) {
  for (std::size_t i = 0; i < work.ops.size(); ++i) {
    waits_for_[i] = static_cast<std::uint32_t>(work.ops[i].after.size());
    for (OpId before : work.ops[i].after) ++begin_[before.index() + 1];
  }
  for (const work::Trigger& trigger : work.triggers)
    for (const OpId target : trigger.targets) ++waits_for_[target.index()];
  for (std::size_t i = 1; i < begin_.size(); ++i) begin_[i] += begin_[i - 1];
  waiting_.resize(begin_.back());
  std::vector<std::uint32_t> next(begin_.begin(), begin_.end() - 1);
  for (std::size_t i = 0; i < work.ops.size(); ++i)
    for (OpId before : work.ops[i].after) waiting_[next[before.index()]++] = OpId(i);
}

std::vector<OpId> OpGraph::first() const {
  std::vector<OpId> out;
  for (std::size_t i = 0; i < waits_for_.size(); ++i)
    if (waits_for_[i] == 0) out.emplace_back(i);
  return out;
}

void OpGraph::ended(OpId op, std::vector<OpId>& ready) {
  for (std::uint32_t at = begin_[op.index()]; at < begin_[op.index() + 1]; ++at)
    satisfy(waiting_[at], ready);
  for (const work::TriggerId id : work_->ops[op.index()].fires) {
    const auto targets = started_by(work_->triggers[id.index()], activated_[id.index()]);
    for (const OpId target : targets) satisfy(target, ready);
  }
}

}  // namespace weft::engine
