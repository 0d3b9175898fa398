#include "engine/wide_area.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/random.h"

namespace weft::engine {

namespace {

using collective::Step;

// Time that wide-area links take between the nodes of two ranks, looked up once a pair of nodes.
class Crossings {
 public:
  Crossings(const fabric::Fabric& fabric, const routing::Routes& routes,
            const collective::ChannelPlan& plan)
      : fabric_(fabric), routes_(routes), plan_(plan) {}

  Duration between(std::uint32_t from, std::uint32_t to) {
    const std::size_t ranks = plan_.group.gpus.size();
    if (from >= ranks || to >= ranks || plan_.rank_nic.empty()) return {};  // a switch, one node
    const std::pair nodes{plan_.rank_node[from], plan_.rank_node[to]};
    if (nodes.first == nodes.second) return {};
    const auto [known, is_new] = delays_.try_emplace(nodes);
    if (is_new) known->second = ask(nodes.first, nodes.second);
    return known->second;
  }

 private:
  // Over the first NICs of both nodes that a route joins.
  Duration ask(std::uint32_t from_node, std::uint32_t to_node) {
    const auto each = static_cast<std::size_t>(plan_.nics_per_rank);
    std::vector<fabric::LinkId> links;
    for (const std::uint32_t from : plan_.node_ranks[from_node]) {
      for (const std::uint32_t to : plan_.node_ranks[to_node]) {
        links.clear();
        if (!routes_.path(plan_.rank_nic[from * each], plan_.rank_nic[to * each], 0, links)) {
          continue;
        }
        Duration total;
        for (const fabric::LinkId link : links) {
          const fabric::LinkClass& c = fabric_.link_class(link);
          if (c.kind == fabric::LinkKind::wide_area) total += c.latency;
        }
        return total;
      }
    }
    return {};
  }

  const fabric::Fabric& fabric_;
  const routing::Routes& routes_;
  const collective::ChannelPlan& plan_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Duration> delays_;
};

// When a rank holds what it has of a chunk; 0 where nothing came in. Looked up only.
class Holdings {
 public:
  [[nodiscard]] Duration at(const Step& step, std::uint32_t rank) const {
    const auto found = times_.find(key(step, rank));
    return found == times_.end() ? Duration() : found->second;
  }
  void set(const Step& step, std::uint32_t rank, Duration time) { times_[key(step, rank)] = time; }

 private:
  using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint16_t>;
  struct Hash {
    std::size_t operator()(const Key& k) const {
      return hash_combine(hash_combine(std::get<0>(k), std::get<1>(k)), std::get<2>(k));
    }
  };
  static Key key(const Step& step, std::uint32_t rank) { return {step.chunk, rank, step.channel}; }

  std::unordered_map<Key, Duration, Hash> times_;
};

}  // namespace

bool has_wide_area(const fabric::Fabric& fabric) {
  return std::ranges::any_of(fabric.link_classes(), [](const fabric::LinkClass& c) {
    return c.kind == fabric::LinkKind::wide_area;
  });
}

Duration wide_area_delay(const fabric::Fabric& fabric, const routing::Routes& routes,
                         const collective::Algorithm& algorithm, const collective::Request& request,
                         const collective::ChannelPlan& plan) {
  std::vector<Step> steps;
  algorithm.steps(request, plan, [&](const Step& step) { steps.push_back(step); });
  const auto order = [](const Step& s) {
    return std::tie(s.round, s.channel, s.chunk, s.from, s.to);
  };
  std::sort(steps.begin(), steps.end(),
            [&](const Step& a, const Step& b) { return order(a) < order(b); });
  Crossings crossings(fabric, routes, plan);
  Holdings held;
  Duration last;
  std::vector<Duration> arrivals;
  for (std::size_t begin = 0; begin < steps.size();) {
    std::size_t end = begin;
    arrivals.clear();
    for (; end < steps.size() && steps[end].round == steps[begin].round; ++end) {
      const Step& step = steps[end];
      arrivals.push_back(held.at(step, step.from) + crossings.between(step.from, step.to));
    }
    for (std::size_t i = begin; i < end; ++i) {  // a round is sent before any of it is used
      Duration time = arrivals[i - begin];
      if (steps[i].reduce) time = std::max(time, held.at(steps[i], steps[i].to));
      held.set(steps[i], steps[i].to, time);
      last = std::max(last, time);
    }
    begin = end;
  }
  return last;
}

}  // namespace weft::engine
