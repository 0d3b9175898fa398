// Recursive halving and doubling (Rabenseifner): reduce-scatter with partners at distance 1, 2, 4,
// ... and half as many bytes each time, all-gather back the same way. log2 n rounds, every byte
// sent once. All-reduce of any number of ranks (extra ranks fold into a neighbour), the other two
// of a power of two. Not one of NCCL's own. Model: docs/models/halving_doubling.md.
#include "collective/rounds.h"

namespace weft::collective {
namespace {

using work::CollectiveKind;

class HalvingDoubling final : public Algorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return "halving_doubling"; }
  [[nodiscard]] std::string_view summary() const override {
    return "partners at distance 1, 2, 4, ... and back; bandwidth-optimal in log2 n rounds";
  }
  [[nodiscard]] std::string refuse(const Request& request, const ChannelPlan& plan) const override {
    if (plan.channels.empty()) return "no channel was found on this fabric";
    switch (request.kind) {
      case CollectiveKind::all_reduce:
        return {};
      case CollectiveKind::all_gather:
      case CollectiveKind::reduce_scatter:
        return is_power_of_two(static_cast<std::uint32_t>(plan.group.gpus.size()))
                   ? ""
                   : "needs a power of two of ranks; bruck and ring take any number";
      default:
        return "halving_doubling does all_reduce, all_gather and reduce_scatter";
    }
  }
  void steps(const Request& request, const ChannelPlan& plan, const EmitStep& emit) const override;
  [[nodiscard]] Fluid fluid(const Request& request, const ChannelPlan& plan,
                            const Constants& constants) const override;
};

// The exact rounds; chunk c belongs to the place c.
class Rounds {
 public:
  Rounds(const Request& request, const ChannelPlan& plan, const EmitStep& emit)
      : request_(request),
        ranks_(fold(static_cast<std::uint32_t>(plan.group.gpus.size()))),
        emit_(emit) {}

  void run() {
    fold_pairs(true);
    bool gathering = request_.kind == CollectiveKind::all_gather;
    std::uint32_t last = 0;
    for (const Round& round : halving_doubling_rounds(request_.kind, ranks_.places)) {
      // Distances grow while halving; the first that does not starts the way back.
      gathering |= round.distance <= last;
      last = round.distance;
      for (std::uint32_t place = 0; place < ranks_.places; ++place)
        exchange(place, round, gathering);
      ++round_;
    }
    fold_pairs(false);
  }

 private:
  void send(std::uint32_t from, std::uint32_t to, std::uint32_t chunk, bool reduce) const {
    Step step;
    step.from = from;
    step.to = to;
    step.round = round_;
    step.chunk = chunk;
    step.reduce = reduce;
    step.size = piece_of(request_.size, ranks_.places, chunk);
    emit_(step);
  }

  // Halving: of the chunks that agree with the place in the lower bits, those on the partner's
  // side. Doubling: all that the place has, which are those that agree with it up to this bit.
  void exchange(std::uint32_t place, const Round& round, bool gathering) const {
    const std::uint32_t to = place ^ round.distance;
    const std::uint32_t first = (gathering ? place : to) & (2 * round.distance - 1);
    for (std::uint32_t chunk = first; chunk < ranks_.places; chunk += 2 * round.distance)
      send(ranks_.rank(place), ranks_.rank(to), chunk, !gathering);
  }

  void fold_pairs(bool in) {
    if (ranks_.extra == 0) return;
    for (std::uint32_t pair = 0; pair < ranks_.extra; ++pair)
      for (std::uint32_t chunk = 0; chunk < ranks_.places; ++chunk)
        send(2 * pair + (in ? 1 : 0), 2 * pair + (in ? 0 : 1), chunk, in);
    ++round_;
  }

  const Request& request_;
  Folded ranks_;
  const EmitStep& emit_;
  std::uint32_t round_ = 0;
};

void HalvingDoubling::steps(const Request& request, const ChannelPlan& plan,
                            const EmitStep& emit) const {
  Rounds(request, plan, emit).run();
}

Fluid HalvingDoubling::fluid(const Request& request, const ChannelPlan& plan,
                             const Constants& constants) const {
  Fluid out = start_fluid(name(), request, plan, constants, Efficiency::direct, false);
  out.cap.reset();  // sends have no ceiling of their own
  EdgeList edges(plan, out);
  const Folded ranks = fold(static_cast<std::uint32_t>(plan.group.gpus.size()));
  const double size = request.size.to_double();
  for (std::uint32_t pair = 0; pair < ranks.extra; ++pair) {
    edges.nearest(2 * pair + 1, 2 * pair, 0, size);
    edges.nearest(2 * pair, 2 * pair + 1, 0, size);
  }
  add_rounds(halving_doubling_rounds(request.kind, ranks.places), ranks, size / ranks.places,
             edges);
  return out;
}

}  // namespace

const Algorithm& halving_doubling_algorithm();
const Algorithm& halving_doubling_algorithm() {
  static const HalvingDoubling kHalvingDoubling;
  return kHalvingDoubling;
}

}  // namespace weft::collective
