// CollNet direct: the network's switches add up (SHARP). Inside a node every GPU gives each head
// its share, the heads put it through their NICs, the switches return the sum of all nodes to every
// head, and the heads pass it on. All-reduce with SHARP in the network.
// Model: docs/models/collnet_direct.md.
#include "collective/schedule.h"

namespace weft::collective {
namespace {

class CollnetDirect final : public Algorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return "collnet_direct"; }
  [[nodiscard]] std::string_view summary() const override {
    return "the network's switches reduce (SHARP), all GPUs exchange inside a node";
  }
  [[nodiscard]] std::string refuse(const Request& request, const ChannelPlan& plan) const override {
    return refuse_collnet(name(), request, plan);
  }
  void steps(const Request& request, const ChannelPlan& plan, const EmitStep& emit) const override;
  [[nodiscard]] Fluid fluid(const Request& request, const ChannelPlan& plan,
                            const Constants& constants) const override;
};

void CollnetDirect::steps(const Request& request, const ChannelPlan& plan,
                          const EmitStep& emit) const {
  const std::vector<std::uint32_t> heads = network_heads(plan);
  for (std::size_t h = 0; h < heads.size(); ++h) {
    Step step;
    step.channel = static_cast<std::uint16_t>(h);
    step.size = piece_of(request.size, static_cast<std::int64_t>(heads.size()),
                         static_cast<std::int64_t>(h));
    for (const std::vector<std::uint32_t>& node : plan.node_ranks)
      for (std::uint32_t rank : node) {
        const std::uint32_t head = node[heads[h]];
        if (rank == head) continue;
        step.from = rank;
        step.to = head;
        step.round = 0;
        step.reduce = true;
        emit(step);
        step.from = head;
        step.to = rank;
        step.round = 3;
        step.reduce = false;
        emit(step);
      }
    network_steps(plan, heads[h], 1, step, emit);
  }
}

Fluid CollnetDirect::fluid(const Request& request, const ChannelPlan& plan,
                           const Constants& constants) const {
  Fluid out = start_fluid(name(), request, plan, constants, Efficiency::direct, false);
  EdgeList edges(plan, out);
  const std::vector<std::uint32_t> heads = network_heads(plan);
  const double share = request.size.to_double() / static_cast<double>(heads.size());
  for (std::size_t h = 0; h < heads.size(); ++h)
    for (const std::vector<std::uint32_t>& node : plan.node_ranks) {
      const std::uint32_t head = node[heads[h]];
      for (std::uint32_t rank : node) {
        if (rank == head) continue;
        edges.nearest(rank, head, h, share);
        edges.nearest(head, rank, h, share);
      }
      edges.through_network(head, h, share);
    }
  return out;
}

}  // namespace

const Algorithm& collnet_direct_algorithm();
const Algorithm& collnet_direct_algorithm() {
  static const CollnetDirect kCollnetDirect;
  return kCollnetDirect;
}

}  // namespace weft::collective
