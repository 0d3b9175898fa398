// NVLS (NVLink SHARP), one node, or several whose network reduces as well: a head GPU owns each
// chunk, reads its sum through the NVSwitches (every GPU answers once, the switch adds) and stores
// the result once, multicast to all. Model, and what an engine has to put on which link:
// docs/models/nvls.md.
#include "collective/schedule.h"

namespace weft::collective {
namespace {

using work::CollectiveKind;

class Nvls final : public Algorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return "nvls"; }
  [[nodiscard]] std::string_view summary() const override {
    return "the NVSwitches reduce and multicast: (1 + 1/n) of the buffer each way instead of 2";
  }
  [[nodiscard]] std::string refuse(const Request& request, const ChannelPlan& plan) const override {
    if (plan.channels.empty()) return "no channel was found on this fabric";
    if (!plan.nvls) return "needs NVSwitches and GPUs with multicast (NVLink SHARP)";
    if (plan.nodes > 1 && !plan.collnet)
      return "one node only without SHARP in the network; nvls_tree is for more";
    if (plan.nodes > 1 && request.kind != CollectiveKind::all_reduce)
      return "all_reduce only with SHARP in the network";
    switch (request.kind) {
      case CollectiveKind::all_reduce:
      case CollectiveKind::all_gather:
      case CollectiveKind::reduce_scatter:
        return {};
      default:
        return "nvls does all_reduce, all_gather and reduce_scatter";
    }
  }
  void steps(const Request& request, const ChannelPlan& plan, const EmitStep& emit) const override;
  [[nodiscard]] Fluid fluid(const Request& request, const ChannelPlan& plan,
                            const Constants& constants) const override;
};

// All-reduce cuts the buffer by heads, the others by ranks: chunk r belongs to rank r.
std::uint32_t chunk_count(const Request& request, const ChannelPlan& plan) {
  return request.kind == CollectiveKind::all_reduce
             ? static_cast<std::uint32_t>(plan.nvls_channels)
             : static_cast<std::uint32_t>(plan.group.gpus.size());
}

void Nvls::steps(const Request& request, const ChannelPlan& plan, const EmitStep& emit) const {
  const std::uint32_t chunks = chunk_count(request, plan);
  const bool reduces = request.kind != CollectiveKind::all_gather;
  const bool spreads = request.kind != CollectiveKind::reduce_scatter;
  const std::uint32_t spread_round = !reduces ? 0 : plan.nodes > 1 ? 3 : 1;
  for (std::uint32_t chunk = 0; chunk < chunks; ++chunk) {
    Step step;
    step.size = piece_of(request.size, chunks, chunk);
    for (const std::vector<std::uint32_t>& node : plan.node_ranks) {
      const std::uint32_t head = node[chunk];
      step.chunk = reduces && spreads ? chunk : head;
      for (std::uint32_t other : node) {
        if (other == head) continue;
        step.in_switch = true;
        for (const bool reduce : {true, false}) {
          if (reduce ? !reduces : !spreads) continue;
          step.from = reduce ? other : head;
          step.to = reduce ? head : other;
          step.round = reduce ? 0 : spread_round;
          step.reduce = reduce;
          emit(step);
        }
      }
    }
    step.in_switch = false;
    if (plan.nodes > 1) network_steps(plan, chunk, 1, step, emit);
  }
}

Fluid Nvls::fluid(const Request& request, const ChannelPlan& plan,
                  const Constants& constants) const {
  Fluid out = start_fluid(name(), request, plan, constants, Efficiency::nvls, false);
  EdgeList edges(plan, out);
  const double size = request.size.to_double();
  const std::uint32_t chunks = chunk_count(request, plan);
  const bool reduces = request.kind != CollectiveKind::all_gather;
  const bool spreads = request.kind != CollectiveKind::reduce_scatter;
  for (const std::vector<std::uint32_t>& node : plan.node_ranks)
    for (std::size_t local = 0; local < node.size(); ++local) {
      const double own = local < chunks ? size / chunks : 0;
      // Up: answers to every head's reads, its own too, and the store of its own chunk. Down: the
      // sum of its own chunk, and every chunk as multicast, its own too.
      edges.to_switch(node[local], 0, (reduces ? size : 0) + (spreads ? own : 0));
      edges.from_switch(node[local], 0, (reduces ? own : 0) + (spreads ? size : 0));
      if (plan.nodes > 1 && own > 0) edges.through_network(node[local], local, own);
    }
  return out;
}

}  // namespace

const Algorithm& nvls_algorithm();
const Algorithm& nvls_algorithm() {
  static const Nvls kNvls;
  return kNvls;
}

}  // namespace weft::collective
