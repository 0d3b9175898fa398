// PAT (parallel aggregated trees), NCCL's all-gather and reduce-scatter of log2 n rounds for one
// GPU a node: every rank is the root of a binomial tree for its own chunk, the trees run at once,
// the far half first so that far sends are small. Reduce-scatter is the mirror image.
// Model: docs/models/pat.md.
#include "collective/rounds.h"

namespace weft::collective {
namespace {

using work::CollectiveKind;

class Pat final : public Algorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return "pat"; }
  [[nodiscard]] std::string_view summary() const override {
    return "a binomial tree a rank, all at once: log2 n rounds; one GPU a node";
  }
  [[nodiscard]] std::string refuse(const Request& request, const ChannelPlan& plan) const override {
    if (plan.channels.empty()) return "no channel was found on this fabric";
    if (request.kind != CollectiveKind::all_gather &&
        request.kind != CollectiveKind::reduce_scatter)
      return "pat does all_gather and reduce_scatter";
    if (plan.group.gpus.size() != plan.node_ranks.size()) return "needs one rank a node";
    if (plan.nodes < 2) return "needs two nodes or more";
    return {};
  }
  void steps(const Request& request, const ChannelPlan& plan, const EmitStep& emit) const override;
  [[nodiscard]] Fluid fluid(const Request& request, const ChannelPlan& plan,
                            const Constants& constants) const override;
};

void Pat::steps(const Request& request, const ChannelPlan& plan, const EmitStep& emit) const {
  const auto n = static_cast<std::uint32_t>(plan.group.gpus.size());
  const bool gathers = request.kind == CollectiveKind::all_gather;
  const std::vector<Round> rounds = pat_rounds(n);
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    const Round& round = rounds[gathers ? i : rounds.size() - 1 - i];
    for (std::uint32_t chunk = 0; chunk < n; ++chunk)
      for (std::uint32_t place = round.distance; place < n; place += 2 * round.distance) {
        const std::uint32_t upper = (chunk + place - round.distance) % n;
        const std::uint32_t lower = (chunk + place) % n;
        Step step;
        step.from = gathers ? upper : lower;
        step.to = gathers ? lower : upper;
        step.round = static_cast<std::uint32_t>(i);
        step.chunk = chunk;
        step.reduce = !gathers;
        step.size = piece_of(request.size, n, chunk);
        emit(step);
      }
  }
}

Fluid Pat::fluid(const Request& request, const ChannelPlan& plan,
                 const Constants& constants) const {
  Fluid out = start_fluid(name(), request, plan, constants, Efficiency::ring, true);
  EdgeList edges(plan, out);
  const auto n = static_cast<std::uint32_t>(plan.group.gpus.size());
  std::vector<Round> rounds = pat_rounds(n);
  if (request.kind == CollectiveKind::reduce_scatter)
    for (Round& round : rounds) round.distance = n - round.distance;  // the other way round
  add_rounds(rounds, every_rank(n), request.size.to_double() / n, edges);
  return out;
}

}  // namespace

const Algorithm& pat_algorithm();
const Algorithm& pat_algorithm() {
  static const Pat kPat;
  return kPat;
}

}  // namespace weft::collective
