// NVLS tree: NVLS inside each node, and between nodes the double binary tree, one pair of trees a
// head GPU. All-reduce over several NVSwitch nodes. Model: docs/models/nvls.md.
#include "collective/schedule.h"

namespace weft::collective {
namespace {

class NvlsTree final : public Algorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return "nvls_tree"; }
  [[nodiscard]] std::string_view summary() const override {
    return "NVLS inside each node, a double binary tree between nodes";
  }
  [[nodiscard]] std::string refuse(const Request& request, const ChannelPlan& plan) const override {
    if (plan.channels.empty()) return "no channel was found on this fabric";
    if (!plan.nvls) return "needs NVSwitches and GPUs with multicast (NVLink SHARP)";
    if (plan.nodes < 2) return "needs two nodes or more";
    if (request.kind != work::CollectiveKind::all_reduce) return "nvls_tree does all_reduce only";
    return {};
  }
  void steps(const Request& request, const ChannelPlan& plan, const EmitStep& emit) const override;
  [[nodiscard]] Fluid fluid(const Request& request, const ChannelPlan& plan,
                            const Constants& constants) const override;
};

// Half of a head's share, along one of the two trees.
struct HalfShare {
  const ChannelPlan& plan;
  const NodeTree& tree;
  std::uint32_t head = 0, half = 0;  // place of the head in its node; which tree
  Bytes size;
  const EmitStep& emit;

  void send(std::uint32_t from, std::uint32_t to, std::uint32_t round, bool reduce,
            bool in_switch) const {
    Step step;
    step.from = from;
    step.to = to;
    step.round = round;
    step.chunk = half;
    step.channel = static_cast<std::uint16_t>(head);
    step.reduce = reduce;
    step.in_switch = in_switch;
    step.size = size;
    emit(step);
  }
  void run() const {
    const std::uint32_t done = 1 + tree.height[tree.root];
    for (std::uint32_t node = 0; node < plan.node_ranks.size(); ++node) {
      const std::uint32_t own = plan.node_ranks[node][head];
      for (std::uint32_t rank : plan.node_ranks[node]) {
        if (rank == own) continue;
        send(rank, own, 0, true, true);
        send(own, rank, done + tree.depth[node], false, true);
      }
      if (!tree.parent[node]) continue;
      const std::uint32_t up = plan.node_ranks[*tree.parent[node]][head];
      send(own, up, 1 + tree.height[node], true, false);
      send(up, own, done + tree.depth[*tree.parent[node]], false, false);
    }
  }
};

void NvlsTree::steps(const Request& request, const ChannelPlan& plan, const EmitStep& emit) const {
  const auto trees = double_binary_tree(static_cast<std::uint32_t>(plan.nodes));
  const auto heads = static_cast<std::uint32_t>(plan.nvls_channels);
  for (std::uint32_t head = 0; head < heads; ++head)
    for (std::uint32_t half = 0; half < 2; ++half)
      HalfShare{plan, trees[half], head, half, piece_of(request.size, 2 * heads, 2 * head + half),
                emit}
          .run();
}

Fluid NvlsTree::fluid(const Request& request, const ChannelPlan& plan,
                      const Constants& constants) const {
  Fluid out = start_fluid(name(), request, plan, constants, Efficiency::nvls, true);
  EdgeList edges(plan, out);
  const auto trees = double_binary_tree(static_cast<std::uint32_t>(plan.nodes));
  const auto heads = static_cast<std::size_t>(plan.nvls_channels);
  const double size = request.size.to_double();
  const double share = size / static_cast<double>(heads);
  for (std::size_t node = 0; node < plan.node_ranks.size(); ++node)
    for (std::size_t local = 0; local < plan.node_ranks[node].size(); ++local) {
      const std::uint32_t rank = plan.node_ranks[node][local];
      const double own = local < heads ? share : 0;
      edges.to_switch(rank, local, size + own);
      edges.from_switch(rank, local, size + own);
      for (const NodeTree& tree : trees) {
        if (local >= heads || !tree.parent[node]) continue;
        const std::uint32_t up = plan.node_ranks[*tree.parent[node]][local];
        edges.nearest(rank, up, local, share / 2);
        edges.nearest(up, rank, local, share / 2);
      }
    }
  return out;
}

}  // namespace

const Algorithm& nvls_tree_algorithm();
const Algorithm& nvls_tree_algorithm() {
  static const NvlsTree kNvlsTree;
  return kNvlsTree;
}

}  // namespace weft::collective
