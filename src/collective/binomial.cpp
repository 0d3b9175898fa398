// Binomial tree of single ranks for the collectives with a root: broadcast, reduce, gather,
// scatter in log2 n rounds, as MPI libraries do for small messages. Gather and scatter carry a
// subtree's chunks together. Not one of NCCL's own. Model: docs/models/binomial.md.
#include <bit>

#include "collective/rounds.h"

namespace weft::collective {
namespace {

using work::CollectiveKind;

class BinomialTree final : public Algorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return "binomial"; }
  [[nodiscard]] std::string_view summary() const override {
    return "a binomial tree from or to the root: log2 n rounds";
  }
  [[nodiscard]] std::string refuse(const Request& request, const ChannelPlan& plan) const override {
    if (plan.channels.empty()) return "no channel was found on this fabric";
    return work::has_root(request.kind) ? ""
                                        : "binomial does broadcast, reduce, gather and scatter";
  }
  void steps(const Request& request, const ChannelPlan& plan, const EmitStep& emit) const override;
  [[nodiscard]] Fluid fluid(const Request& request, const ChannelPlan& plan,
                            const Constants& constants) const override;
};

bool goes_up(CollectiveKind kind) {
  return kind == CollectiveKind::reduce || kind == CollectiveKind::gather;
}
// Every hop carries the whole buffer; else the chunks of the subtree below it.
bool is_whole(CollectiveKind kind) {
  return kind == CollectiveKind::broadcast || kind == CollectiveKind::reduce;
}

void BinomialTree::steps(const Request& request, const ChannelPlan& plan,
                         const EmitStep& emit) const {
  const Binomial tree{static_cast<std::uint32_t>(plan.group.gpus.size()), request.root};
  const bool up = goes_up(request.kind);
  const auto depth = static_cast<std::uint32_t>(std::bit_width(tree.n - 1));
  for (std::uint32_t place = 1; place < tree.n; ++place) {
    const std::uint32_t own = tree.rank(place), above = tree.rank(Binomial::parent(place));
    const auto bit = static_cast<std::uint32_t>(std::countr_zero(place));
    Step step;
    step.from = up ? own : above;
    step.to = up ? above : own;
    step.round = up ? bit : depth - 1 - bit;  // up: near first; down: far first
    step.reduce = request.kind == CollectiveKind::reduce;
    step.size = request.size;
    if (is_whole(request.kind)) {
      emit(step);
      continue;
    }
    for (std::uint32_t below = place; below < tree.end(place); ++below) {
      step.chunk = tree.rank(below);
      step.size = piece_of(request.size, tree.n, step.chunk);
      emit(step);
    }
  }
}

Fluid BinomialTree::fluid(const Request& request, const ChannelPlan& plan,
                          const Constants& constants) const {
  Fluid out = start_fluid(name(), request, plan, constants, Efficiency::direct, false);
  out.cap.reset();
  EdgeList edges(plan, out);
  const Binomial tree{static_cast<std::uint32_t>(plan.group.gpus.size()), request.root};
  const double size = request.size.to_double();
  for (std::uint32_t place = 1; place < tree.n; ++place) {
    const std::uint32_t own = tree.rank(place), above = tree.rank(Binomial::parent(place));
    const double bytes = is_whole(request.kind) ? size : size * (tree.end(place) - place) / tree.n;
    if (goes_up(request.kind))
      edges.nearest(own, above, 0, bytes);
    else
      edges.nearest(above, own, 0, bytes);
  }
  return out;
}

}  // namespace

const Algorithm& binomial_algorithm();
const Algorithm& binomial_algorithm() {
  static const BinomialTree kBinomialTree;
  return kBinomialTree;
}

}  // namespace weft::collective
