// CollNet chain: the network's switches add up (SHARP); inside a node each channel is a chain down
// to the GPU beside its NIC, and back. All-reduce with SHARP in the network.
// Model: docs/models/collnet_chain.md.
#include <utility>

#include "collective/schedule.h"

namespace weft::collective {
namespace {

class CollnetChain final : public Algorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return "collnet_chain"; }
  [[nodiscard]] std::string_view summary() const override {
    return "the network's switches reduce (SHARP), a chain inside a node";
  }
  [[nodiscard]] std::string refuse(const Request& request, const ChannelPlan& plan) const override {
    return refuse_collnet(name(), request, plan);
  }
  void steps(const Request& request, const ChannelPlan& plan, const EmitStep& emit) const override;
  [[nodiscard]] Fluid fluid(const Request& request, const ChannelPlan& plan,
                            const Constants& constants) const override;
};

void CollnetChain::steps(const Request& request, const ChannelPlan& plan,
                         const EmitStep& emit) const {
  const auto channels = static_cast<std::int64_t>(plan.channels.size());
  for (std::size_t c = 0; c < plan.channels.size(); ++c) {
    // Every node alike, so that one place is the head in all.
    const std::vector<std::uint32_t>& chain = plan.channels[c].local_order;
    const auto length = static_cast<std::uint32_t>(chain.size());
    Step step;
    step.channel = static_cast<std::uint16_t>(c);
    step.size = piece_of(request.size, channels, static_cast<std::int64_t>(c));
    for (const std::vector<std::uint32_t>& node : plan.node_ranks)
      for (std::uint32_t place = 1; place < length; ++place) {
        step.from = node[chain[place]];
        step.to = node[chain[place - 1]];
        step.round = length - 1 - place;
        step.reduce = true;
        emit(step);
        std::swap(step.from, step.to);
        step.round = length + place;  // after the two rounds in the network
        step.reduce = false;
        emit(step);
      }
    network_steps(plan, chain.front(), length - 1, step, emit);
  }
}

Fluid CollnetChain::fluid(const Request& request, const ChannelPlan& plan,
                          const Constants& constants) const {
  Fluid out = start_fluid(name(), request, plan, constants, Efficiency::tree, true);
  EdgeList edges(plan, out);
  const double share = request.size.to_double() / static_cast<double>(plan.channels.size());
  for (std::size_t c = 0; c < plan.channels.size(); ++c) {
    const std::vector<std::uint32_t>& chain = plan.channels[c].local_order;
    for (std::size_t n = 0; n < plan.node_ranks.size(); ++n) {
      const std::vector<std::uint32_t>& node = plan.node_ranks[n];
      for (std::size_t place = 1; place < chain.size(); ++place) {
        edges.nearest(node[chain[place]], node[chain[place - 1]], c, share);
        edges.nearest(node[chain[place - 1]], node[chain[place]], c, share);
      }
      edges.through_network(node[chain.front()], c, share);
    }
  }
  return out;
}

}  // namespace

const Algorithm& collnet_chain_algorithm();
const Algorithm& collnet_chain_algorithm() {
  static const CollnetChain kCollnetChain;
  return kCollnetChain;
}

}  // namespace weft::collective
