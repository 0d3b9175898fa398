#include "collective/channel_search.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

namespace weft::collective {
namespace {

constexpr std::array kIntra{40.0, 30.0, 20.0, 18.0, 15.0, 12.0, 10.0, 9.0, 7.0,
                            6.0,  5.0,  4.0,  3.0,  2.4,  1.2,  0.24, 0.12};
constexpr std::array kInter{48.0, 30.0, 28.0, 24.0, 20.0, 18.0, 15.0, 12.0, 10.0, 9.0,
                            7.0,  6.0,  5.0,  4.0,  3.0,  2.4,  1.2,  0.24, 0.12};
constexpr std::array kIntra90{60.0, 50.0, 40.0, 30.0, 24.0, 20.0, 15.0,
                              12.0, 11.0, 6.0,  3.0,  2.4,  1.2,  0.24};
constexpr std::array kInter90{48.0, 45.0, 42.0, 40.0, 30.0, 24.0, 22.0, 20.0, 17.5,
                              15.0, 12.0, 6.0,  3.0,  2.4,  1.2,  0.24, 0.12};
constexpr std::array kIntra100{90.0, 80.0, 70.0, 60.0, 50.0, 45.0, 40.0, 30.0,
                               24.0, 20.0, 19.0, 18.0, 15.0, 12.0, 6.0,  3.0};
constexpr std::array kInter100{96.0, 86.0, 80.0, 48.0, 45.1, 42.0, 40.0, 30.0, 24.0, 22.0,
                               20.0, 17.5, 15.0, 12.0, 6.0,  3.0,  2.4,  1.2,  0.24, 0.12};
// RCCL's, inside and outside.
constexpr std::array kAmd{48.0, 24.0, 20.0, 18.0, 15.0, 12.0, 10.0, 9.0, 7.0,
                          6.0,  5.0,  4.0,  3.0,  2.4,  1.2,  0.24, 0.12};

constexpr double kIntelBridge = 6.0 / 5;  // Intel's root complex forwards peer writes in 64 B
constexpr double kSlack = 1e-6;
constexpr int kStepBudget = 20'000;  // tries of one GPU as the next of a ring, for one rung

double network_width(const NodeView& view, std::size_t nic) {
  const ViewPath& path = view.gpu_nic[gpu_near_nic(view, static_cast<std::uint32_t>(nic))][nic];
  return std::min(path.bandwidth, view.links[view.nic_out[nic]].bandwidth);
}

// More channels of this bandwidth than these no search can find: each takes a GPU's output or, over
// several nodes, a NIC's.
std::size_t at_most(const NodeView& view, bool network, double rung, Reach inter_reach) {
  if (!network) return static_cast<std::size_t>((view.total + kSlack) / rung);
  const Reach limit = inter_reach == Reach::pxn ? Reach::pxb : inter_reach;
  std::size_t channels = 0;
  for (std::size_t nic = 0; nic < view.nics.size(); ++nic) {
    const auto k = static_cast<std::uint32_t>(nic);
    if (view.gpu_nic[gpu_near_nic(view, k)][nic].reach > limit) continue;
    channels += static_cast<std::size_t>((network_width(view, nic) + kSlack) / rung);
  }
  return channels;
}

class Search {
 public:
  struct Limits {
    double intra = 0, inter = 0;
    Reach intra_reach = Reach::nvl, inter_reach = Reach::pxb;
    bool network = false, cross_nic = false;
    std::size_t max_channels = 32;
  };

  Search(const NodeView& view, const Limits& limits) : view_(view), limits_(limits) {
    free_.reserve(view.links.size());
    for (const ViewLink& link : view.links) free_.push_back(link.bandwidth + kSlack);
    bound_ = std::min(limits.max_channels,
                      at_most(view, limits.network, limits.intra, limits.inter_reach));
  }

  std::vector<FoundChannel> run() {
    budget_ = kStepBudget;
    next_channel();
    return best_;
  }

 private:
  [[nodiscard]] double need(const ViewPath& path, std::uint32_t link, double bandwidth) const {
    return path.intel_bridge && view_.links[link].pcie ? bandwidth * kIntelBridge : bandwidth;
  }
  bool take(const ViewPath& path, double bandwidth, Reach limit) {
    if (!path.exists() || path.reach > limit) return false;
    for (std::size_t i = 0; i < path.links.size(); ++i) {
      const double wanted = need(path, path.links[i], bandwidth);
      if (free_[path.links[i]] < wanted) {
        while (i-- > 0) free_[path.links[i]] += need(path, path.links[i], bandwidth);
        return false;
      }
      free_[path.links[i]] -= wanted;
    }
    return true;
  }
  void give(const ViewPath& path, double bandwidth) {
    for (std::uint32_t link : path.links) free_[link] += need(path, link, bandwidth);
  }

  // True when the search is over: enough channels, or the budget is spent.
  bool next_channel() {
    if (current_.size() > best_.size()) best_ = current_;
    if (best_.size() >= bound_ || budget_ <= 0) return true;
    return limits_.network ? from_network() : from_gpu();
  }

  bool from_gpu() {
    current_.push_back({{0}, 0, 0});
    if (current_.size() > 1 && replay()) return true;
    current_.back().order.assign(1, 0);
    used_.assign(view_.gpus.size(), false);
    used_[0] = true;
    const bool over = extend(std::nullopt);
    current_.pop_back();
    return over;
  }

  // The order of the channel before, again: NCCL prefers equal channels and so finds them at once.
  bool replay() {
    const std::vector<std::uint32_t> order = current_[current_.size() - 2].order;
    std::size_t taken = 0;
    const std::size_t n = order.size();
    while (taken < n && n > 1 &&
           take(path(order[taken], order[(taken + 1) % n]), limits_.intra, limits_.intra_reach))
      ++taken;
    bool over = false;
    if (taken == n || n == 1) {
      current_.back().order = order;
      over = next_channel();
    }
    for (std::size_t i = 0; i < taken; ++i) give(path(order[i], order[(i + 1) % n]), limits_.intra);
    return over;
  }

  [[nodiscard]] const ViewPath& path(std::uint32_t a, std::uint32_t b) const {
    return view_.gpu_gpu[a][b];
  }

  // GPUs as the ring's next, the free-est link first; ties go round from the last one.
  [[nodiscard]] std::vector<std::uint32_t> next_gpus(std::uint32_t last) const {
    const auto n = static_cast<std::uint32_t>(view_.gpus.size());
    std::vector<std::uint32_t> out;
    for (std::uint32_t step = 1; step < n; ++step) {
      const std::uint32_t gpu = (last + step) % n;
      if (!used_[gpu] && path(last, gpu).exists()) out.push_back(gpu);
    }
    std::stable_sort(out.begin(), out.end(), [&](std::uint32_t a, std::uint32_t b) {
      return free_of(path(last, a)) > free_of(path(last, b)) + kSlack;
    });
    return out;
  }
  [[nodiscard]] double free_of(const ViewPath& path) const {
    double least = path.links.empty() ? 0 : free_[path.links.front()];
    for (std::uint32_t link : path.links) least = std::min(least, free_[link]);
    return least;
  }

  // Goes on with the current channel's order; `last` is where it has to end (several nodes).
  bool extend(std::optional<std::uint32_t> last) {
    // Copied out: deeper channels are added to current_, which may move it.
    const std::size_t placed = current_.back().order.size();
    const std::size_t n = view_.gpus.size();
    if (placed == n) return close();
    const std::uint32_t at = current_.back().order.back();
    for (std::uint32_t gpu : next_gpus(at)) {
      const bool final = placed + 1 == n;
      if (last && (gpu == *last) != final) continue;
      if (--budget_ <= 0) return true;
      if (!take(path(at, gpu), limits_.intra, limits_.intra_reach)) continue;
      used_[gpu] = true;
      current_.back().order.push_back(gpu);
      const bool over = extend(last);
      current_.back().order.pop_back();
      used_[gpu] = false;
      give(path(at, gpu), limits_.intra);
      if (over) return true;
    }
    return false;
  }

  bool close() {
    const std::vector<bool> used = used_;
    bool over = false;
    if (limits_.network || view_.gpus.size() == 1) {
      over = next_channel();
    } else {
      const auto& order = current_.back().order;
      const ViewPath& back = path(order.back(), order.front());
      if (!take(back, limits_.intra, limits_.intra_reach)) return false;
      over = next_channel();
      give(back, limits_.intra);
    }
    used_ = used;
    return over;
  }

  // NICs with the most left first, so that channels spread over the rails.
  [[nodiscard]] std::vector<std::uint32_t> nics_by_room(const std::vector<std::uint32_t>& links,
                                                        std::uint32_t first) const {
    const auto n = static_cast<std::uint32_t>(links.size());
    std::vector<std::uint32_t> out;
    for (std::uint32_t step = 0; step < n; ++step) out.push_back((first + step) % n);
    std::stable_sort(out.begin(), out.end(), [&](std::uint32_t a, std::uint32_t b) {
      return free_[links[a]] > free_[links[b]] + kSlack;
    });
    return out;
  }

  bool from_network() {
    const auto nics = static_cast<std::uint32_t>(view_.nics.size());
    for (std::uint32_t nic : nics_by_room(view_.nic_in, 0)) {
      if (free_[view_.nic_in[nic]] < limits_.inter) continue;
      free_[view_.nic_in[nic]] -= limits_.inter;
      for (std::uint32_t first : gpus_near(nic, true)) {
        const ViewPath& in = view_.nic_gpu[nic][first];
        if (!take(in, limits_.inter, std::min(limits_.inter_reach, Reach::sys))) continue;
        current_.push_back({{first}, nic, nic});
        bool over = false;
        if (!limits_.cross_nic) {
          over = leave_by(nic, first);
        } else {
          for (std::uint32_t out : nics_by_room(view_.nic_out, nic + nics - 1)) {
            over = out != nic && leave_by(out, first);
            if (over) break;
          }
        }
        current_.pop_back();
        give(in, limits_.inter);
        if (over) return true;
      }
      free_[view_.nic_in[nic]] += limits_.inter;
    }
    return false;
  }

  // GPUs from which `nic` is reached within the limit, nearest first; PXN's relay is no end of a
  // ring by itself.
  [[nodiscard]] std::vector<std::uint32_t> gpus_near(std::uint32_t nic, bool entering) const {
    std::vector<std::uint32_t> out(view_.gpus.size());
    std::iota(out.begin(), out.end(), 0u);
    const auto reach = [&](std::uint32_t gpu) {
      return entering ? view_.nic_gpu[nic][gpu].reach : view_.gpu_nic[gpu][nic].reach;
    };
    const Reach limit = limits_.inter_reach == Reach::pxn ? Reach::pxb : limits_.inter_reach;
    std::erase_if(out, [&](std::uint32_t gpu) { return reach(gpu) > limit; });
    std::stable_sort(out.begin(), out.end(), [&](std::uint32_t a, std::uint32_t b) {
      if (reach(a) != reach(b)) return reach(a) < reach(b);
      return times_first(a) < times_first(b);
    });
    return out;
  }
  [[nodiscard]] std::size_t times_first(std::uint32_t gpu) const {
    return static_cast<std::size_t>(
        std::count_if(current_.begin(), current_.end(),
                      [&](const FoundChannel& c) { return c.order.front() == gpu; }));
  }

  bool leave_by(std::uint32_t nic, std::uint32_t first) {
    if (free_[view_.nic_out[nic]] < limits_.inter) return false;
    free_[view_.nic_out[nic]] -= limits_.inter;
    current_.back().nic_out = nic;
    bool over = false;
    const bool alone = view_.gpus.size() == 1;
    if (limits_.inter_reach == Reach::pxn && !alone) {
      over = leave_by_relay(nic, first);
    } else {
      for (std::uint32_t last : gpus_near(nic, false)) {
        if ((last == first) != alone) continue;
        const ViewPath& out = view_.gpu_nic[last][nic];
        if (!take(out, limits_.inter, limits_.inter_reach)) continue;
        over = walk(first, last);
        give(out, limits_.inter);
        if (over) break;
      }
    }
    free_[view_.nic_out[nic]] += limits_.inter;
    return over;
  }

  // PXN: the last GPU hands over by NVLink to the GPU next to the NIC.
  bool leave_by_relay(std::uint32_t nic, std::uint32_t first) {
    const std::uint32_t relay = gpu_near_nic(view_, nic);
    const ViewPath& out = view_.gpu_nic[relay][nic];
    if (!take(out, limits_.inter, Reach::pxb)) return false;
    bool over = false;
    const auto n = static_cast<std::uint32_t>(view_.gpus.size());
    for (std::uint32_t step = 1; step < n && !over; ++step) {
      const std::uint32_t last = (first + n - step) % n;
      if (last == relay) continue;
      const ViewPath& hand_over = path(last, relay);
      if (!take(hand_over, limits_.inter, Reach::nvl)) continue;
      over = walk(first, last);
      give(hand_over, limits_.inter);
    }
    give(out, limits_.inter);
    return over;
  }

  bool walk(std::uint32_t first, std::uint32_t last) {
    const std::vector<bool> saved = used_;
    used_.assign(view_.gpus.size(), false);
    used_[first] = true;
    current_.back().order.assign(1, first);
    const bool over = extend(last);
    used_ = saved;
    return over;
  }

  const NodeView& view_;
  Limits limits_;
  std::vector<double> free_;
  std::vector<FoundChannel> current_, best_;
  std::vector<bool> used_;
  std::size_t bound_ = 0;
  int budget_ = 0;
};

constexpr std::array kIntraReaches{Reach::nvl, Reach::c2c, Reach::pix,
                                   Reach::pxb, Reach::phb, Reach::sys};
constexpr std::array kInterReaches{Reach::pix, Reach::pxb, Reach::pxn, Reach::phb, Reach::sys};

// The first set of path types, nearest first, that gives rings at this rung and
// that beats `so_far`. Once a ring exists, NICs further than it needs are not tried.
Found at_rung(const NodeView& view, const SearchLimits& limits, double rung, bool cross_nic,
              const Found& so_far) {
  Found best;
  for (Reach inter : kInterReaches) {
    const bool any = !best.channels.empty() || !so_far.channels.empty();
    if (any && inter > std::max(Reach::pxn, so_far.reach_inter)) break;
    const double ceiling = rung * static_cast<double>(at_most(view, limits.network, rung, inter));
    if (ceiling <= std::max(best.total(), so_far.total()) + kSlack) continue;
    for (Reach intra : kIntraReaches) {
      Search::Limits each;
      each.intra = each.inter = rung;
      each.intra_reach = intra;
      each.inter_reach = inter;
      each.network = limits.network;
      each.cross_nic = cross_nic;
      each.max_channels = static_cast<std::size_t>(limits.max_channels);
      Found found{
          Search(view, each).run(), rung, limits.network ? rung : 0, intra, inter, cross_nic};
      if (found.channels.empty()) continue;
      if (found.total() > best.total() + kSlack) best = std::move(found);
      break;
    }
    if (!limits.network) break;
  }
  return best;
}

double widest_path(const NodeView& view, bool network) {
  double widest = 0;
  for (std::size_t a = 0; a < view.gpus.size(); ++a) {
    if (network) {
      for (std::size_t k = 0; k < view.nics.size(); ++k)
        widest = std::max(
            widest, std::min(view.gpu_nic[a][k].bandwidth, view.links[view.nic_out[k]].bandwidth));
    } else {
      for (const ViewPath& path : view.gpu_gpu[a]) widest = std::max(widest, path.bandwidth);
    }
  }
  return widest;
}

}  // namespace

std::span<const double> ladder(const NodeView& view, bool network) {
  if (view.gpu_vendor == fabric::Vendor::amd) return kAmd;
  const int cc = view.compute_capability;
  if (cc >= 100 && cc < 120) {
    if (network) return kInter100;
    return kIntra100;
  }
  if (cc >= 90) {
    if (network) return kInter90;
    return kIntra90;
  }
  if (network) return kInter;
  return kIntra;
}

std::uint32_t gpu_near_nic(const NodeView& view, std::uint32_t nic) {
  std::uint32_t best = 0;
  for (std::uint32_t gpu = 1; gpu < view.gpus.size(); ++gpu)
    if (view.gpu_nic[gpu][nic].reach < view.gpu_nic[best][nic].reach) best = gpu;
  return best;
}

Found search_rings(const NodeView& view, const SearchLimits& limits) {
  Found best;
  const double widest = widest_path(view, limits.network);
  // What one GPU can pass on: reached, nothing better is to be found.
  const double enough = view.total;
  for (double rung : ladder(view, limits.network)) {
    if (rung > widest + kSlack) continue;
    // Half the bandwidth of a found ring cannot give more than duplicates of it.
    if (!best.channels.empty() && rung < 0.49 * best.intra) break;
    for (bool cross_nic : {false, true}) {
      if (cross_nic && (!limits.network || view.nics.size() < 2 || view.gpus.size() < 2)) continue;
      Found found = at_rung(view, limits, rung, cross_nic, best);
      if (found.total() > best.total() + kSlack) best = std::move(found);
      if (!best.channels.empty() && best.total() >= enough - kSlack) return best;
    }
  }
  return best;
}

void duplicate_channels(Found& found, int compute_capability, int max_channels) {
  const std::size_t n = found.channels.size();
  if (n == 0 || found.intra < 25) return;
  if (compute_capability > 80 && found.intra < 50 && n > 4) return;
  const std::size_t wanted = std::min(n * 2, static_cast<std::size_t>(max_channels));
  if (wanted == n) return;
  for (std::size_t i = 0; found.channels.size() < wanted; ++i)
    found.channels.push_back(found.channels[i]);
  found.intra /= 2;
  found.inter /= 2;
}

double raise_chain_bandwidth(const NodeView& view, const Found& found, bool network) {
  if (!network || view.gpus.size() < 2) return found.intra;
  const std::span<const double> rungs = ladder(view, network);
  double best = found.inter;
  for (auto rung = rungs.rbegin(); rung != rungs.rend(); ++rung) {
    if (*rung <= best + kSlack) continue;
    if (best >= 2 * found.inter - kSlack) break;
    std::vector<double> free;
    for (const ViewLink& link : view.links) free.push_back(link.bandwidth + kSlack);
    const auto take = [&](const ViewPath& path, double bandwidth) {
      for (std::uint32_t link : path.links) free[link] -= bandwidth;
    };
    for (const FoundChannel& channel : found.channels) {
      take(view.nic_gpu[channel.nic_in][channel.order.front()], found.inter);
      for (std::size_t i = 0; i + 1 < channel.order.size(); ++i)
        take(view.gpu_gpu[channel.order[i]][channel.order[i + 1]], *rung);
    }
    if (*std::min_element(free.begin(), free.end()) < 0) break;
    best = *rung;
  }
  return best;
}

}  // namespace weft::collective
