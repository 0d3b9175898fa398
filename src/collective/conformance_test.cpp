// One body over every algorithm, every collective it supports, 2 to 16 ranks on 1, 2 and 4 nodes:
// the exact steps leave the right data on every rank, the fluid view carries the same bytes, and
// their totals are the closed forms.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <set>

#include "collective/schedule.h"
#include "collective/test_fabrics.h"

namespace weft::collective {
namespace {

using work::CollectiveKind;

Constants ideal() {
  Constants constants;
  GenerationConstants one;
  constants.generations = {one};
  return constants;
}

std::vector<Step> steps_of(const Algorithm& algorithm, const Request& request,
                           const ChannelPlan& plan) {
  std::vector<Step> steps;
  algorithm.steps(request, plan, [&](const Step& step) { steps.push_back(step); });
  std::stable_sort(steps.begin(), steps.end(),
                   [](const Step& a, const Step& b) { return a.round < b.round; });
  return steps;
}

// What one rank holds of one piece: how often each rank's contribution is in it.
using Contributions = std::vector<int>;
using Piece = std::pair<std::uint16_t, std::uint32_t>;  // channel, chunk

class SymbolicRun {
 public:
  SymbolicRun(CollectiveKind kind, std::uint32_t root, std::uint32_t n,
              const std::vector<Step>& steps)
      : kind_(kind), root_(root), n_(n) {
    for (const Step& step : steps) {
      sizes_[piece(step)] = step.size;
      EXPECT_NE(step.from, step.to);
    }
    for (const auto& [piece, size] : sizes_)
      for (std::uint32_t rank = 0; rank < n; ++rank) held_[{rank, piece}] = initial(rank, piece);
    run(steps);
  }

  void expect_promise() const {
    for (const auto& [piece, size] : sizes_)
      for (std::uint32_t rank = 0; rank < n_; ++rank) {
        const auto wanted = promised(rank, piece);
        if (!wanted) continue;
        EXPECT_EQ(held_.at({rank, piece}), *wanted)
            << "rank " << rank << " channel " << piece.first << " chunk " << piece.second;
      }
  }
  [[nodiscard]] const std::map<Piece, Bytes>& sizes() const { return sizes_; }

 private:
  static Piece piece(const Step& step) { return {step.channel, step.chunk}; }
  [[nodiscard]] bool pairwise() const {
    return kind_ == CollectiveKind::all_to_all || kind_ == CollectiveKind::send_recv;
  }
  [[nodiscard]] Contributions only(std::uint32_t rank) const {
    Contributions out(n_, 0);
    out[rank] = 1;
    return out;
  }
  // Who has data to begin with.
  [[nodiscard]] Contributions initial(std::uint32_t rank, const Piece& piece) const {
    switch (kind_) {
      case CollectiveKind::all_gather:
      case CollectiveKind::gather:
      case CollectiveKind::hypercube:
        return rank == piece.second ? only(rank) : Contributions(n_, 0);
      case CollectiveKind::broadcast:
      case CollectiveKind::scatter:
        return rank == root_ ? only(rank) : Contributions(n_, 0);
      case CollectiveKind::all_to_all:
      case CollectiveKind::send_recv:
        return rank == piece.second / n_ ? only(rank) : Contributions(n_, 0);
      default:
        return only(rank);
    }
  }
  [[nodiscard]] std::optional<Contributions> promised(std::uint32_t rank,
                                                      const Piece& piece) const {
    switch (kind_) {
      case CollectiveKind::all_reduce:
        return Contributions(n_, 1);
      case CollectiveKind::all_gather:
      case CollectiveKind::hypercube:
        return only(piece.second);
      case CollectiveKind::gather:
        return rank == root_ ? std::optional(only(piece.second)) : std::nullopt;
      case CollectiveKind::scatter:
        return rank == piece.second ? std::optional(only(root_)) : std::nullopt;
      case CollectiveKind::reduce_scatter:
        return rank == piece.second ? std::optional(Contributions(n_, 1)) : std::nullopt;
      case CollectiveKind::broadcast:
        return only(root_);
      case CollectiveKind::reduce:
        return rank == root_ ? std::optional(Contributions(n_, 1)) : std::nullopt;
      case CollectiveKind::moe_dispatch:
      case CollectiveKind::moe_combine:
        break;
      case CollectiveKind::all_to_all:
      case CollectiveKind::send_recv:
        return rank == piece.second % n_ ? std::optional(only(piece.second / n_)) : std::nullopt;
    }
    return std::nullopt;
  }

  void run(const std::vector<Step>& steps) {
    for (std::size_t begin = 0; begin < steps.size();) {
      std::size_t end = begin;
      while (end < steps.size() && steps[end].round == steps[begin].round) ++end;
      // All sends of a round read what was there before it.
      std::vector<Contributions> sends;
      for (std::size_t i = begin; i < end; ++i)
        sends.push_back(held_.at({steps[i].from, piece(steps[i])}));
      for (std::size_t i = begin; i < end; ++i) {
        const Step& step = steps[i];
        const Contributions& sent = sends[i - begin];
        Contributions& into = held_.at({step.to, piece(step)});
        if (!step.reduce) into = sent;
        for (std::uint32_t r = 0; step.reduce && r < n_; ++r) into[r] += sent[r];
      }
      begin = end;
    }
  }

  CollectiveKind kind_;
  std::uint32_t root_, n_;
  std::map<Piece, Bytes> sizes_;
  std::map<std::pair<std::uint32_t, Piece>, Contributions> held_;
};

using Totals = std::map<std::pair<std::uint32_t, std::uint32_t>, double>;

// Bytes by pair of ranks. A step inside the switch counts once for its sender's link and once for
// its receiver's, a multicast once however many receive it, a reduction once however many send.
Totals bytes_of(const std::vector<Step>& steps) {
  Totals totals;
  std::set<std::tuple<std::uint32_t, bool, std::uint16_t, std::uint32_t>> counted, led;
  for (const Step& step : steps) {
    const double size = step.size.to_double();
    if (step.in_network) {
      // All-reduce: the first node's GPU, which stands for the switches, hands in and gets as well.
      const std::uint32_t lead = step.reduce ? step.to : step.from;
      const bool first = led.insert({lead, step.reduce, step.channel, step.chunk}).second;
      for (std::uint32_t rank : {step.reduce ? step.from : step.to, lead})
        if (rank != lead || first)
          totals[step.reduce ? std::pair{rank, kSwitchPlane} : std::pair{kSwitchPlane, rank}] +=
              size;
      continue;
    }
    if (!step.in_switch) {
      totals[{step.from, step.to}] += size;
      continue;
    }
    const std::uint32_t head = step.reduce ? step.to : step.from;
    const bool first = counted.insert({head, step.reduce, step.channel, step.chunk}).second;
    const std::pair up{step.from, kSwitchPlane}, down{kSwitchPlane, step.to};
    if (step.reduce || first) totals[up] += size;
    if (!step.reduce || first) totals[down] += size;
    // The head's own copy goes through the switch too: its answer to its own read, and its share of
    // its own multicast.
    if (first && step.reduce) totals[{head, kSwitchPlane}] += size;
    if (first && !step.reduce) totals[{kSwitchPlane, head}] += size;
  }
  return totals;
}

Totals bytes_of(const Fluid& fluid) {
  Totals totals;
  for (const Edge& edge : fluid.edges) {
    if (edge.relay) continue;
    const bool relayed = edge.origin != kSwitchPlane;
    totals[{relayed ? edge.origin : edge.from, edge.to}] += edge.bytes;
  }
  return totals;
}

double sum(const Totals& totals, std::optional<std::uint32_t> from = {}) {
  double out = 0;
  for (const auto& [ends, bytes] : totals)
    if (!from || ends.first == *from) out += bytes;
  return out;
}

// Over all places 1 to n-1 of a binomial tree: the chunks of the subtree below each, which is what
// every chunk's depth adds up to: the set bits of its place.
double set_bits(std::size_t n) {
  int bits = 0;
  for (std::size_t place = 1; place < n; ++place) bits += std::popcount(place);
  return bits;
}

// Bytes over all ranks in the textbook form, S the size and n the ranks.
std::optional<double> closed_form(std::string_view algorithm, CollectiveKind kind, double size,
                                  const ChannelPlan& plan) {
  const double n = static_cast<double>(plan.group.gpus.size());
  const double nodes = plan.nodes, local = n / nodes;
  if (kind == CollectiveKind::send_recv) return n * size;
  if (kind == CollectiveKind::broadcast || kind == CollectiveKind::reduce) return (n - 1) * size;
  if (algorithm == "binomial") return set_bits(plan.group.gpus.size()) * size / n;
  if (work::has_root(kind)) return (n - 1) * size / n;
  if (kind == CollectiveKind::all_to_all && (algorithm == "bruck" || algorithm == "hypercube"))
    return set_bits(plan.group.gpus.size()) * size;
  const double passes = kind == CollectiveKind::all_reduce ? 2 : 1;
  if (algorithm == "halving_doubling" && kind == CollectiveKind::all_reduce) {
    const auto places = static_cast<double>(std::bit_floor(plan.group.gpus.size()));
    return 2 * (n - places) * size + 2 * (places - 1) * size;  // folding, then (p-1)/p S twice
  }
  // Tree: every rank but the root passes the buffer up once and gets it once.
  if (algorithm == "tree") return 2 * (n - 1) * size;
  if (algorithm == "nvls") {
    // Up and down (1 + 1/n) S each for all_reduce; S one way and S/n the other for the rest.
    // With SHARP in the network every node hands in and gets S more.
    return (n + nodes) * size * (kind == CollectiveKind::all_reduce ? 2 : 1) +
           (nodes > 1 ? 2 * nodes * size : 0);
  }
  // Inside a node the buffer to the heads and back, in the network S a node each way.
  if (algorithm == "collnet_direct" || algorithm == "collnet_chain") return 2 * n * size;
  if (algorithm == "nvls_tree")
    return nodes * local * (1 + 1 / local) * size * 2 + 2 * (nodes - 1) * size;
  if (algorithm == "pxn" || (algorithm == "hierarchical" && kind == CollectiveKind::all_to_all))
    return n * (size / n) * ((local - 1) * nodes + local * (nodes - 1));
  if (algorithm == "hierarchical")
    return n * passes * size * ((local - 1) / local + (nodes - 1) / nodes / local);
  return n * passes * size * (n - 1) / n;  // ring and direct
}

void conform(const Algorithm& algorithm, const Request& request, const ChannelPlan& plan) {
  const auto n = static_cast<std::uint32_t>(plan.group.gpus.size());
  const std::vector<Step> steps = steps_of(algorithm, request, plan);
  ASSERT_FALSE(steps.empty());
  const SymbolicRun run(request.kind, request.root, n, steps);
  run.expect_promise();

  const bool pairs =
      request.kind == CollectiveKind::all_to_all || request.kind == CollectiveKind::send_recv;
  if (!pairs) {
    double covered = 0;
    for (const auto& [piece, size] : run.sizes()) covered += size.to_double();
    // Gather and scatter leave the root's own chunk where it is.
    if (request.kind == CollectiveKind::gather || request.kind == CollectiveKind::scatter)
      covered += piece_of(request.size, n, request.root).to_double();
    EXPECT_EQ(covered, request.size.to_double()) << "the chunks are not the buffer";
  }

  const Fluid fluid = algorithm.fluid(request, plan, ideal());
  const Totals exact = bytes_of(steps), flows = bytes_of(fluid);
  // Chunks are whole bytes: a pair's steps may be off by one a piece.
  const double rounding = static_cast<double>(n * (plan.channels.size() + 1) * 2);
  for (const auto& [ends, bytes] : exact) {
    const auto at = flows.find(ends);
    ASSERT_NE(at, flows.end()) << ends.first << " -> " << ends.second;
    EXPECT_NEAR(at->second, bytes, rounding) << ends.first << " -> " << ends.second;
  }
  EXPECT_NEAR(sum(flows), sum(exact), rounding * n);
  const auto form = closed_form(algorithm.name(), request.kind, request.size.to_double(), plan);
  ASSERT_TRUE(form);
  EXPECT_NEAR(sum(flows), *form, 1e-6 * *form);
  // Crossing edges say by which NICs.
  for (const Edge& edge : fluid.edges) {
    if (edge.multicast) continue;
    const bool crosses = plan.rank_node[edge.from] != plan.rank_node[edge.to];
    EXPECT_EQ(edge.from_nic.valid(), crosses);
    EXPECT_EQ(edge.to_nic.valid(), crosses);
  }
}

constexpr std::int64_t kSize = 1'000'003;  // prime: nothing divides evenly

TEST(Conformance, EveryAlgorithmKeepsItsPromise) {
  int ran = 0;
  std::set<std::string_view> seen;
  for (int nodes : {1, 2, 4}) {
    test_fabrics::ServerSpec wide = test_fabrics::h100();
    wide.gpus = 16;
    const fabric::Fabric nvswitch = test_fabrics::cluster(wide, nodes, true);
    const fabric::Fabric pairs = test_fabrics::cluster(test_fabrics::a100(), nodes);
    for (int n : {2, 3, 4, 5, 7, 8, 12, 16}) {
      if (n % nodes != 0) continue;
      for (const fabric::Fabric* fabric : {&nvswitch, &pairs}) {
        const ChannelPlan plan = plan_channels(*fabric, test_fabrics::some_gpus(*fabric, n / nodes),
                                               {.force_channels = 3, .use_nvls = true});
        if (static_cast<int>(plan.group.gpus.size()) != n) continue;
        ASSERT_FALSE(plan.channels.empty());
        for (const Algorithm* algorithm : all_algorithms()) {
          for (std::size_t k = 0; k < work::kCollectiveKindCount; ++k) {
            const Request request{.kind = static_cast<CollectiveKind>(k),
                                  .size = Bytes(kSize),
                                  .root = static_cast<std::uint32_t>(n - 1),
                                  .protocol = Protocol::simple};
            if (!algorithm->refuse(request, plan).empty()) continue;
            SCOPED_TRACE(fmt::format("{} {} n {} nodes {}", algorithm->name(),
                                     work::to_text(request.kind), n, nodes));
            conform(*algorithm, request, plan);
            seen.insert(algorithm->name());
            ++ran;
          }
        }
      }
    }
  }
  // moe_direct and moe_relay have their own in moe_test.cpp.
  EXPECT_EQ(seen.size(), all_algorithms().size() - 2) << "an algorithm never ran";
  EXPECT_GT(ran, 200);
}

TEST(Conformance, PxnAndCrossNicRingsAsWell) {
  // B200: 8 x 48 GB/s of network fit NVLink with PXN's extra hop; H100's do not, it crosses NICs.
  for (const auto& spec : {test_fabrics::b200(), test_fabrics::h100()}) {
    const fabric::Fabric fabric = test_fabrics::cluster(spec, 2);
    const ChannelPlan plan = plan_channels(fabric, test_fabrics::all_gpus(fabric));
    EXPECT_NE(plan.pxn, plan.cross_nic);
    for (auto kind : {CollectiveKind::all_reduce, CollectiveKind::all_gather}) {
      const Request request{
          .kind = kind, .size = Bytes(kSize), .root = 0, .protocol = Protocol::simple};
      conform(*find_algorithm("ring"), request, plan);
    }
  }
}

TEST(Conformance, RingBytesOfOneRank) {
  const fabric::Fabric fabric = test_fabrics::server(test_fabrics::h100());
  const ChannelPlan plan = plan_channels(fabric, test_fabrics::all_gpus(fabric));
  const auto sent = [&](const char* algorithm, CollectiveKind kind, std::uint32_t rank) {
    const Request request{
        .kind = kind, .size = Bytes(8'000'000), .root = 0, .protocol = Protocol::simple};
    return sum(bytes_of(find_algorithm(algorithm)->fluid(request, plan, ideal())), rank);
  };
  EXPECT_NEAR(sent("ring", CollectiveKind::all_reduce, 3), 14'000'000, 1e-3);  // 2 x 7/8 x 8 MB
  EXPECT_NEAR(sent("ring", CollectiveKind::all_gather, 3), 7'000'000, 1e-3);   // 7/8 x 8 MB
  EXPECT_NEAR(sent("tree", CollectiveKind::all_reduce, 3), 16'000'000, 1e-3);  // up and down: 2 S
  EXPECT_NEAR(sent("nvls", CollectiveKind::all_reduce, 3), 9'000'000, 1e-3);   // (1 + 1/8) S
  EXPECT_NEAR(sent("nvls", CollectiveKind::all_gather, 3), 1'000'000, 1e-3);   // S/8, once
  EXPECT_NEAR(sent("nvls", CollectiveKind::reduce_scatter, 3), 8'000'000, 1e-3);
  EXPECT_NEAR(sent("direct", CollectiveKind::all_to_all, 3), 7'000'000, 1e-3);
}

TEST(Conformance, EveryNodeIsInnerInAtMostOneTree) {
  for (std::uint32_t count : {1u, 2u, 3u, 4u, 7u, 8u, 31u, 32u, 100u}) {
    const auto trees = double_binary_tree(count);
    std::vector<int> inner(count, 0);
    for (const NodeTree& tree : trees) {
      std::vector<int> children(count, 0);
      int roots = 0;
      for (std::uint32_t node = 0; node < count; ++node) {
        if (tree.parent[node])
          ++children[*tree.parent[node]];
        else
          ++roots;
      }
      EXPECT_EQ(roots, 1);
      for (std::uint32_t node = 0; node < count; ++node) {
        EXPECT_LE(children[node], 2);
        inner[node] += children[node] > 0;
      }
      // Depth: ceil of log2(count), the root's single child included.
      EXPECT_LE(tree.height[tree.root], static_cast<std::uint32_t>(std::bit_width(count)));
    }
    const int twice = static_cast<int>(
        std::count_if(inner.begin(), inner.end(), [](int times) { return times > 1; }));
    EXPECT_LE(twice, 1) << count;  // all but one
  }
}

TEST(Conformance, LargeAllToAllKeepsEachRanksBytes) {
  const fabric::Fabric fabric = test_fabrics::cluster(test_fabrics::h100(), 128);
  const ChannelPlan plan = plan_channels(fabric, test_fabrics::all_gpus(fabric));
  const Request request{.kind = CollectiveKind::all_to_all,
                        .size = Bytes::mib(64),
                        .root = 0,
                        .protocol = Protocol::simple};
  const Fluid fluid = find_algorithm("direct")->fluid(request, plan, ideal());
  // 16 of 127 nodes stand for all: 7 + 16 x 8 edges a rank instead of 1023.
  EXPECT_EQ(fluid.edges.size(), 1024u * (7 + 16 * 8));
  std::vector<double> out(1024), in(1024);
  for (const Edge& edge : fluid.edges) {
    out[edge.from] += edge.bytes;
    in[edge.to] += edge.bytes;
  }
  for (std::size_t rank = 0; rank < 1024; ++rank) {
    EXPECT_NEAR(out[rank], request.size.to_double() * 1023 / 1024, 1);
    EXPECT_NEAR(in[rank], request.size.to_double() * 1023 / 1024, 1);
  }
}

TEST(Conformance, ARefusalSaysWhy) {
  const fabric::Fabric fabric = test_fabrics::server(test_fabrics::a100());
  const ChannelPlan plan = plan_channels(fabric, test_fabrics::all_gpus(fabric));
  const Request request{.kind = CollectiveKind::all_reduce,
                        .size = Bytes(1),
                        .root = 0,
                        .protocol = Protocol::simple};
  EXPECT_EQ(find_algorithm("nvls")->refuse(request, plan),
            "needs NVSwitches and GPUs with multicast (NVLink SHARP)");
  EXPECT_EQ(find_algorithm("hierarchical")->refuse(request, plan), "needs two nodes or more");
  EXPECT_EQ(find_algorithm("halved"), nullptr);
}

}  // namespace
}  // namespace weft::collective
