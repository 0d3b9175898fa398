// Mixture of experts: where tokens go, by closed form and drawn; and that both algorithms bring
// every token to its experts and every result back, with the bytes that their fluid form says.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "collective/moe_traffic.h"
#include "collective/schedule.h"
#include "collective/test_fabrics.h"
#include "collective/tuner.h"

namespace weft::collective {
namespace {

using work::CollectiveKind;
using work::MoeShape;

TEST(Moe, BytesOfATokenAndOfARank) {
  // fp8: 7168 + 56 scales of 4 bytes; 4096 tokens x 8 x 7392 B.
  EXPECT_EQ(work::dispatch_shape().token_bytes(), 7392);
  EXPECT_EQ(work::dispatch_shape().size().count(), 242'221'056);
  EXPECT_EQ(work::combine_shape().token_bytes(), 14336);
}

// Of 256 experts a token has 8: parts hit = N (1 - C(256 - 256/N, 8) / C(256, 8)).
TEST(Moe, NodesThatATokenGoesTo) {
  const std::map<int, double> expected{
      {2, 1.993}, {4, 3.614}, {8, 5.295}, {16, 6.523}, {32, 7.267}};
  for (const auto& [nodes, hit] : expected)
    EXPECT_NEAR(expected_spread(MoeShape{}, 256, nodes).nodes, hit, 5e-4) << nodes;
  EXPECT_NEAR(expected_spread(MoeShape{}, 64, 8).ranks, 7.676, 5e-4);
  MoeShape limited;
  limited.max_nodes = 4;
  // More than 4 of 8 nodes would be hit by most tokens: nearly all fill the limit.
  const ExpectedSpread spread = expected_spread(limited, 64, 8);
  EXPECT_GT(spread.nodes, 3.9);
  EXPECT_LE(spread.nodes, 4.0);
  EXPECT_LT(spread.ranks, expected_spread(MoeShape{}, 64, 8).ranks);
}

// Servers with NVSwitch, `local` GPUs on each of `nodes`.
struct Cluster {
  Cluster(int nodes, int local)
      : fabric(test_fabrics::cluster(test_fabrics::h100(), nodes)),
        plan(plan_channels(fabric, test_fabrics::some_gpus(fabric, local))) {}
  fabric::Fabric fabric;
  ChannelPlan plan;
};

TEST(Moe, DrawingAgreesWithTheClosedForm) {
  const Cluster cluster(4, 4);
  for (int most : {0, 1, 2, 3}) {
    MoeShape shape;
    shape.tokens = 2000;
    shape.max_nodes = most;
    shape.drawn = true;
    const ExpectedSpread spread = expected_spread(shape, 16, 4);
    const MoeTraffic drawn(shape, cluster.plan);
    double nodes = 0, ranks = 0, copies = 0;
    for (std::uint32_t source = 0; source < 16; ++source) {
      for (std::uint32_t node = 0; node < 4; ++node) nodes += drawn.to_node(source, node);
      for (std::uint32_t rank = 0; rank < 16; ++rank) {
        ranks += drawn.to_rank(source, rank);
        copies += drawn.copies(source, rank);
      }
    }
    const double tokens = 16 * 2000;
    EXPECT_EQ(copies, tokens * 8);
    EXPECT_NEAR(nodes / tokens, spread.nodes, 0.005 * spread.nodes) << most;
    EXPECT_NEAR(ranks / tokens, spread.ranks, 0.01 * spread.ranks) << most;
  }
}

TEST(Moe, SkewMakesHotRanksAndTheSeedRepeats) {
  const Cluster cluster(2, 8);
  MoeShape shape;
  shape.tokens = 500;
  shape.drawn = true;
  const auto hottest = [&](double skew, std::uint64_t seed) {
    shape.skew = skew;
    shape.seed = seed;
    const MoeTraffic drawn(shape, cluster.plan);
    double most = 0;
    for (std::uint32_t rank = 0; rank < 16; ++rank) {
      double sum = 0;
      for (std::uint32_t source = 0; source < 16; ++source) sum += drawn.copies(source, rank);
      most = std::max(most, sum);
    }
    return most / (500.0 * 8);  // of the mean, which is tokens x top_k
  };
  EXPECT_LT(hottest(0, 1), 1.1);
  EXPECT_GT(hottest(0.8, 1), 1.3);
  EXPECT_EQ(hottest(0.8, 1), hottest(0.8, 1));
  EXPECT_NE(hottest(0.8, 1), hottest(0.8, 2));
}

TEST(Moe, RefusalsSayWhy) {
  const Cluster cluster(2, 8);
  EXPECT_NE(refuse_moe(nullptr, cluster.plan).find("shape"), std::string::npos);
  MoeShape shape;
  shape.experts = 100;
  EXPECT_EQ(refuse_moe(&shape, cluster.plan), "100 experts do not spread evenly over 16 ranks");
  shape.experts = 16;
  shape.top_k = 9;
  shape.max_nodes = 1;
  EXPECT_EQ(refuse_moe(&shape, cluster.plan),
            "1 nodes have 8 experts, fewer than the 9 of a token");
}

Constants ideal() {
  Constants constants;
  GenerationConstants one;
  constants.generations = {one};
  return constants;
}

// Follows the sends of one exchange by their round.
class Follow {
 public:
  Follow(const Request& request, const ChannelPlan& plan, std::vector<Step> steps)
      : plan_(plan),
        n_(static_cast<std::uint32_t>(plan.group.gpus.size())),
        steps_(std::move(steps)) {
    std::stable_sort(steps_.begin(), steps_.end(),
                     [](const Step& a, const Step& b) { return a.round < b.round; });
    if (request.kind == CollectiveKind::moe_dispatch)
      dispatch();
    else
      combine();
  }

 private:
  [[nodiscard]] std::uint32_t nodes() const { return static_cast<std::uint32_t>(plan_.nodes); }
  [[nodiscard]] bool for_node(const Step& step) const { return step.chunk >= n_ * n_; }
  [[nodiscard]] std::uint32_t source(const Step& step) const {
    return for_node(step) ? (step.chunk - n_ * n_) / nodes() : step.chunk / n_;
  }

  // Who has the tokens of a source for a rank.
  void dispatch() {
    using Held = std::set<std::pair<std::uint32_t, std::uint32_t>>;  // source, rank
    std::vector<Held> held(n_);
    for (std::uint32_t s = 0; s < n_; ++s)
      for (std::uint32_t d = 0; d < n_; ++d) held[s].insert({s, d});
    for (const Step& step : steps_) {
      const std::uint32_t s = source(step);
      std::vector<std::uint32_t> targets{step.chunk % n_};
      if (for_node(step)) targets = plan_.node_ranks[(step.chunk - n_ * n_) % nodes()];
      for (std::uint32_t d : targets) {
        EXPECT_TRUE(held[step.from].contains({s, d}));
        held[step.to].insert({s, d});
      }
    }
    for (std::uint32_t s = 0; s < n_; ++s)
      for (std::uint32_t d = 0; d < n_; ++d) EXPECT_TRUE(held[d].contains({s, d})) << s << " " << d;
  }

  // Whose results for a source are in the sum that a rank has.
  void combine() {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::multiset<std::uint32_t>> sums;
    for (std::uint32_t s = 0; s < n_; ++s)
      for (std::uint32_t d = 0; d < n_; ++d) sums[{d, s}] = {d};
    for (const Step& step : steps_) {
      EXPECT_TRUE(step.reduce);
      const std::uint32_t s = source(step);
      const auto sent = sums[{step.from, s}];
      sums[{step.to, s}].insert(sent.begin(), sent.end());
    }
    std::multiset<std::uint32_t> all;
    for (std::uint32_t d = 0; d < n_; ++d) all.insert(d);
    for (std::uint32_t s = 0; s < n_; ++s) EXPECT_EQ((sums[{s, s}]), all) << s;
  }

  const ChannelPlan& plan_;
  std::uint32_t n_;
  std::vector<Step> steps_;
};

using Totals = std::map<std::pair<std::uint32_t, std::uint32_t>, double>;

void conform(const Algorithm& algorithm, const Request& request, const ChannelPlan& plan) {
  ASSERT_EQ(algorithm.refuse(request, plan), "");
  std::vector<Step> steps;
  algorithm.steps(request, plan, [&](const Step& step) { steps.push_back(step); });
  const Follow follow(request, plan, steps);
  Totals exact, flows;
  for (const Step& step : steps) exact[{step.from, step.to}] += step.size.to_double();
  for (const Edge& edge : algorithm.fluid(request, plan, ideal()).edges) {
    flows[{edge.from, edge.to}] += edge.bytes;
    EXPECT_EQ(edge.from_nic.valid(), plan.rank_node[edge.from] != plan.rank_node[edge.to]);
  }
  EXPECT_EQ(exact.size(), flows.size());
  for (const auto& [ends, bytes] : exact)  // a step is whole bytes
    EXPECT_NEAR(flows[ends], bytes, plan.nodes + 1) << ends.first << " -> " << ends.second;
}

TEST(Moe, EveryTokenArrivesAndEveryResultReturns) {
  for (int nodes : {1, 2, 4}) {
    const Cluster cluster(nodes, 4);
    for (const char* name : {"moe_direct", "moe_relay"})
      for (const bool drawn : {false, true}) {
        MoeShape shape = work::dispatch_shape();
        shape.tokens = 256;
        shape.drawn = drawn;
        shape.skew = drawn ? 0.5 : 0;
        for (auto kind : {CollectiveKind::moe_dispatch, CollectiveKind::moe_combine}) {
          SCOPED_TRACE(
              fmt::format("{} {} nodes {} drawn {}", name, work::to_text(kind), nodes, drawn));
          Request request{.kind = kind, .size = shape.size(), .moe = &shape};
          conform(*find_algorithm(name), request, cluster.plan);
        }
      }
  }
}

// One copy a node instead of one an expert: on 4 nodes of 4 GPUs 3.614 x 3/4 against 8 x 3/4 of a
// token's bytes leave a rank.
TEST(Moe, TheRelaySavesNetworkBytes) {
  const Cluster cluster(4, 4);
  const MoeShape shape = work::dispatch_shape();
  const Request request{.kind = CollectiveKind::moe_dispatch, .size = shape.size(), .moe = &shape};
  const auto outside = [&](const char* name) {
    double bytes = 0;
    for (const Edge& edge : find_algorithm(name)->fluid(request, cluster.plan, ideal()).edges)
      if (edge.from == 0 && edge.from_nic.valid()) bytes += edge.bytes;
    return bytes / (4096.0 * 7392);
  };
  EXPECT_NEAR(outside("moe_direct"), 6, 1e-9);
  EXPECT_NEAR(outside("moe_relay"), 3.614 * 0.75, 1e-3);
}

TEST(Moe, ManyTokensGoByRelayFewStraight) {
  const Cluster cluster(2, 8);
  MoeShape shape = work::dispatch_shape();
  std::string reason;
  const auto chosen = [&](std::int64_t tokens, std::string algorithm) {
    shape.tokens = tokens;
    const auto best = choose({CollectiveKind::moe_dispatch, shape.size(), &cluster.plan, &shape},
                             {std::move(algorithm), std::nullopt, 0}, reason);
    return best ? best->algorithm : reason;
  };
  EXPECT_EQ(chosen(4096, ""), "moe_relay");
  EXPECT_EQ(chosen(128, ""), "moe_direct");
  EXPECT_EQ(chosen(128, "moe_relay"), "moe_relay");  // when asked for
}

}  // namespace
}  // namespace weft::collective
