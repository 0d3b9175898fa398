#include "routing/table_builder.h"

#include <algorithm>
#include <array>
#include <bit>
#include <unordered_map>

#include "base/check.h"
#include "base/random.h"

namespace weft::routing {

namespace {

using fabric::DeviceId;
using fabric::LinkId;

using Lanes = std::uint32_t;  // a bit per leaf group of the run

class TableBuilder {
 public:
  TableBuilder(const fabric::Fabric& fabric, const SwitchGraph& graph)
      : fabric_(fabric),
        graph_(graph),
        seen_(graph.vertex_count()),
        front_(graph.vertex_count()),
        next_(graph.vertex_count()),
        lane_entry_(graph.vertex_count()) {
    table_.runs = (graph.group_count() + kLanes - 1) / kLanes;
    table_.cells.assign(graph.vertex_count() * table_.runs, kNoRoute);
    table_.entries = {Entry{}, Entry{.hop_begin = 0, .hop_count = 0, .distance = 1}};
    members_begin_ = {0, 0, 0};
  }

  RouteTable build() {
    for (std::size_t run = 0; run < table_.runs; ++run) {
      start(run);
      for (std::uint32_t distance = 2; step(distance); ++distance) {
      }
      store(run);
    }
    table_.mixed.shrink_to_fit();
    table_.entries.shrink_to_fit();
    table_.hop_links.shrink_to_fit();
    return std::move(table_);
  }

 private:
  void start(std::size_t run) {
    std::fill(front_.begin(), front_.end(), 0);
    for (auto& lanes : lane_entry_) lanes.fill(kNoRoute);
    const std::size_t first = run * kLanes;
    const std::size_t last = std::min(first + kLanes, graph_.group_count());
    for (std::size_t group = first; group < last; ++group) {
      for (const std::uint32_t s : graph_.edge_switches(static_cast<std::uint32_t>(group))) {
        for (std::size_t v = s; v < graph_.vertex_count(); v += graph_.switch_count()) {
          front_[v] |= Lanes{1} << (group - first);
          lane_entry_[v][group - first] = kAttached;
        }
      }
    }
    seen_ = front_;
  }

  // One level of the search: switches that a front bit reaches for the first time get their set.
  bool step(std::uint32_t distance) {
    std::fill(next_.begin(), next_.end(), 0);
    for (std::uint32_t s = 0; s < front_.size(); ++s) {
      if (front_[s] == 0) continue;
      for (const std::uint32_t n : graph_.before(s)) next_[n] |= front_[s];
    }
    bool any = false;
    for (std::uint32_t s = 0; s < next_.size(); ++s) {
      next_[s] &= ~seen_[s];
      if (next_[s] == 0) continue;
      any = true;
      seen_[s] |= next_[s];
      assign(s, next_[s], distance);
    }
    front_.swap(next_);
    return any;
  }

  // Splits `lanes` into classes with the same next neighbours and gives each its entry.
  void assign(std::uint32_t s, Lanes lanes, std::uint32_t distance) {
    classes_.assign(1, lanes);
    for (const std::uint32_t n : graph_.neighbours(s)) {
      const Lanes with = front_[n];
      for (std::size_t c = classes_.size(); c-- > 0;) {
        const Lanes inside = classes_[c] & with;
        if (inside == 0 || inside == classes_[c]) continue;
        classes_.push_back(classes_[c] & ~with);
        classes_[c] = inside;
      }
    }
    for (const Lanes one : classes_) {
      const std::uint32_t entry = entry_of(s, std::countr_zero(one), distance);
      for (Lanes rest = one; rest != 0; rest &= rest - 1) {
        lane_entry_[s][static_cast<std::size_t>(std::countr_zero(rest))] = entry;
      }
    }
  }

  std::uint32_t entry_of(std::uint32_t s, int lane, std::uint32_t distance) {
    scratch_.clear();
    std::uint64_t hash = hash_combine(s, distance);
    for (const std::uint32_t n : graph_.neighbours(s)) {
      if (((front_[n] >> lane) & 1) == 0) continue;
      scratch_.push_back(n);
      hash = hash_combine(hash, n);
    }
    scratch_.push_back(s);  // entries belong to one switch
    for (;; ++hash) {       // a collision takes the next free key
      const auto [at, is_new] =
          known_.try_emplace(hash, static_cast<std::uint32_t>(table_.entries.size()));
      if (is_new) break;
      const Entry& e = table_.entries[at->second];
      const std::span members(members_.data() + members_begin_[at->second],
                              members_begin_[at->second + 1] - members_begin_[at->second]);
      if (e.distance == distance && std::ranges::equal(members, scratch_)) return at->second;
    }
    members_.insert(members_.end(), scratch_.begin(), scratch_.end());
    members_begin_.push_back(members_.size());
    scratch_.pop_back();
    return new_entry(s, distance);
  }

  // Links to the neighbours in scratch_, in port order.
  std::uint32_t new_entry(std::uint32_t s, std::uint32_t distance) {
    const auto begin = static_cast<std::uint32_t>(table_.hop_links.size());
    for (const LinkId link : fabric_.out_links(graph_.device[s])) {
      const DeviceId far = fabric_.to(link);
      if (!fabric::is_network(fabric_.link_class(link).kind) || !forwards(fabric_.kind(far))) {
        continue;
      }
      if (std::ranges::binary_search(scratch_,
                                     graph_.next_vertex(s, graph_.index_of_device[far.index()]))) {
        table_.hop_links.push_back(link);
      }
    }
    const auto count = static_cast<std::uint32_t>(table_.hop_links.size()) - begin;
    table_.entries.push_back({begin, count, distance});
    return static_cast<std::uint32_t>(table_.entries.size() - 1);
  }

  void store(std::size_t run) {
    const std::size_t lanes = std::min<std::size_t>(kLanes, graph_.group_count() - run * kLanes);
    for (std::size_t s = 0; s < lane_entry_.size(); ++s) {
      auto& of_lane = lane_entry_[s];
      std::fill(of_lane.begin() + static_cast<std::ptrdiff_t>(lanes), of_lane.end(), of_lane[0]);
      std::uint32_t& cell = table_.cells[s * table_.runs + run];
      if (std::ranges::all_of(of_lane, [&](std::uint32_t e) { return e == of_lane[0]; })) {
        cell = of_lane[0];
        continue;
      }
      const std::size_t block = table_.mixed.size() / kLanes;
      CHECK(block < RouteTable::kMixed);
      cell = RouteTable::kMixed | static_cast<std::uint32_t>(block);
      table_.mixed.insert(table_.mixed.end(), of_lane.begin(), of_lane.end());
    }
  }

  const fabric::Fabric& fabric_;
  const SwitchGraph& graph_;
  RouteTable table_;
  std::vector<Lanes> seen_, front_, next_;
  std::vector<std::array<std::uint32_t, kLanes>> lane_entry_;  // by switch
  std::vector<Lanes> classes_;
  std::vector<std::uint32_t> scratch_;
  std::unordered_map<std::uint64_t, std::uint32_t> known_;  // looked up only, never iterated
  std::vector<std::uint32_t> members_;                      // neighbours of each entry, its switch
  std::vector<std::size_t> members_begin_;
};

}  // namespace

std::size_t RouteTable::memory_bytes() const {
  return cells.capacity() * sizeof(cells[0]) + mixed.capacity() * sizeof(mixed[0]) +
         entries.capacity() * sizeof(entries[0]) + hop_links.capacity() * sizeof(hop_links[0]);
}

RouteTable build_table(const fabric::Fabric& fabric, const SwitchGraph& graph) {
  return TableBuilder(fabric, graph).build();
}

}  // namespace weft::routing
