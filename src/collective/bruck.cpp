// Bruck: log2 n rounds (rounded up) for any number of ranks. All-gather: what a rank has goes
// to the rank 1, 2, 4, ... places on, so that it doubles. All-to-all: a chunk travels the set bits
// of its distance, one a round; few messages, but log2(n)/2 times the bytes. Not one of NCCL's
// own. Model: docs/models/bruck.md.
#include "collective/rounds.h"

namespace weft::collective {
namespace {

using work::CollectiveKind;

class Bruck final : public Algorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return "bruck"; }
  [[nodiscard]] std::string_view summary() const override {
    return "to the rank 1, 2, 4, ... places on: log2 n rounds for any number of ranks";
  }
  [[nodiscard]] std::string refuse(const Request& request, const ChannelPlan& plan) const override {
    if (plan.channels.empty()) return "no channel was found on this fabric";
    if (request.kind != CollectiveKind::all_gather && request.kind != CollectiveKind::all_to_all)
      return "bruck does all_gather and all_to_all";
    return {};
  }
  void steps(const Request& request, const ChannelPlan& plan, const EmitStep& emit) const override;
  [[nodiscard]] Fluid fluid(const Request& request, const ChannelPlan& plan,
                            const Constants& constants) const override;
};

void Bruck::steps(const Request& request, const ChannelPlan& plan, const EmitStep& emit) const {
  const auto n = static_cast<std::uint32_t>(plan.group.gpus.size());
  const bool exchange = request.kind == CollectiveKind::all_to_all;
  Step step;
  for (const Round& round : bruck_rounds(request.kind, n)) {
    for (std::uint32_t rank = 0; rank < n; ++rank) {
      step.from = rank;
      step.to = partner_of(round, rank, n);
      if (!exchange) {
        // The rank has its own chunk and those of the ranks behind it.
        for (std::uint32_t back = 0; back < round.chunks; ++back) {
          step.chunk = (rank + n - back) % n;
          step.size = piece_of(request.size, n, step.chunk);
          emit(step);
        }
        continue;
      }
      for (std::uint32_t offset = 1; offset < n; ++offset) {
        if ((offset & round.distance) == 0) continue;
        const std::uint32_t source = (rank + n - (offset & (round.distance - 1))) % n;
        const std::uint32_t target = (source + offset) % n;
        step.chunk = source * n + target;
        step.size = piece_of(request.size, n, target);
        emit(step);
      }
    }
    ++step.round;
  }
}

Fluid Bruck::fluid(const Request& request, const ChannelPlan& plan,
                   const Constants& constants) const {
  Fluid out = start_fluid(name(), request, plan, constants, Efficiency::direct, false);
  out.cap.reset();
  EdgeList edges(plan, out);
  const auto n = static_cast<std::uint32_t>(plan.group.gpus.size());
  add_rounds(bruck_rounds(request.kind, n), every_rank(n), request.size.to_double() / n, edges);
  return out;
}

}  // namespace

const Algorithm& bruck_algorithm();
const Algorithm& bruck_algorithm() {
  static const Bruck kBruck;
  return kBruck;
}

}  // namespace weft::collective
