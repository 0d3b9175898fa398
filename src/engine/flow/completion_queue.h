// Which flow completes next: a 4-ary heap of flow numbers ordered by (instant, number), with the
// place of every flow so that a changed rate moves it instead of leaving a stale entry.
#pragma once

#include <cstdint>
#include <vector>

#include "base/units.h"

namespace weft::engine {

class CompletionQueue {
 public:
  [[nodiscard]] bool empty() const { return heap_.empty(); }
  [[nodiscard]] std::uint32_t front() const { return heap_.front(); }
  [[nodiscard]] Instant front_time() const { return when_[heap_.front()]; }
  [[nodiscard]] bool contains(std::uint32_t flow) const {
    return flow < place_.size() && place_[flow] != kAbsent;
  }
  void set(std::uint32_t flow, Instant when);  // inserts or moves
  void erase(std::uint32_t flow);              // REQUIRES it to be in the queue

 private:
  static constexpr std::uint32_t kAbsent = 0xffffffffu;
  static constexpr std::size_t kArity = 4;

  [[nodiscard]] bool before(std::uint32_t a, std::uint32_t b) const {
    return when_[a] != when_[b] ? when_[a] < when_[b] : a < b;
  }
  void place(std::size_t at, std::uint32_t flow);
  void up(std::size_t at);
  void down(std::size_t at);

  std::vector<std::uint32_t> heap_;
  std::vector<Instant> when_;         // by flow
  std::vector<std::uint32_t> place_;  // by flow
};

}  // namespace weft::engine
