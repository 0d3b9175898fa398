// Which flow ends next, when flows come in groups whose members all progress at one level: the
// flows that one link holds down. A group has a clock that counts work done by a flow of weight 1;
// a flow is tagged with what the clock will show when it ends. A group's new level thus costs one
// entry, however many flows it has. Flows whose ends round to one picosecond end together.
#pragma once

#include <cstdint>
#include <vector>

#include "base/units.h"
#include "engine/flow/completion_queue.h"

namespace weft::engine {

class FinishQueue {
 public:
  void expect(std::size_t groups, std::size_t flows);  // room for so many
  // `work`: what the flow has left, in units of level x seconds. REQUIRES it to be in no group.
  void insert(std::uint32_t flow, std::uint32_t group, double work, Instant now);
  // Takes the flow out; returns the work it has left.
  double remove(std::uint32_t flow, Instant now);
  void set_level(std::uint32_t group, double level, Instant now);
  [[nodiscard]] bool contains(std::uint32_t flow) const {
    return flow < flows_.size() && flows_[flow].group != kNone;
  }
  [[nodiscard]] std::uint32_t group_of(std::uint32_t flow) const { return flows_[flow].group; }

  [[nodiscard]] bool empty() const { return waiting_ == 0; }
  // Of the flow that ends next; Instant::never() where all levels are 0. REQUIRES !empty().
  Instant front_time();
  std::uint32_t front();  // lowest number of the earliest group first
  [[nodiscard]] std::size_t memory_bytes() const;

 private:
  static constexpr std::uint32_t kNone = 0xffffffffu;
  struct Entry {
    double tag = 0;
    std::uint32_t group = kNone;
    std::uint32_t place = 0;  // in the group's heap
  };
  struct Group {
    std::vector<std::uint32_t> heap;  // flows by (tag, number)
    double clock = 0;                 // at `since`
    double level = 0;
    Instant since;
    bool stale = false;  // its entry in groups_ is not up to date
  };

  [[nodiscard]] bool before(std::uint32_t a, std::uint32_t b) const {
    return flows_[a].tag != flows_[b].tag ? flows_[a].tag < flows_[b].tag : a < b;
  }
  Group& group_at(std::uint32_t group);
  static void advance(Group& group, Instant now);
  void mark(std::uint32_t group);
  void refresh();
  void up(std::vector<std::uint32_t>& heap, std::size_t at);
  void down(std::vector<std::uint32_t>& heap, std::size_t at);

  std::vector<Entry> flows_;
  std::vector<Group> group_;
  std::vector<std::uint32_t> stale_;
  CompletionQueue groups_;  // by the instant at which their first flow ends
  std::size_t waiting_ = 0;
};

}  // namespace weft::engine
