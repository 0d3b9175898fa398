#include "routing/deadlock.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/check.h"

namespace weft::routing {

namespace {

using fabric::DeviceId;
using fabric::DeviceKind;
using fabric::Fabric;
using fabric::LinkId;

using Vertex = std::uint32_t;
inline constexpr Vertex kNone = 0xffffffffu;

// Whether a link closes a ring of the grid, and the dimension it runs in; none for other links.
struct GridStep {
  std::optional<std::size_t> dimension;
  bool closes = false;
};

GridStep step_of(const Fabric& fabric, LinkId link) {
  const fabric::Grid& grid = *fabric.grid();
  std::size_t nodes = 1;
  for (const std::uint32_t size : grid.size) nodes *= size;
  const auto node_of = [&](DeviceId d) { return d.index() - grid.first.index(); };
  const std::size_t from = node_of(fabric.from(link)), to = node_of(fabric.to(link));
  GridStep step;
  if (from >= nodes || to >= nodes) return step;
  std::size_t stride = nodes;
  for (std::size_t d = 0; d < grid.size.size(); ++d) {
    stride /= grid.size[d];
    const std::size_t a = from / stride % grid.size[d], b = to / stride % grid.size[d];
    if (a != b) step = {d, grid.size[d] > 2 && std::max(a, b) - std::min(a, b) > 1};
  }
  return step;
}

// Adjacency of links and their channels that hold for one another; of parallel links between two
// devices the first stands for all.
class DependencyGraph {
 public:
  DependencyGraph(const Fabric& fabric, const Routes& routes, Channels channels)
      : fabric_(fabric), routes_(routes), channels_(channels) {
    const std::vector<DeviceId> nics = routes.group_representatives();
    channel_count_ = channels == Channels::dateline ? 2 : 1;
    for (const DeviceId from : nics) {
      for (const DeviceId to : nics) {
        if (channels != Channels::by_hop) break;
        channel_count_ = std::max(channel_count_, routes.distance(from, to));
      }
    }
    waits_for_.resize(fabric.link_count() * static_cast<std::size_t>(channel_count_));
    first_.reserve(fabric.link_count());
    std::map<std::pair<DeviceId, DeviceId>, Vertex> between;
    for (std::size_t l = 0; l < fabric.link_count(); ++l) {
      const LinkId link(l);
      first_.push_back(
          between.try_emplace({fabric.from(link), fabric.to(link)}, static_cast<Vertex>(l))
              .first->second);
    }
    for (const DeviceId to : nics) add_routes_to(to, nics);
  }

  [[nodiscard]] const std::vector<std::set<Vertex>>& waits_for() const { return waits_for_; }
  [[nodiscard]] LinkId link_of(Vertex v) const {
    return LinkId(v / static_cast<std::size_t>(channel_count_));
  }

 private:
  [[nodiscard]] Vertex vertex_of(LinkId link, int channel) const {
    return first_[link.index()] * static_cast<Vertex>(channel_count_) +
           static_cast<Vertex>(channel);
  }

  [[nodiscard]] int next_channel(Vertex in, LinkId out) const {
    const int channel = static_cast<int>(in % static_cast<Vertex>(channel_count_));
    if (channels_ == Channels::one) return 0;
    if (channels_ == Channels::by_hop) return std::min(channel + 1, channel_count_ - 1);
    const GridStep before = step_of(fabric_, link_of(in)), after = step_of(fabric_, out);
    if (!after.dimension) return 0;
    return after.closes || (before.dimension == after.dimension && channel == 1) ? 1 : 0;
  }

  // Follows all ways from all sources to one leaf group; each link is entered once a channel.
  void add_routes_to(DeviceId to, const std::vector<DeviceId>& sources) {
    std::set<Vertex> entered;
    std::vector<Vertex> todo;
    const auto enter = [&](LinkId link, int channel) {
      const Vertex v = vertex_of(link, channel);
      if (fabric_.kind(fabric_.to(link)) == DeviceKind::nic) return v;
      if (entered.insert(v).second) todo.emplace_back(v);
      return v;
    };
    for (const DeviceId from : sources) {
      for (const LinkId link : routes_.next_hops(from, to)) enter(link, 0);
    }
    while (!todo.empty()) {
      const Vertex in = todo.back();
      todo.pop_back();
      for (const LinkId out : routes_.next_hops_after(link_of(in), to)) {
        waits_for_[in].insert(enter(out, next_channel(in, out)));
      }
    }
  }

  const Fabric& fabric_;
  const Routes& routes_;
  Channels channels_;
  int channel_count_ = 1;
  std::vector<Vertex> first_;  // by link
  std::vector<std::set<Vertex>> waits_for_;
};

// Tarjan's strongly connected components, without recursion (a cycle can be as long as the
// network). Stops at the first component with a cycle. R. Tarjan, SIAM J. Computing 1(2), 1972.
class Tarjan {
 public:
  explicit Tarjan(const std::vector<std::set<Vertex>>& edges)
      : edges_(edges), order_(edges.size(), kNone), low_(edges.size()), on_stack_(edges.size()) {}

  // Members of a component of two or more vertices; empty when all are single. A vertex never waits
  // for itself: that would be a link that follows itself on a route.
  std::vector<Vertex> cyclic_component() {
    for (Vertex v = 0; v < edges_.size(); ++v) {
      if (order_[v] != kNone) continue;
      visit(v);
      while (!calls_.empty()) {
        if (advance()) continue;
        std::vector<Vertex> component = finish();
        if (component.size() > 1) return component;
      }
    }
    return {};
  }

 private:
  struct Call {
    Vertex vertex;
    std::set<Vertex>::const_iterator next;
  };

  void visit(Vertex v) {
    order_[v] = low_[v] = counter_++;
    stack_.push_back(v);
    on_stack_[v] = 1;
    calls_.push_back({v, edges_[v].begin()});
  }

  // Looks at the next edge of the innermost call; false when there is none left.
  bool advance() {
    Call& call = calls_.back();
    if (call.next == edges_[call.vertex].end()) return false;
    const Vertex v = call.vertex;
    const Vertex w = *call.next++;
    if (order_[w] == kNone) {
      visit(w);
    } else if (on_stack_[w] != 0) {
      low_[v] = std::min(low_[v], order_[w]);
    }
    return true;
  }

  std::vector<Vertex> finish() {
    const Vertex v = calls_.back().vertex;
    calls_.pop_back();
    if (!calls_.empty()) {
      Vertex& caller = low_[calls_.back().vertex];
      caller = std::min(caller, low_[v]);
    }
    std::vector<Vertex> component;
    if (low_[v] != order_[v]) return component;
    do {
      component.push_back(stack_.back());
      on_stack_[stack_.back()] = 0;
      stack_.pop_back();
    } while (component.back() != v);
    return component;
  }

  const std::vector<std::set<Vertex>>& edges_;
  std::vector<Vertex> order_, low_, stack_;
  std::vector<char> on_stack_;
  std::vector<Call> calls_;
  Vertex counter_ = 0;
};

// Shortest way from the first member back to itself inside a strongly connected component.
std::vector<Vertex> cycle_through(const std::vector<std::set<Vertex>>& edges,
                                  const std::vector<Vertex>& component) {
  const std::set<Vertex> inside(component.begin(), component.end());
  const Vertex start = *inside.begin();
  std::map<Vertex, Vertex> came_from;
  std::vector<Vertex> queue = {start};
  for (std::size_t i = 0; i < queue.size() && !came_from.contains(start); ++i) {
    for (const Vertex w : edges[queue[i]]) {
      if (inside.contains(w) && came_from.try_emplace(w, queue[i]).second) queue.push_back(w);
    }
  }
  std::vector<Vertex> cycle = {start};
  for (Vertex v = came_from.at(start); v != start; v = came_from.at(v)) cycle.push_back(v);
  std::reverse(cycle.begin() + 1, cycle.end());
  return cycle;
}

}  // namespace

std::vector<LinkId> find_buffer_cycle(const Fabric& fabric, const Routes& routes,
                                      Channels channels) {
  CHECK(channels != Channels::dateline || fabric.grid());
  const DependencyGraph graph(fabric, routes, channels);
  const std::vector<Vertex> component = Tarjan(graph.waits_for()).cyclic_component();
  if (component.empty()) return {};
  std::vector<LinkId> links;
  for (const Vertex v : cycle_through(graph.waits_for(), component)) {
    links.push_back(graph.link_of(v));
  }
  return links;
}

}  // namespace weft::routing
