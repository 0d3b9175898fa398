#include "scenario/deadlock_note.h"

#include <fmt/format.h>

#include "routing/deadlock.h"

namespace weft::scenario {

namespace {

// Leaf groups x links that are looked at without a noticeable wait.
constexpr std::size_t kMostWork = 400'000;

}  // namespace

std::string deadlock_note(const fabric::Fabric& fabric, const routing::Routes& routes) {
  using routing::Channels;
  using routing::Policy;
  const std::size_t work = routes.group_representatives().size() * fabric.link_count();
  if (work > kMostWork || routes.policy() == Policy::valiant) return {};
  const std::vector<fabric::LinkId> cycle = routing::find_buffer_cycle(fabric, routes);
  if (cycle.empty()) return {};
  if (routes.policy() == Policy::dimension_order &&
      routing::find_buffer_cycle(fabric, routes, Channels::dateline).empty()) {
    return "dimension-order routes over rings are free of deadlock with two virtual channels and a "
           "dateline; on one channel they are not";
  }
  return fmt::format(
      "where links are lossless (InfiniBand, PFC) these routes can deadlock on one virtual "
      "channel: "
      "{} links wait for one another, {} the first; routing up_down cannot{}",
      cycle.size(), fabric.link_name(cycle.front()),
      fabric.grid() ? ", nor can dimension_order with a dateline" : "");
}

}  // namespace weft::scenario
