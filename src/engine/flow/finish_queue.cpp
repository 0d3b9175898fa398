#include "engine/flow/finish_queue.h"

#include <algorithm>

#include "base/check.h"

namespace weft::engine {

void FinishQueue::expect(std::size_t groups, std::size_t flows) {
  group_.reserve(groups);
  flows_.reserve(flows);
}

FinishQueue::Group& FinishQueue::group_at(std::uint32_t group) {
  if (group >= group_.size()) group_.resize(group + 1);
  return group_[group];
}

void FinishQueue::advance(Group& group, Instant now) {
  if (group.heap.empty())
    group.clock = 0;
  else
    group.clock += group.level * (now - group.since).to_seconds();
  group.since = now;
}

void FinishQueue::mark(std::uint32_t group) {
  if (group_[group].stale) return;
  group_[group].stale = true;
  stale_.push_back(group);
}

void FinishQueue::up(std::vector<std::uint32_t>& heap, std::size_t at) {
  const std::uint32_t flow = heap[at];
  while (at > 0) {
    const std::size_t parent = (at - 1) / 2;
    if (!before(flow, heap[parent])) break;
    heap[at] = heap[parent];
    flows_[heap[at]].place = static_cast<std::uint32_t>(at);
    at = parent;
  }
  heap[at] = flow;
  flows_[flow].place = static_cast<std::uint32_t>(at);
}

void FinishQueue::down(std::vector<std::uint32_t>& heap, std::size_t at) {
  const std::uint32_t flow = heap[at];
  while (true) {
    std::size_t child = 2 * at + 1;
    if (child >= heap.size()) break;
    if (child + 1 < heap.size() && before(heap[child + 1], heap[child])) ++child;
    if (!before(heap[child], flow)) break;
    heap[at] = heap[child];
    flows_[heap[at]].place = static_cast<std::uint32_t>(at);
    at = child;
  }
  heap[at] = flow;
  flows_[flow].place = static_cast<std::uint32_t>(at);
}

void FinishQueue::insert(std::uint32_t flow, std::uint32_t group, double work, Instant now) {
  if (flow >= flows_.size()) flows_.resize(flow + 1);
  CHECK(flows_[flow].group == kNone);
  Group& into = group_at(group);
  if (into.since != now || into.heap.empty()) advance(into, now);
  flows_[flow] = {into.clock + work, group, 0};
  into.heap.push_back(flow);
  up(into.heap, into.heap.size() - 1);
  ++waiting_;
  mark(group);
}

double FinishQueue::remove(std::uint32_t flow, Instant now) {
  Entry& entry = flows_[flow];
  CHECK(contains(flow));
  Group& from = group_[entry.group];
  const double clock = from.clock + from.level * (now - from.since).to_seconds();
  const double left = std::max(0.0, entry.tag - clock);
  const std::size_t at = entry.place;
  const std::uint32_t last = from.heap.back();
  from.heap.pop_back();
  if (last != flow) {
    from.heap[at] = last;
    flows_[last].place = static_cast<std::uint32_t>(at);
    up(from.heap, at);
    down(from.heap, flows_[last].place);
  }
  mark(entry.group);
  entry.group = kNone;
  --waiting_;
  return left;
}

void FinishQueue::set_level(std::uint32_t group, double level, Instant now) {
  Group& changed = group_at(group);
  advance(changed, now);
  changed.level = level;
  mark(group);
}

void FinishQueue::refresh() {
  for (std::uint32_t group : stale_) {
    Group& g = group_[group];
    g.stale = false;
    if (g.heap.empty()) {
      if (groups_.contains(group)) groups_.erase(group);
      continue;
    }
    Instant when = Instant::never();
    const double left = std::max(0.0, flows_[g.heap.front()].tag - g.clock);
    if (left == 0) {
      when = g.since;
    } else if (g.level > 0) {
      const Duration wait = Duration::from_seconds(left / g.level);
      if (wait < Instant::never() - g.since) when = g.since + wait;
    }
    groups_.set(group, when);
  }
  stale_.clear();
}

Instant FinishQueue::front_time() {
  refresh();
  return groups_.front_time();
}

std::uint32_t FinishQueue::front() {
  refresh();
  return group_[groups_.front()].heap.front();
}

std::size_t FinishQueue::memory_bytes() const {
  std::size_t bytes = flows_.capacity() * sizeof(Entry) + group_.capacity() * sizeof(Group);
  for (const Group& group : group_) bytes += group.heap.capacity() * sizeof(std::uint32_t);
  return bytes;
}

}  // namespace weft::engine
