// MoE dispatch and combine by way of a relay: a token crosses the network once for each node that
// has an expert of its own, to the GPU of the same place there, which passes it on by NVLink; on
// the way back that GPU adds up what its node returns. DeepEP's normal kernels.
// Model: docs/models/moe.md.
#include <cmath>

#include "collective/moe_traffic.h"
#include "collective/schedule.h"

namespace weft::collective {
namespace {

using work::CollectiveKind;

class MoeRelay final : public Algorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return "moe_relay"; }
  [[nodiscard]] std::string_view summary() const override {
    return "MoE: one copy a node over the network, NVLink from there (normal kernels)";
  }
  [[nodiscard]] std::string refuse(const Request& request, const ChannelPlan& plan) const override {
    return work::is_moe(request.kind) ? refuse_moe(request.moe, plan)
                                      : "moe_relay does moe_dispatch and moe_combine";
  }
  void steps(const Request& request, const ChannelPlan& plan, const EmitStep& emit) const override;
  [[nodiscard]] Fluid fluid(const Request& request, const ChannelPlan& plan,
                            const Constants& constants) const override;
};

// Everything below is written for dispatch; combine swaps the ends and runs the rounds backwards.
class Exchange {
 public:
  Exchange(const Request& request, const ChannelPlan& plan)
      : request_(request),
        plan_(plan),
        traffic_(*request.moe, plan),
        n_(static_cast<std::uint32_t>(plan.group.gpus.size())),
        nodes_(static_cast<std::uint32_t>(plan.node_ranks.size())),
        token_(static_cast<double>(request.moe->token_bytes())) {}

  // Chunk s * n + d: tokens of s for d. Chunk n * n + s * N + m: tokens of s for the node m.
  void steps(const EmitStep& emit) const {
    for (std::uint32_t source = 0; source < n_; ++source)
      for (std::uint32_t node = 0; node < nodes_; ++node) {
        const bool own = node == plan_.rank_node[source];
        const std::uint32_t relay = plan_.node_ranks[node][plan_.rank_local[source]];
        if (!own)
          step(source, relay, 0, n_ * n_ + source * nodes_ + node, traffic_.to_node(source, node),
               emit);
        for (std::uint32_t rank : plan_.node_ranks[node])
          if (rank != relay)
            step(relay, rank, own ? 0 : 1, source * n_ + rank, traffic_.to_rank(source, rank),
                 emit);
      }
  }

  void edges(EdgeList& list) const {
    const std::vector<std::uint32_t> offsets = node_offsets(nodes_);
    const double sample = offsets.empty() ? 0 : (nodes_ - 1) / static_cast<double>(offsets.size());
    for (std::uint32_t source = 0; source < n_; ++source) {
      const std::uint32_t own = plan_.rank_node[source];
      for (std::uint32_t far = 1; far < nodes_ && !traffic_.uniform(); ++far)
        across(source, (own + far) % nodes_, 1, list);
      for (std::uint32_t offset : offsets)
        if (traffic_.uniform()) across(source, (own + offset) % nodes_, sample, list);
      for (std::uint32_t rank : plan_.node_ranks[own])
        if (rank != source) edge(source, rank, passed_on(source, rank), list);
    }
  }

 private:
  void across(std::uint32_t source, std::uint32_t node, double share, EdgeList& list) const {
    edge(source, plan_.node_ranks[node][plan_.rank_local[source]],
         traffic_.to_node(source, node) * share, list);
  }
  // What `relay` sends to `rank` of its node: its own tokens and those that came along its rail.
  [[nodiscard]] double passed_on(std::uint32_t relay, std::uint32_t rank) const {
    if (traffic_.uniform()) return nodes_ * traffic_.to_rank(relay, rank);
    double tokens = 0;
    for (const std::vector<std::uint32_t>& node : plan_.node_ranks)
      tokens += traffic_.to_rank(node[plan_.rank_local[relay]], rank);
    return tokens;
  }
  [[nodiscard]] bool back() const { return request_.kind == CollectiveKind::moe_combine; }
  void edge(std::uint32_t from, std::uint32_t to, double tokens, EdgeList& list) const {
    if (tokens <= 0) return;
    if (back())
      list.nearest(to, from, 0, tokens * token_);
    else
      list.nearest(from, to, 0, tokens * token_);
  }
  void step(std::uint32_t from, std::uint32_t to, std::uint32_t round, std::uint32_t chunk,
            double tokens, const EmitStep& emit) const {
    if (tokens <= 0) return;
    Step out;
    out.from = back() ? to : from;
    out.to = back() ? from : to;
    out.round = back() ? 1 - round : round;
    out.chunk = chunk;
    out.reduce = back();
    out.size = Bytes(std::llround(tokens * token_));
    emit(out);
  }

  const Request& request_;
  const ChannelPlan& plan_;
  MoeTraffic traffic_;
  std::uint32_t n_, nodes_;
  double token_;
};

void MoeRelay::steps(const Request& request, const ChannelPlan& plan, const EmitStep& emit) const {
  Exchange(request, plan).steps(emit);
}

Fluid MoeRelay::fluid(const Request& request, const ChannelPlan& plan,
                      const Constants& constants) const {
  Fluid out = start_moe(name(), request, plan, constants);
  EdgeList edges(plan, out);
  Exchange(request, plan).edges(edges);
  return out;
}

}  // namespace

const Algorithm& moe_relay_algorithm();
const Algorithm& moe_relay_algorithm() {
  static const MoeRelay kMoeRelay;
  return kMoeRelay;
}

}  // namespace weft::collective
