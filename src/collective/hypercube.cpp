// Hypercube: exchange with the partner across each dimension in turn. All-gather: what a rank has
// doubles. All-to-all: half of the buffer crosses every dimension. Powers of two. What the
// hypercube program of nccl-tests does with sends and receives, a launch a dimension; otherwise not
// one of NCCL's own. Model: docs/models/hypercube.md.
#include "collective/rounds.h"

namespace weft::collective {
namespace {

using work::CollectiveKind;

class Hypercube final : public Algorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return "hypercube"; }
  [[nodiscard]] std::string_view summary() const override {
    return "exchange across one dimension after the other; powers of two";
  }
  [[nodiscard]] std::string refuse(const Request& request, const ChannelPlan& plan) const override {
    if (plan.channels.empty()) return "no channel was found on this fabric";
    if (request.kind != CollectiveKind::all_gather && request.kind != CollectiveKind::all_to_all &&
        request.kind != CollectiveKind::hypercube)
      return "hypercube does all_gather, all_to_all and nccl-tests' hypercube";
    if (!is_power_of_two(static_cast<std::uint32_t>(plan.group.gpus.size())))
      return "needs a power of two of ranks; bruck takes any number";
    return {};
  }
  void steps(const Request& request, const ChannelPlan& plan, const EmitStep& emit) const override;
  [[nodiscard]] Fluid fluid(const Request& request, const ChannelPlan& plan,
                            const Constants& constants) const override;
};

void Hypercube::steps(const Request& request, const ChannelPlan& plan, const EmitStep& emit) const {
  const auto n = static_cast<std::uint32_t>(plan.group.gpus.size());
  const bool exchange = request.kind == CollectiveKind::all_to_all;
  Step step;
  for (const Round& round : hypercube_rounds(request.kind, n)) {
    const std::uint32_t low = round.distance - 1;  // dimensions already crossed
    for (std::uint32_t rank = 0; rank < n; ++rank) {
      step.from = rank;
      step.to = rank ^ round.distance;
      for (std::uint32_t i = 0; i < n; ++i) {
        // All-gather: it has the chunks of its corner. All-to-all: the ones whose source agrees
        // with it above, whose target below, and whose target lies across.
        if (!exchange) {
          if ((i & ~low) != (rank & ~low)) continue;
          step.chunk = i;
          step.size = piece_of(request.size, n, i);
        } else {
          if ((i & round.distance) == (rank & round.distance)) continue;
          const std::uint32_t source = (rank & ~low) | (i & low);
          const std::uint32_t target = (i & ~low) | (rank & low);
          step.chunk = source * n + target;
          step.size = piece_of(request.size, n, target);
        }
        emit(step);
      }
    }
    ++step.round;
  }
}

Fluid Hypercube::fluid(const Request& request, const ChannelPlan& plan,
                       const Constants& constants) const {
  Fluid out = start_fluid(name(), request, plan, constants, Efficiency::direct, false);
  out.cap.reset();
  EdgeList edges(plan, out);
  const auto n = static_cast<std::uint32_t>(plan.group.gpus.size());
  add_rounds(hypercube_rounds(request.kind, n), every_rank(n), request.size.to_double() / n, edges);
  return out;
}

}  // namespace

const Algorithm& hypercube_algorithm();
const Algorithm& hypercube_algorithm() {
  static const Hypercube kHypercube;
  return kHypercube;
}

}  // namespace weft::collective
