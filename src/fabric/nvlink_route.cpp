#include "fabric/nvlink_route.h"

#include <map>
#include <optional>

namespace weft::fabric {

namespace {

bool is_scale_up(LinkKind kind) {
  return kind == LinkKind::nvlink || kind == LinkKind::xgmi;
}

// Links to `to` from the NVSwitches around it, as far out as needed to touch `from`.
using Distances = std::map<DeviceId, int>;

bool touches(const Fabric& fabric, DeviceId from, const Distances& distances) {
  for (const LinkId link : fabric.out_links(from)) {
    if (is_scale_up(fabric.link_class(link).kind) && distances.contains(fabric.to(link))) {
      return true;
    }
  }
  return false;
}

std::optional<Distances> distances_to(const Fabric& fabric, DeviceId from, DeviceId to) {
  Distances distances = {{to, 0}};
  std::vector<DeviceId> level = {to};
  for (int distance = 1; !touches(fabric, from, distances); ++distance) {
    std::vector<DeviceId> next;
    for (const DeviceId device : level) {
      for (const LinkId link : fabric.out_links(device)) {
        const DeviceId head = fabric.to(link);
        if (!is_scale_up(fabric.link_class(link).kind)) continue;
        if (fabric.kind(head) != DeviceKind::nvswitch) continue;
        if (distances.try_emplace(head, distance).second) next.push_back(head);
      }
    }
    if (next.empty()) return std::nullopt;
    level = std::move(next);
  }
  return distances;
}

// Links of `device` that lead to something exactly `distance` away from the end.
std::vector<LinkId> links_at(const Fabric& fabric, DeviceId device, const Distances& distances,
                             int distance) {
  std::vector<LinkId> links;
  for (const LinkId link : fabric.out_links(device)) {
    if (!is_scale_up(fabric.link_class(link).kind)) continue;
    const auto found = distances.find(fabric.to(link));
    if (found != distances.end() && found->second == distance) links.push_back(link);
  }
  return links;
}

}  // namespace

std::vector<NvlinkChain> nvlink_chains(const Fabric& fabric, DeviceId from, DeviceId to) {
  if (from == to) return {};
  const std::optional<Distances> distances = distances_to(fabric, from, to);
  if (!distances) return {};
  int nearest = 0;
  std::vector<LinkId> first = links_at(fabric, from, *distances, nearest);
  while (first.empty()) first = links_at(fabric, from, *distances, ++nearest);

  std::vector<NvlinkChain> chains;
  double total = 0;
  for (const LinkId link : first) {
    NvlinkChain chain = {{link}, fabric.link_class(link).raw_rate.gbps()};
    for (int left = nearest - 1; left >= 0; --left) {
      const auto next = links_at(fabric, fabric.to(chain.links.back()), *distances, left);
      chain.links.push_back(next[chains.size() % next.size()]);
    }
    total += chain.share;
    chains.push_back(std::move(chain));
  }
  for (NvlinkChain& chain : chains) chain.share /= total;
  return chains;
}

}  // namespace weft::fabric
