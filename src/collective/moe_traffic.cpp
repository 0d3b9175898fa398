#include "collective/moe_traffic.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/random.h"

namespace weft::collective {
namespace {

// Drawing more pairs of token and rank than this takes tens of seconds.
constexpr double kMostDrawn = 5e7;
constexpr std::size_t kMostDrawnRanks = 4096;

double choose_ln(double n, double k) {
  if (k < 0 || k > n) return -INFINITY;
  return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1);
}

// Expected number of parts with something, drawing k of `parts` x `each` without putting back.
double expected_distinct(double parts, double each, double k) {
  return parts * (1 - std::exp(choose_ln(parts * each - each, k) - choose_ln(parts * each, k)));
}

// ways[d][x]: ways to choose x of d parts of `each`, something of every part.
std::vector<std::vector<double>> ways_to_hit(int parts, int each, int k) {
  std::vector<std::vector<double>> ways(static_cast<std::size_t>(parts) + 1);
  for (auto& row : ways) row.assign(static_cast<std::size_t>(k) + 1, 0);
  ways[0][0] = 1;
  for (std::size_t d = 1; d < ways.size(); ++d)
    for (int x = 1; x <= k; ++x)
      for (int y = 1; y <= std::min(x, each); ++y)
        ways[d][static_cast<std::size_t>(x)] +=
            ways[d - 1][static_cast<std::size_t>(x - y)] * std::exp(choose_ln(each, y));
  return ways;
}

// The experts of a token, drawn one after the other by popularity; of nodes beyond the first
// max_nodes that come up none is taken. That is what choosing the nodes with the best expert and
// then the best experts on them comes to.
class Router {
 public:
  Router(const work::MoeShape& shape, std::size_t nodes) : shape_(shape) {
    const auto experts = static_cast<std::size_t>(shape.experts);
    experts_a_node_ = experts / nodes;
    most_nodes_ = shape.max_nodes > 0 ? static_cast<std::size_t>(shape.max_nodes) : nodes;
    std::vector<std::size_t> order(experts);
    std::iota(order.begin(), order.end(), std::size_t{0});
    RandomStream random(shape.seed, kOrderEntity);
    for (std::size_t i = experts; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
    weight_.resize(experts);
    for (std::size_t i = 0; i < experts; ++i)
      weight_[order[i]] = std::pow(static_cast<double>(i) + 1, -shape.skew);
    sum_.resize(experts);
    std::partial_sum(weight_.begin(), weight_.end(), sum_.begin());
  }

  // Into `experts`, which stays valid until the next call.
  const std::vector<std::size_t>& route(RandomStream& random) {
    chosen_.clear();
    nodes_.clear();
    int misses = 0;
    while (chosen_.size() < static_cast<std::size_t>(shape_.top_k)) {
      const std::size_t expert = misses < kMostMisses ? draw(random) : draw_of_the_rest(random);
      if (allowed(expert))
        take(expert);
      else
        ++misses;
    }
    return chosen_;
  }

 private:
  static constexpr std::uint64_t kOrderEntity = ~std::uint64_t{0};
  static constexpr int kMostMisses = 256;

  [[nodiscard]] bool allowed(std::size_t expert) const {
    if (std::find(chosen_.begin(), chosen_.end(), expert) != chosen_.end()) return false;
    return nodes_.size() < most_nodes_ ||
           std::find(nodes_.begin(), nodes_.end(), expert / experts_a_node_) != nodes_.end();
  }
  void take(std::size_t expert) {
    chosen_.push_back(expert);
    const std::size_t node = expert / experts_a_node_;
    if (std::find(nodes_.begin(), nodes_.end(), node) == nodes_.end()) nodes_.push_back(node);
  }
  [[nodiscard]] std::size_t draw(RandomStream& random) const {
    const double at = random.uniform() * sum_.back();
    const auto found = std::upper_bound(sum_.begin(), sum_.end(), at);
    return std::min(static_cast<std::size_t>(found - sum_.begin()), sum_.size() - 1);
  }
  // Among the allowed ones only: the popular ones are all taken.
  std::size_t draw_of_the_rest(RandomStream& random) const {
    double total = 0;
    for (std::size_t e = 0; e < weight_.size(); ++e) total += allowed(e) ? weight_[e] : 0;
    double at = random.uniform() * total;
    std::size_t last = 0;
    for (std::size_t e = 0; e < weight_.size(); ++e) {
      if (!allowed(e)) continue;
      last = e;
      at -= weight_[e];
      if (at < 0) break;
    }
    return last;
  }

  const work::MoeShape& shape_;
  std::size_t experts_a_node_ = 1, most_nodes_ = 1;
  std::vector<double> weight_, sum_;
  std::vector<std::size_t> chosen_, nodes_;
};

}  // namespace

ExpectedSpread expected_spread(const work::MoeShape& shape, int ranks, int nodes) {
  const double experts = shape.experts, k = shape.top_k;
  const double each_rank = experts / ranks, each_node = experts / nodes;
  const int most = shape.max_nodes > 0 ? std::min(shape.max_nodes, nodes) : nodes;
  if (most >= std::min(nodes, shape.top_k))
    return {expected_distinct(nodes, each_node, k), expected_distinct(ranks, each_rank, k)};
  // A token that would spread over more nodes fills exactly `most`. Of k experts on m nodes, each
  // of which has some, the ranks hit are those of k of m nodes' experts, corrected for the m nodes
  // being hit for sure.
  const auto each = static_cast<int>(each_node);
  const auto ways = ways_to_hit(nodes, each, shape.top_k);
  const auto last = static_cast<std::size_t>(shape.top_k);
  ExpectedSpread out;
  for (int hit = 1; hit <= std::min(nodes, shape.top_k); ++hit) {
    const double chance = std::exp(choose_ln(nodes, hit) - choose_ln(experts, k)) *
                          ways[static_cast<std::size_t>(hit)][last];
    const int on = std::min(hit, most);
    out.nodes += chance * on;
    // Given `on` nodes, all hit: by inclusion and exclusion over a rank left empty.
    const auto all_hit = ways[static_cast<std::size_t>(on)][last];
    double empty = 0;  // ways in which one given rank of those nodes gets nothing
    for (int y = 1; y <= std::min(shape.top_k, each - static_cast<int>(each_rank)); ++y)
      empty += std::exp(choose_ln(each - each_rank, y)) *
               ways[static_cast<std::size_t>(on) - 1][last - static_cast<std::size_t>(y)];
    out.ranks += chance * on * (each_node / each_rank) * (1 - empty / all_hit);
  }
  return out;
}

MoeTraffic::MoeTraffic(const work::MoeShape& shape, const ChannelPlan& plan)
    : uniform_(!shape.drawn),
      n_(plan.group.gpus.size()),
      nodes_(plan.node_ranks.size()),
      tokens_(static_cast<double>(shape.tokens)),
      top_k_(shape.top_k) {
  if (uniform_)
    spread_ = expected_spread(shape, static_cast<int>(n_), static_cast<int>(nodes_));
  else
    draw(shape, plan);
}

void MoeTraffic::draw(const work::MoeShape& shape, const ChannelPlan& plan) {
  to_rank_.assign(n_ * n_, 0);
  copies_.assign(n_ * n_, 0);
  to_node_.assign(n_ * nodes_, 0);
  const std::size_t each = static_cast<std::size_t>(shape.experts) / n_;
  Router router(shape, nodes_);
  std::vector<std::int64_t> rank_seen(n_, -1), node_seen(nodes_, -1);
  for (std::size_t source = 0; source < n_; ++source) {
    RandomStream random(shape.seed, source);
    for (std::int64_t token = 0; token < shape.tokens; ++token) {
      const std::int64_t id = static_cast<std::int64_t>(source) * shape.tokens + token;
      for (std::size_t expert : router.route(random)) {
        // Experts go by node, then by place in it: what a group in node order has anyway.
        const std::size_t place = expert / each, local = n_ / nodes_;
        const std::size_t node = place / local;
        const std::uint32_t rank = plan.node_ranks[node][place % local];
        ++copies_[source * n_ + rank];
        if (std::exchange(rank_seen[rank], id) != id) ++to_rank_[source * n_ + rank];
        if (std::exchange(node_seen[node], id) != id) ++to_node_[source * nodes_ + node];
      }
    }
  }
}

std::string refuse_moe(const work::MoeShape* shape, const ChannelPlan& plan) {
  if (plan.channels.empty()) return "no channel was found on this fabric";
  if (shape == nullptr) return "needs the shape of the exchange: tokens, hidden, experts, top_k";
  const std::size_t n = plan.group.gpus.size();
  const auto faults =
      work::validate(*shape, static_cast<int>(n), static_cast<int>(plan.node_ranks.size()));
  if (!faults.empty()) return faults.front();
  if (n != plan.node_ranks.size() * static_cast<std::size_t>(plan.ranks_per_node))
    return "needs equally many ranks on each node";
  if (shape->drawn &&
      (n > kMostDrawnRanks ||
       static_cast<double>(n) * static_cast<double>(shape->tokens) * shape->top_k > kMostDrawn))
    return fmt::format("{} ranks x {} tokens are too many to draw; use expected routing", n,
                       shape->tokens);
  return {};
}

}  // namespace weft::collective
