// Ring: every channel is a ring over all ranks and carries its share of the buffer. All-reduce goes
// round twice (reduce-scatter, then all-gather). Broadcast and reduce flow down the ring from or to
// the root. Model: docs/models/ring.md.
#include "collective/schedule.h"

namespace weft::collective {
namespace {

using work::CollectiveKind;

class Ring final : public Algorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return "ring"; }
  [[nodiscard]] std::string_view summary() const override {
    return "each channel a ring over all ranks; bandwidth-optimal, latency grows with ranks";
  }
  [[nodiscard]] std::string refuse(const Request& request, const ChannelPlan& plan) const override {
    if (plan.channels.empty()) return "no channel was found on this fabric";
    switch (request.kind) {
      case CollectiveKind::all_reduce:
      case CollectiveKind::all_gather:
      case CollectiveKind::reduce_scatter:
      case CollectiveKind::broadcast:
      case CollectiveKind::reduce:
        return {};
      default:
        return "a ring does not carry sends; direct does";
    }
  }
  void steps(const Request& request, const ChannelPlan& plan, const EmitStep& emit) const override;
  [[nodiscard]] Fluid fluid(const Request& request, const ChannelPlan& plan,
                            const Constants& constants) const override;
};

// One channel's exact schedule.
struct Lap {
  const Request& request;
  const EmitStep& emit;
  std::vector<std::uint32_t> ranks;  // in ring order
  std::int64_t channel = 0, channels = 1;

  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(ranks.size()); }
  void send(std::int64_t place, std::int64_t chunk_place, std::int64_t round, bool reduce) const {
    const std::int64_t n = size();
    Step step;
    step.from = ranks[static_cast<std::size_t>(place % n)];
    step.to = ranks[static_cast<std::size_t>((place + 1) % n)];
    // A chunk is named after the rank that owns it: reduce-scatter leaves it there.
    step.chunk = ranks[static_cast<std::size_t>(((chunk_place % n) + n) % n)];
    step.round = static_cast<std::uint32_t>(round);
    step.channel = static_cast<std::uint16_t>(channel);
    step.reduce = reduce;
    step.size = piece_of(request.size, n * channels, channel * n + step.chunk);
    emit(step);
  }
  // After n-1 rounds the rank at place p holds the sum of its own chunk.
  void reduce_scatter() const {
    for (std::int64_t round = 0; round + 1 < size(); ++round)
      for (std::int64_t place = 0; place < size(); ++place)
        send(place, place - round - 1, round, true);
  }
  void all_gather(std::int64_t first_round) const {
    for (std::int64_t round = 0; round + 1 < size(); ++round)
      for (std::int64_t place = 0; place < size(); ++place)
        send(place, place - round, first_round + round, false);
  }
  [[nodiscard]] std::int64_t root_place() const {
    std::int64_t place = 0;
    while (ranks[static_cast<std::size_t>(place)] != request.root) ++place;
    return place;
  }
  // n chunks follow one another: chunk k makes hop h in round k + h.
  void pipeline(bool reduce) const {
    const std::int64_t first = root_place() + (reduce ? 1 : 0);
    for (std::int64_t round = 0; round < 2 * size() - 2; ++round)
      for (std::int64_t hop = 0; hop + 1 < size(); ++hop) {
        const std::int64_t chunk = round - hop;
        if (chunk >= 0 && chunk < size()) send(first + hop, chunk, round, reduce);
      }
  }
};

void Ring::steps(const Request& request, const ChannelPlan& plan, const EmitStep& emit) const {
  for (std::size_t c = 0; c < plan.channels.size(); ++c) {
    const Lap lap{request, emit, ring_ranks(plan, plan.channels[c]), static_cast<std::int64_t>(c),
                  static_cast<std::int64_t>(plan.channels.size())};
    switch (request.kind) {
      case CollectiveKind::all_reduce:
        lap.reduce_scatter();
        lap.all_gather(lap.size() - 1);
        break;
      case CollectiveKind::reduce_scatter:
        lap.reduce_scatter();
        break;
      case CollectiveKind::all_gather:
        lap.all_gather(0);
        break;
      case CollectiveKind::broadcast:
        lap.pipeline(false);
        break;
      case CollectiveKind::reduce:
        lap.pipeline(true);
        break;
      default:
        break;
    }
  }
}

Fluid Ring::fluid(const Request& request, const ChannelPlan& plan,
                  const Constants& constants) const {
  Fluid out = start_fluid(name(), request, plan, constants, Efficiency::ring, false);
  EdgeList edges(plan, out);
  const double n = static_cast<double>(plan.group.gpus.size());
  const double share = request.size.to_double() / static_cast<double>(plan.channels.size());
  for (std::size_t c = 0; c < plan.channels.size(); ++c) {
    const std::vector<std::uint32_t> ranks = ring_ranks(plan, plan.channels[c]);
    for (std::size_t place = 0; place < ranks.size(); ++place) {
      const std::uint32_t from = ranks[place], to = ranks[(place + 1) % ranks.size()];
      switch (request.kind) {
        case CollectiveKind::all_reduce:
          edges.ring(from, to, c, share * 2 * (n - 1) / n);
          break;
        case CollectiveKind::broadcast:
          if (to != request.root) edges.ring(from, to, c, share);
          break;
        case CollectiveKind::reduce:
          if (from != request.root) edges.ring(from, to, c, share);
          break;
        default:
          edges.ring(from, to, c, share * (n - 1) / n);
      }
    }
  }
  return out;
}

}  // namespace

const Algorithm& ring_algorithm();
const Algorithm& ring_algorithm() {
  static const Ring kRing;
  return kRing;
}

}  // namespace weft::collective
