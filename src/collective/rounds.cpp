#include "collective/rounds.h"

#include <bit>

namespace weft::collective {

using work::CollectiveKind;

namespace {

std::uint32_t node_of(const ChannelPlan& plan, std::uint32_t rank) {
  return plan.rank_node[rank];
}

// Adds one round in which the ranks of the first node send `share` of the buffer each.
void add_round(const Round& round, double share, const Folded& ranks, const ChannelPlan& plan,
               Shares& out) {
  const std::uint32_t node = node_of(plan, 0);
  double near = 0, far = 0;
  for (std::uint32_t place = 0; place < ranks.places; ++place) {
    const std::uint32_t rank = ranks.rank(place);
    if (node_of(plan, rank) != node) continue;
    const std::uint32_t to = ranks.rank(partner_of(round, place, ranks.places));
    (node_of(plan, to) == node ? near : far) += 1;
  }
  const double local = plan.ranks_per_node;
  out.inside += share * near / local;
  out.outside += share * far / local;
  (far > 0 ? out.inter_hops : out.intra_hops) += 1;
}

Shares of_rounds(const std::vector<Round>& rounds, const Folded& ranks, const ChannelPlan& plan) {
  Shares out;
  for (const Round& round : rounds)
    add_round(round, static_cast<double>(round.chunks) / ranks.places, ranks, plan, out);
  return out;
}

// Of the root, which sends or receives most.
Shares of_binomial(CollectiveKind kind, const ChannelPlan& plan) {
  const auto n = static_cast<std::uint32_t>(plan.group.gpus.size());
  const Binomial tree{n, 0};
  Shares out;
  for (std::uint32_t child = 1; child < n; child *= 2) {
    const bool whole = kind == CollectiveKind::broadcast || kind == CollectiveKind::reduce;
    const double share = whole ? 1 : static_cast<double>(tree.end(child) - child) / n;
    const bool near = node_of(plan, child) == node_of(plan, 0);
    (near ? out.inside : out.outside) += share;
    ++(near ? out.intra_hops : out.inter_hops);
  }
  return out;
}

// Every peer in turn; those of the own node first, then the others.
Shares of_pairwise(const ChannelPlan& plan) {
  const int n = static_cast<int>(plan.group.gpus.size()), local = plan.ranks_per_node;
  Shares out;
  out.intra_hops = local - 1;
  out.inter_hops = n - local;
  out.inside = static_cast<double>(local - 1) / n;
  out.outside = static_cast<double>(n - local) / n;
  return out;
}

// To the local GPU on the destination's rail, then along the rail.
Shares of_pxn(const ChannelPlan& plan) {
  const double n = static_cast<double>(plan.group.gpus.size());
  const double local = plan.ranks_per_node, nodes = plan.nodes;
  return {.intra_hops = 1,
          .inter_hops = 1,
          .inside = (local - 1) * nodes / n,
          .outside = (nodes - 1) * local / n};
}

}  // namespace

Folded fold(std::uint32_t n) {
  return {std::bit_floor(n), n - std::bit_floor(n)};
}

std::vector<Round> halving_doubling_rounds(CollectiveKind kind, std::uint32_t places) {
  std::vector<Round> rounds;
  if (kind != CollectiveKind::all_gather)
    for (std::uint32_t mask = 1; mask < places; mask *= 2)
      rounds.push_back({true, mask, places / (2 * mask)});
  if (kind != CollectiveKind::reduce_scatter)
    for (std::uint32_t mask = places / 2; mask > 0; mask /= 2)
      rounds.push_back({true, mask, places / (2 * mask)});
  return rounds;
}

std::vector<Round> bruck_rounds(CollectiveKind kind, std::uint32_t n) {
  std::vector<Round> rounds;
  for (std::uint32_t distance = 1; distance < n; distance *= 2) {
    std::uint32_t chunks = std::min(distance, n - distance);
    if (kind == CollectiveKind::all_to_all) {
      chunks = 0;
      for (std::uint32_t offset = 1; offset < n; ++offset) chunks += (offset & distance) != 0;
    }
    rounds.push_back({false, distance, chunks});
  }
  return rounds;
}

std::vector<Round> hypercube_rounds(CollectiveKind kind, std::uint32_t n) {
  std::vector<Round> rounds;
  for (std::uint32_t mask = 1; mask < n; mask *= 2)
    rounds.push_back({true, mask, kind == CollectiveKind::all_to_all ? n / 2 : mask});
  return rounds;
}

std::vector<Round> pat_rounds(std::uint32_t n) {
  std::vector<Round> rounds;
  for (std::uint32_t distance = std::bit_ceil(n) / 2; distance > 0; distance /= 2)
    // Places with this lowest bit: distance, 3 x distance, 5 x distance, ... below n.
    rounds.push_back({false, distance, (n - 1 - distance) / (2 * distance) + 1});
  return rounds;
}

std::uint32_t partner_of(const Round& round, std::uint32_t place, std::uint32_t places) {
  return round.exchange ? place ^ round.distance : (place + round.distance) % places;
}

Shares shares_of(std::string_view algorithm, CollectiveKind kind, const ChannelPlan& plan) {
  const auto n = static_cast<std::uint32_t>(plan.group.gpus.size());
  const Folded all = every_rank(n);
  if (algorithm == "halving_doubling") {
    const Folded folded = fold(n);
    Shares out = of_rounds(halving_doubling_rounds(kind, folded.places), folded, plan);
    if (folded.extra == 0) return out;
    // Folding: half of a pair sends everything and gets it back.
    const bool near = plan.ranks_per_node > 1;
    (near ? out.intra_hops : out.inter_hops) += 2;
    (near ? out.inside : out.outside) += 1;
    return out;
  }
  if (algorithm == "bruck") return of_rounds(bruck_rounds(kind, n), all, plan);
  if (algorithm == "hypercube" && is_power_of_two(n))
    return of_rounds(hypercube_rounds(kind, n), all, plan);
  if (algorithm == "pairwise") return of_pairwise(plan);
  if (algorithm == "pxn") return of_pxn(plan);
  if (algorithm == "binomial") return of_binomial(kind, plan);
  return {};
}

void add_rounds(const std::vector<Round>& rounds, const Folded& ranks, double chunk,
                EdgeList& edges) {
  for (const Round& round : rounds)
    for (std::uint32_t place = 0; place < ranks.places; ++place)
      edges.nearest(ranks.rank(place), ranks.rank(partner_of(round, place, ranks.places)), 0,
                    chunk * round.chunks);
}

}  // namespace weft::collective
