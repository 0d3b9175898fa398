// Direct: every rank sends to every peer without a relay, as NCCL's grouped sends and receives do.
// All-to-all, send_recv, gather and scatter; all-gather and reduce-scatter when asked for by name.
// Each rank uses its nearest NIC. Model: docs/models/direct.md.
#include "collective/schedule.h"

namespace weft::collective {
namespace {

using work::CollectiveKind;

class Direct final : public Algorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return "direct"; }
  [[nodiscard]] std::string_view summary() const override {
    return "straight sends without a relay; what all_to_all, send_recv, gather and scatter use";
  }
  [[nodiscard]] std::string refuse(const Request& request, const ChannelPlan& plan) const override {
    if (plan.channels.empty()) return "no channel was found on this fabric";
    switch (request.kind) {
      case CollectiveKind::all_to_all:
      case CollectiveKind::send_recv:
      case CollectiveKind::gather:
      case CollectiveKind::scatter:
      case CollectiveKind::all_gather:
      case CollectiveKind::reduce_scatter:
        return {};
      default:
        return "direct does all_to_all, send_recv, gather, scatter, all_gather and reduce_scatter";
    }
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

// The root's n-1 messages are all posted at once.
void rooted_steps(const Request& request, std::uint32_t n, const EmitStep& emit) {
  const bool gathers = request.kind == CollectiveKind::gather;
  for (std::uint32_t rank = 0; rank < n; ++rank) {
    if (rank == request.root) continue;
    Step step;
    step.from = gathers ? rank : request.root;
    step.to = gathers ? request.root : rank;
    step.chunk = rank;
    step.size = piece_of(request.size, n, rank);
    emit(step);
  }
}

void Direct::steps(const Request& request, const ChannelPlan& plan, const EmitStep& emit) const {
  if (request.kind == CollectiveKind::gather || request.kind == CollectiveKind::scatter) {
    rooted_steps(request, static_cast<std::uint32_t>(plan.group.gpus.size()), emit);
    return;
  }
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
  if (request.kind == CollectiveKind::gather || request.kind == CollectiveKind::scatter) {
    for (std::uint32_t rank = 0; rank < n; ++rank) {
      if (rank == request.root) continue;
      if (request.kind == CollectiveKind::gather)
        edges.nearest(rank, request.root, 0, each);
      else
        edges.nearest(request.root, rank, 0, each);
    }
    return out;
  }
  every_pair(plan, each, edges);
  return out;
}

}  // namespace

const Algorithm& direct_algorithm();
const Algorithm& direct_algorithm() {
  static const Direct kDirect;
  return kDirect;
}

}  // namespace weft::collective
