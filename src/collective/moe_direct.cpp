// MoE dispatch and combine straight: every copy of a token goes to its expert's rank by itself, as
// DeepEP's low-latency kernels do. Fewest hops; a token with two experts on a node crosses the
// network twice. Model: docs/models/moe.md.
#include <cmath>

#include "collective/moe_traffic.h"
#include "collective/schedule.h"

namespace weft::collective {
namespace {

using work::CollectiveKind;

class MoeDirect final : public Algorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return "moe_direct"; }
  [[nodiscard]] std::string_view summary() const override {
    return "MoE: every copy of a token straight to its expert (low-latency kernels)";
  }
  [[nodiscard]] std::string refuse(const Request& request, const ChannelPlan& plan) const override {
    return work::is_moe(request.kind) ? refuse_moe(request.moe, plan)
                                      : "moe_direct does moe_dispatch and moe_combine";
  }
  void steps(const Request& request, const ChannelPlan& plan, const EmitStep& emit) const override;
  [[nodiscard]] Fluid fluid(const Request& request, const ChannelPlan& plan,
                            const Constants& constants) const override;
};

void MoeDirect::steps(const Request& request, const ChannelPlan& plan, const EmitStep& emit) const {
  const auto n = static_cast<std::uint32_t>(plan.group.gpus.size());
  const MoeTraffic traffic(*request.moe, plan);
  const bool back = request.kind == CollectiveKind::moe_combine;
  for (std::uint32_t source = 0; source < n; ++source)
    for (std::uint32_t expert = 0; expert < n; ++expert) {
      const double copies = traffic.copies(source, expert);
      if (source == expert || copies <= 0) continue;
      Step step;
      step.from = back ? expert : source;
      step.to = back ? source : expert;
      step.chunk = source * n + expert;
      step.reduce = back;
      step.size = Bytes(std::llround(copies * static_cast<double>(request.moe->token_bytes())));
      emit(step);
    }
}

Fluid MoeDirect::fluid(const Request& request, const ChannelPlan& plan,
                       const Constants& constants) const {
  Fluid out = start_moe(name(), request, plan, constants);
  EdgeList edges(plan, out);
  const auto n = static_cast<std::uint32_t>(plan.group.gpus.size());
  const MoeTraffic traffic(*request.moe, plan);
  const auto bytes = static_cast<double>(request.moe->token_bytes());
  if (traffic.uniform()) {
    every_pair(plan, traffic.copies(0, 0) * bytes, edges);
    return out;
  }
  for (std::uint32_t source = 0; source < n; ++source)
    for (std::uint32_t expert = 0; expert < n; ++expert) {
      const double copies = traffic.copies(source, expert);
      if (source == expert || copies <= 0) continue;
      if (request.kind == CollectiveKind::moe_dispatch)
        edges.nearest(source, expert, 0, copies * bytes);
      else
        edges.nearest(expert, source, 0, copies * bytes);
    }
  return out;
}

}  // namespace

const Algorithm& moe_direct_algorithm();
const Algorithm& moe_direct_algorithm() {
  static const MoeDirect kMoeDirect;
  return kMoeDirect;
}

}  // namespace weft::collective
