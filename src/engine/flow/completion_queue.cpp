#include "engine/flow/completion_queue.h"

#include <algorithm>

#include "base/check.h"

namespace weft::engine {

void CompletionQueue::place(std::size_t at, std::uint32_t flow) {
  heap_[at] = flow;
  place_[flow] = static_cast<std::uint32_t>(at);
}

void CompletionQueue::up(std::size_t at) {
  const std::uint32_t flow = heap_[at];
  while (at > 0) {
    const std::size_t parent = (at - 1) / kArity;
    if (!before(flow, heap_[parent])) break;
    place(at, heap_[parent]);
    at = parent;
  }
  place(at, flow);
}

void CompletionQueue::down(std::size_t at) {
  const std::uint32_t flow = heap_[at];
  while (true) {
    const std::size_t first = at * kArity + 1;
    if (first >= heap_.size()) break;
    std::size_t best = first;
    for (std::size_t child = first + 1; child < std::min(first + kArity, heap_.size()); ++child)
      if (before(heap_[child], heap_[best])) best = child;
    if (!before(heap_[best], flow)) break;
    place(at, heap_[best]);
    at = best;
  }
  place(at, flow);
}

void CompletionQueue::set(std::uint32_t flow, Instant when) {
  if (flow >= place_.size()) {
    place_.resize(flow + 1, kAbsent);
    when_.resize(flow + 1);
  }
  when_[flow] = when;
  if (place_[flow] == kAbsent) {
    heap_.push_back(flow);
    place_[flow] = static_cast<std::uint32_t>(heap_.size() - 1);
  }
  up(place_[flow]);
  down(place_[flow]);
}

void CompletionQueue::erase(std::uint32_t flow) {
  const std::size_t at = place_[flow];
  CHECK(at < heap_.size());
  place_[flow] = kAbsent;
  const std::uint32_t last = heap_.back();
  heap_.pop_back();
  if (last == flow) return;
  place(at, last);
  up(at);
  down(place_[last]);
}

}  // namespace weft::engine
