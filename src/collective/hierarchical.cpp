// Hierarchical: what can stay in the node stays there. All-reduce: reduce-scatter inside the node,
// all-reduce of each GPU's shard along its rail, all-gather inside. All-to-all: first to the local
// GPU on the destination's rail, then along the rail (what pxn does). Not one of NCCL's own: runs
// when asked for. Model: docs/models/hierarchical.md.
#include "collective/schedule.h"

namespace weft::collective {
namespace {

using work::CollectiveKind;

class Hierarchical final : public Algorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return "hierarchical"; }
  [[nodiscard]] std::string_view summary() const override {
    return "inside the node, then each GPU along its own rail, then inside again";
  }
  [[nodiscard]] std::string refuse(const Request& request, const ChannelPlan& plan) const override {
    if (plan.channels.empty()) return "no channel was found on this fabric";
    if (plan.nodes < 2) return "needs two nodes or more";
    switch (request.kind) {
      case CollectiveKind::all_reduce:
      case CollectiveKind::all_gather:
      case CollectiveKind::reduce_scatter:
      case CollectiveKind::all_to_all:
        return {};
      default:
        return "hierarchical does all_reduce, all_gather, reduce_scatter and all_to_all";
    }
  }
  void steps(const Request& request, const ChannelPlan& plan, const EmitStep& emit) const override;
  [[nodiscard]] Fluid fluid(const Request& request, const ChannelPlan& plan,
                            const Constants& constants) const override;
};

// One channel's exact schedule. The shard of local place l is the chunks of the ranks on rail l.
class Phases {
 public:
  Phases(const Request& request, const ChannelPlan& plan, std::size_t channel, const EmitStep& emit)
      : request_(request), plan_(plan), channel_(channel), emit_(emit) {
    local_ = plan.channels[channel].local_order.size();
    nodes_ = plan.node_ranks.size();
  }

  void run() {
    const bool scatters = request_.kind != CollectiveKind::all_gather;
    const bool gathers = request_.kind != CollectiveKind::reduce_scatter;
    if (scatters) {
      inside(true);
      rails(true);
    }
    if (gathers) {
      rails(false);
      inside(false);
    }
  }

 private:
  [[nodiscard]] std::uint32_t at(std::size_t node, std::size_t place) const {
    return plan_.node_ranks[node][plan_.channels[channel_].local_at(node, place % local_)];
  }

  void send(std::uint32_t from, std::uint32_t to, std::uint32_t chunk, bool reduce) {
    const auto n = static_cast<std::int64_t>(plan_.group.gpus.size());
    const auto channels = static_cast<std::int64_t>(plan_.channels.size());
    Step step;
    step.from = from;
    step.to = to;
    step.round = round_;
    step.chunk = chunk;
    step.channel = static_cast<std::uint16_t>(channel_);
    step.reduce = reduce;
    step.size =
        piece_of(request_.size, n * channels, static_cast<std::int64_t>(channel_) * n + chunk);
    emit_(step);
  }

  // Ring inside every node; a shard of N chunks moves at a time.
  void inside(bool reduce) {
    for (std::size_t r = 0; r + 1 < local_; ++r, ++round_)
      for (std::size_t node = 0; node < nodes_; ++node)
        for (std::size_t place = 0; place < local_; ++place) {
          const std::size_t shard = (place + 2 * local_ - r - (reduce ? 1 : 0)) % local_;
          const std::uint32_t rail = plan_.rank_local[at(node, shard)];
          for (std::size_t m = 0; m < nodes_; ++m)
            send(at(node, place), at(node, place + 1), plan_.node_ranks[m][rail], reduce);
        }
  }

  // Ring over the nodes on every rail.
  void rails(bool reduce) {
    for (std::size_t r = 0; r + 1 < nodes_; ++r, ++round_)
      for (std::size_t node = 0; node < nodes_; ++node)
        for (std::size_t rail = 0; rail < local_; ++rail) {
          const std::size_t chunk = (node + 2 * nodes_ - r - (reduce ? 1 : 0)) % nodes_;
          send(plan_.node_ranks[node][rail], plan_.node_ranks[(node + 1) % nodes_][rail],
               plan_.node_ranks[chunk][rail], reduce);
        }
  }

  const Request& request_;
  const ChannelPlan& plan_;
  std::size_t channel_, local_ = 1, nodes_ = 1;
  const EmitStep& emit_;
  std::uint32_t round_ = 0;
};

void Hierarchical::steps(const Request& request, const ChannelPlan& plan,
                         const EmitStep& emit) const {
  if (request.kind == CollectiveKind::all_to_all) {
    rail_exchange_steps(request, plan, emit);
    return;
  }
  for (std::size_t c = 0; c < plan.channels.size(); ++c) Phases(request, plan, c, emit).run();
}

Fluid Hierarchical::fluid(const Request& request, const ChannelPlan& plan,
                          const Constants& constants) const {
  const bool exchange = request.kind == CollectiveKind::all_to_all;
  Fluid out = start_fluid(name(), request, plan, constants,
                          exchange ? Efficiency::direct : Efficiency::ring, false);
  EdgeList edges(plan, out);
  if (exchange) {
    rail_exchange_edges(request, plan, edges);
    return out;
  }
  const double passes = request.kind == CollectiveKind::all_reduce ? 2 : 1;
  const double local = plan.ranks_per_node, nodes = plan.nodes;
  const double share = request.size.to_double() / static_cast<double>(plan.channels.size());
  const std::vector<std::vector<std::uint32_t>>& ranks = plan.node_ranks;
  for (std::size_t node = 0; node < ranks.size(); ++node) {
    for (std::size_t c = 0; c < plan.channels.size() && local > 1; ++c)
      for (std::size_t place = 0; place < ranks[node].size(); ++place)
        edges.ring(ranks[node][plan.channels[c].local_at(node, place)],
                   ranks[node][plan.channels[c].local_at(node, (place + 1) % ranks[node].size())],
                   c, share * passes * (local - 1) / local);
    for (std::size_t rail = 0; rail < ranks[node].size(); ++rail)
      edges.nearest(ranks[node][rail], ranks[(node + 1) % ranks.size()][rail], 0,
                    request.size.to_double() / local * passes * (nodes - 1) / nodes);
  }
  return out;
}

}  // namespace

const Algorithm& hierarchical_algorithm();
const Algorithm& hierarchical_algorithm() {
  static const Hierarchical kHierarchical;
  return kHierarchical;
}

}  // namespace weft::collective
