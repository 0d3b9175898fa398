#include "engine/packet/ways.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "base/random.h"

namespace weft::engine::packet {

namespace {

// A way and where its links stand in the list of shares.
struct Candidate {
  WayLinks links;
  std::vector<std::size_t> places;
};

class Balance {
 public:
  Balance(const routing::Routes& routes, fabric::DeviceId from, fabric::DeviceId to)
      : routes_(routes), from_(from), to_(to) {
    routes.spread(from, to, 0, shares_);
    std::sort(shares_.begin(), shares_.end(),
              [](const auto& a, const auto& b) { return a.link < b.link; });
    used_.resize(shares_.size());
  }

  // Different paths, as random packets meet them, until few new ones come.
  void draw(std::uint64_t seed) {
    constexpr std::size_t kMost = 4 * kMostWays, kMissesInARow = 2 * kMostWays;
    std::set<WayLinks> seen;
    WayLinks way;
    for (std::uint64_t number = 0, misses = 0; seen.size() < kMost && misses < kMissesInARow;
         ++number) {
      way.clear();
      if (!routes_.path(from_, to_, hash_combine(seed, number), way)) return;
      misses = seen.insert(way).second ? add(way) : misses + 1;
    }
  }

  // The way whose most used link is least used for its share; among equals the least in sum.
  const WayLinks& take() {
    const auto cost = [this](const Candidate& candidate) {
      double most = 0, sum = 0;
      for (const std::size_t place : candidate.places) {
        const double turn = (used_[place] + 1) / shares_[place].fraction;
        most = std::max(most, turn);
        sum += turn;
      }
      return std::tuple(most, sum);
    };
    const auto best =
        std::min_element(candidates_.begin(), candidates_.end(),
                         [&](const auto& a, const auto& b) { return cost(a) < cost(b); });
    for (const std::size_t place : best->places) ++used_[place];
    return best->links;
  }

  // How much too often the worst link comes in `count` ways, of those that can come out even.
  [[nodiscard]] double unevenness(std::size_t count) const {
    double worst = 1;
    for (std::size_t i = 0; i < shares_.size(); ++i) {
      const double due = shares_[i].fraction * static_cast<double>(count);
      if (due >= 0.999) worst = std::max(worst, used_[i] / due);
    }
    return worst;
  }

  [[nodiscard]] bool empty() const { return candidates_.empty(); }
  [[nodiscard]] std::size_t size() const { return candidates_.size(); }

 private:
  // 0 misses after a new way.
  std::uint64_t add(const WayLinks& way) {
    Candidate candidate{way, {}};
    for (const fabric::LinkId link : way) {
      const auto at =
          std::lower_bound(shares_.begin(), shares_.end(), link,
                           [](const auto& share, fabric::LinkId l) { return share.link < l; });
      if (at != shares_.end() && at->link == link)
        candidate.places.push_back(static_cast<std::size_t>(at - shares_.begin()));
    }
    candidates_.push_back(std::move(candidate));
    return 0;
  }

  const routing::Routes& routes_;
  fabric::DeviceId from_, to_;
  std::vector<routing::LinkFraction> shares_;
  std::vector<double> used_;
  std::vector<Candidate> candidates_;
};

}  // namespace

std::vector<WayLinks> balanced_ways(const routing::Routes& routes, fabric::DeviceId from,
                                    fabric::DeviceId to, std::uint64_t seed) {
  Balance balance(routes, from, to);
  balance.draw(seed);
  std::vector<WayLinks> ways;
  if (balance.empty()) return ways;
  if (balance.size() == 1) return {balance.take()};
  // The round ends where the links' turns come out most evenly.
  std::size_t best = 0;
  double least = 0;
  for (std::size_t count = 1; count <= kMostWays; ++count) {
    ways.push_back(balance.take());
    const double now = balance.unevenness(count);
    const bool seen_enough = count >= std::min(balance.size(), kMostWays / 2);
    if (!seen_enough || (best > 0 && now > least + 1e-9)) continue;
    best = count;
    least = now;
  }
  ways.resize(best);
  return ways;
}

}  // namespace weft::engine::packet
