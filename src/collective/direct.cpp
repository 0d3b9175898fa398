// Direct: every rank sends to every peer without a relay, as NCCL's grouped sends and receives do.
// All-to-all and send_recv; all-gather and reduce-scatter when asked for by name. Each rank uses
// its nearest NIC. Model: docs/models/direct.md.
#include "collective/schedule.h"

namespace weft::collective {
namespace {

using work::CollectiveKind;

class Direct final : public Algorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return "direct"; }
  [[nodiscard]] std::string_view summary() const override {
    return "every rank sends straight to every peer; what all_to_all and send_recv use";
  }
  [[nodiscard]] std::string refuse(const Request& request, const ChannelPlan& plan) const override {
    if (plan.channels.empty()) return "no channel was found on this fabric";
    if (request.kind == CollectiveKind::all_reduce || request.kind == CollectiveKind::broadcast ||
        request.kind == CollectiveKind::reduce)
      return "direct does all_to_all, send_recv, all_gather and reduce_scatter";
    return {};
  }
  void steps(const Request& request, const ChannelPlan& plan, const EmitStep& emit) const override;
  [[nodiscard]] Fluid fluid(const Request& request, const ChannelPlan& plan,
                            const Constants& constants) const override;
};

std::uint32_t chunk_of(CollectiveKind kind, std::uint32_t from, std::uint32_t to, std::uint32_t n) {
  if (kind == CollectiveKind::all_gather) return from;
  if (kind == CollectiveKind::reduce_scatter) return to;
  return from * n + to;
}

void Direct::steps(const Request& request, const ChannelPlan& plan, const EmitStep& emit) const {
  const auto n = static_cast<std::uint32_t>(plan.group.gpus.size());
  const bool neighbours = request.kind == CollectiveKind::send_recv;
  const std::uint32_t rounds = neighbours ? 1 : n - 1;
  for (std::uint32_t round = 0; round < rounds; ++round)
    for (std::uint32_t from = 0; from < n; ++from) {
      Step step;
      step.from = from;
      step.to = (from + round + 1) % n;
      step.round = round;
      step.chunk = chunk_of(request.kind, from, step.to, n);
      step.reduce = request.kind == CollectiveKind::reduce_scatter;
      step.size = neighbours
                      ? request.size
                      : piece_of(request.size, n,
                                 request.kind == CollectiveKind::all_gather ? from : step.to);
      emit(step);
    }
}

Fluid Direct::fluid(const Request& request, const ChannelPlan& plan,
                    const Constants& constants) const {
  Fluid out = start_fluid(name(), request, plan, constants, Efficiency::direct, false);
  out.cap.reset();  // LL's share is in the wire factor; sends have no ceiling of their own
  EdgeList edges(plan, out);
  const auto n = static_cast<std::uint32_t>(plan.group.gpus.size());
  if (request.kind == CollectiveKind::send_recv) {
    for (std::uint32_t from = 0; from < n; ++from)
      edges.nearest(from, (from + 1) % n, 0, request.size.to_double());
    return out;
  }
  const double each = request.size.to_double() / n;
  const auto nodes = static_cast<std::uint32_t>(plan.node_ranks.size());
  const std::vector<std::uint32_t> offsets = node_offsets(nodes);
  const double far = offsets.empty() ? 0 : each * (nodes - 1) / static_cast<double>(offsets.size());
  for (std::uint32_t from = 0; from < n; ++from) {
    const std::uint32_t own = plan.rank_node[from];
    for (std::uint32_t to : plan.node_ranks[own])
      if (to != from) edges.nearest(from, to, 0, each);
    for (std::uint32_t offset : offsets)
      for (std::uint32_t to : plan.node_ranks[(own + offset) % nodes])
        edges.nearest(from, to, 0, far);
  }
  return out;
}

}  // namespace

const Algorithm& direct_algorithm();
const Algorithm& direct_algorithm() {
  static const Direct kDirect;
  return kDirect;
}

}  // namespace weft::collective
