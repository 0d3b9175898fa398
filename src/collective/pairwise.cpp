// Pairwise exchange: all-to-all in n-1 rounds of one partner each (rank XOR round with a power of
// two of ranks, else the rank that many places on), one after the other, as MPI libraries do for
// large messages. The bytes are those of direct, the rounds are not. Not one of NCCL's own.
// Model: docs/models/pairwise.md.
#include "collective/rounds.h"

namespace weft::collective {
namespace {

class Pairwise final : public Algorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return "pairwise"; }
  [[nodiscard]] std::string_view summary() const override {
    return "one partner a round, n-1 rounds; what MPI does for a large all_to_all";
  }
  [[nodiscard]] std::string refuse(const Request& request, const ChannelPlan& plan) const override {
    if (plan.channels.empty()) return "no channel was found on this fabric";
    if (request.kind != work::CollectiveKind::all_to_all) return "pairwise does all_to_all only";
    return {};
  }
  void steps(const Request& request, const ChannelPlan& plan, const EmitStep& emit) const override;
  [[nodiscard]] Fluid fluid(const Request& request, const ChannelPlan& plan,
                            const Constants& constants) const override;
};

void Pairwise::steps(const Request& request, const ChannelPlan& plan, const EmitStep& emit) const {
  const auto n = static_cast<std::uint32_t>(plan.group.gpus.size());
  for (std::uint32_t round = 0; round + 1 < n; ++round)
    for (std::uint32_t from = 0; from < n; ++from) {
      Step step;
      step.from = from;
      step.to = partner_of({is_power_of_two(n), round + 1, 1}, from, n);
      step.round = round;
      step.chunk = from * n + step.to;
      step.size = piece_of(request.size, n, step.to);
      emit(step);
    }
}

Fluid Pairwise::fluid(const Request& request, const ChannelPlan& plan,
                      const Constants& constants) const {
  Fluid out = start_fluid(name(), request, plan, constants, Efficiency::direct, false);
  out.cap.reset();
  EdgeList edges(plan, out);
  every_pair(plan, request.size.to_double() / static_cast<double>(plan.group.gpus.size()), edges);
  return out;
}

}  // namespace

const Algorithm& pairwise_algorithm();
const Algorithm& pairwise_algorithm() {
  static const Pairwise kPairwise;
  return kPairwise;
}

}  // namespace weft::collective
