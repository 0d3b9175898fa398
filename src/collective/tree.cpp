// Double binary tree: two trees over the nodes, each with half of the buffer, so that every node is
// inner in one and leaf in the other; inside a node a chain whose head has the NIC. The buffer is
// reduced up and broadcast down, pipelined. Model: docs/models/tree.md.
#include "collective/schedule.h"

namespace weft::collective {
namespace {

class Tree final : public Algorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return "tree"; }
  [[nodiscard]] std::string_view summary() const override {
    return "double binary tree over nodes, a chain inside; latency grows with log2 of nodes";
  }
  [[nodiscard]] std::string refuse(const Request& request, const ChannelPlan& plan) const override {
    if (plan.channels.empty()) return "no channel was found on this fabric";
    if (request.kind != work::CollectiveKind::all_reduce) return "the tree does all_reduce only";
    return {};
  }
  void steps(const Request& request, const ChannelPlan& plan, const EmitStep& emit) const override;
  [[nodiscard]] Fluid fluid(const Request& request, const ChannelPlan& plan,
                            const Constants& constants) const override;
};

// One tree of one channel. Rounds: the chain of length L is empty after L-1; a node of height h
// then sends up in round L-1+h; the root is done at R = L-1+height and all goes back down.
class Climb {
 public:
  Climb(const ChannelPlan& plan, std::size_t channel, const NodeTree& tree)
      : plan_(plan), channel_(channel), tree_(tree) {
    length_ = plan.channels[channel].local_order.size();
    done_ = length_ - 1 + tree.height[tree.root];
  }

  [[nodiscard]] std::uint32_t rank(std::size_t node, std::size_t place) const {
    return plan_.node_ranks[node][plan_.channels[channel_].local_at(node, place)];
  }
  void emit_all(std::uint32_t chunk, Bytes size, const EmitStep& emit) const {
    for (std::size_t node = 0; node < plan_.node_ranks.size(); ++node) {
      for (std::size_t place = 1; place < length_; ++place) {
        send(rank(node, place), rank(node, place - 1), length_ - 1 - place, true, chunk, size,
             emit);
        send(rank(node, place - 1), rank(node, place), done_ + tree_.depth[node] + place - 1, false,
             chunk, size, emit);
      }
      if (!tree_.parent[node]) continue;
      const std::size_t up = *tree_.parent[node];
      send(rank(node, 0), rank(up, 0), length_ - 1 + tree_.height[node], true, chunk, size, emit);
      send(rank(up, 0), rank(node, 0), done_ + tree_.depth[up], false, chunk, size, emit);
    }
  }

 private:
  void send(std::uint32_t from, std::uint32_t to, std::size_t round, bool reduce,
            std::uint32_t chunk, Bytes size, const EmitStep& emit) const {
    Step step;
    step.from = from;
    step.to = to;
    step.round = static_cast<std::uint32_t>(round);
    step.chunk = chunk;
    step.channel = static_cast<std::uint16_t>(channel_);
    step.reduce = reduce;
    step.size = size;
    emit(step);
  }

  const ChannelPlan& plan_;
  std::size_t channel_, length_ = 1, done_ = 0;
  const NodeTree& tree_;
};

void Tree::steps(const Request& request, const ChannelPlan& plan, const EmitStep& emit) const {
  const auto trees = double_binary_tree(static_cast<std::uint32_t>(plan.nodes));
  const auto pieces = static_cast<std::int64_t>(2 * plan.channels.size());
  for (std::size_t c = 0; c < plan.channels.size(); ++c)
    for (std::uint32_t half = 0; half < 2; ++half)
      Climb(plan, c, trees[half])
          .emit_all(half, piece_of(request.size, pieces, static_cast<std::int64_t>(2 * c + half)),
                    emit);
}

Fluid Tree::fluid(const Request& request, const ChannelPlan& plan,
                  const Constants& constants) const {
  Fluid out = start_fluid(name(), request, plan, constants, Efficiency::tree, true);
  EdgeList edges(plan, out);
  const auto trees = double_binary_tree(static_cast<std::uint32_t>(plan.nodes));
  const double share = request.size.to_double() / static_cast<double>(plan.channels.size());
  for (std::size_t c = 0; c < plan.channels.size(); ++c) {
    const Climb climb(plan, c, trees[0]);
    for (std::size_t node = 0; node < plan.node_ranks.size(); ++node) {
      for (std::size_t place = 1; place < plan.channels[c].local_order.size(); ++place) {
        edges.ring(climb.rank(node, place), climb.rank(node, place - 1), c, share);
        edges.ring(climb.rank(node, place - 1), climb.rank(node, place), c, share);
      }
      for (const NodeTree& tree : trees) {
        if (!tree.parent[node]) continue;
        const std::uint32_t own = climb.rank(node, 0), up = climb.rank(*tree.parent[node], 0);
        edges.head(own, up, c, share / 2);
        edges.head(up, own, c, share / 2);
      }
    }
  }
  return out;
}

}  // namespace

const Algorithm& tree_algorithm();
const Algorithm& tree_algorithm() {
  static const Tree kTree;
  return kTree;
}

}  // namespace weft::collective
