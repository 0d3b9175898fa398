#include "engine/reduction_tree.h"

#include <algorithm>
#include <limits>

namespace weft::engine {
namespace {

constexpr std::uint32_t kFar = std::numeric_limits<std::uint32_t>::max();

bool reduces(const fabric::Fabric& fabric, fabric::DeviceId device) {
  return fabric.kind(device) == fabric::DeviceKind::network_switch &&
         fabric.device_class(device).reduces;
}

// Hops from `start` over switches that reduce, by device.
std::vector<std::uint32_t> hops_from(const fabric::Fabric& fabric, fabric::DeviceId start) {
  std::vector<std::uint32_t> hops(fabric.device_count(), kFar);
  std::vector<fabric::DeviceId> open{start};
  hops[start.index()] = 0;
  for (std::size_t next = 0; next < open.size(); ++next)
    for (fabric::LinkId link : fabric.out_links(open[next])) {
      const fabric::DeviceId to = fabric.to(link);
      if (!reduces(fabric, to) || hops[to.index()] != kFar) continue;
      hops[to.index()] = hops[open[next].index()] + 1;
      open.push_back(to);
    }
  return hops;
}

// The which-th of the switches whose farthest leaf is nearest.
std::optional<fabric::DeviceId> root_of(const fabric::Fabric& fabric,
                                        const std::vector<fabric::DeviceId>& leaves,
                                        std::uint32_t which) {
  std::vector<std::uint32_t> farthest(fabric.device_count(), 0);
  for (fabric::DeviceId leaf : leaves) {
    const std::vector<std::uint32_t> hops = hops_from(fabric, leaf);
    for (std::size_t i = 0; i < hops.size(); ++i) farthest[i] = std::max(farthest[i], hops[i]);
  }
  std::vector<fabric::DeviceId> best;
  std::uint32_t least = kFar;
  for (std::size_t i = 0; i < farthest.size(); ++i) {
    const fabric::DeviceId device(i);
    if (!reduces(fabric, device) || farthest[i] == kFar || farthest[i] > least) continue;
    if (farthest[i] < least) best.clear();
    least = farthest[i];
    best.push_back(device);
  }
  if (best.empty()) return std::nullopt;
  return best[which % best.size()];
}

}  // namespace

std::optional<std::vector<fabric::LinkId>> reduction_tree(const fabric::Fabric& fabric,
                                                          std::vector<fabric::DeviceId> leaves,
                                                          std::uint32_t which) {
  std::sort(leaves.begin(), leaves.end());
  leaves.erase(std::unique(leaves.begin(), leaves.end()), leaves.end());
  std::vector<fabric::LinkId> links;
  if (leaves.size() < 2) return links;
  const auto root = root_of(fabric, leaves, which);
  if (!root) return std::nullopt;
  const std::vector<std::uint32_t> hops = hops_from(fabric, *root);
  std::vector<bool> joined(fabric.device_count(), false);
  for (fabric::DeviceId at : leaves)
    while (at != *root && !joined[at.index()]) {
      joined[at.index()] = true;
      std::vector<fabric::LinkId> nearer;
      for (fabric::LinkId link : fabric.out_links(at))
        if (hops[fabric.to(link).index()] + 1 == hops[at.index()]) nearer.push_back(link);
      links.push_back(nearer[which % nearer.size()]);
      at = fabric.to(links.back());
    }
  return links;
}

}  // namespace weft::engine
