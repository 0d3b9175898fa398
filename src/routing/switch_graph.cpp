#include "routing/switch_graph.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace weft::routing {

using fabric::DeviceId;
using fabric::DeviceKind;
using fabric::Fabric;
using fabric::LinkId;

bool forwards(DeviceKind kind) {
  return kind == DeviceKind::network_switch || kind == DeviceKind::gateway ||
         kind == DeviceKind::ocs;
}

namespace {

// Switches at the far ends of a device's network links, ascending, each once.
void collect_switches(const Fabric& fabric, const std::vector<std::uint32_t>& index_of_device,
                      DeviceId d, std::vector<std::uint32_t>& out) {
  out.clear();
  for (const LinkId link : fabric.out_links(d)) {
    const DeviceId far = fabric.to(link);
    if (!fabric::is_network(fabric.link_class(link).kind) || !forwards(fabric.kind(far))) continue;
    out.push_back(index_of_device[far.index()]);
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
}

}  // namespace

SwitchGraph::SwitchGraph(const Fabric& fabric, bool up_down)
    : index_of_device(fabric.device_count(), kNoIndex) {
  for (std::size_t d = 0; d < fabric.device_count(); ++d) {
    if (!forwards(fabric.kind(DeviceId(d)))) continue;
    index_of_device[d] = static_cast<std::uint32_t>(device.size());
    device.emplace_back(d);
  }
  std::vector<std::uint32_t> found;
  neighbour_begin.push_back(0);
  for (const DeviceId s : device) {
    collect_switches(fabric, index_of_device, s, found);
    neighbour.insert(neighbour.end(), found.begin(), found.end());
    neighbour_begin.push_back(static_cast<std::uint32_t>(neighbour.size()));
  }
  std::map<std::vector<std::uint32_t>, std::uint32_t> groups;
  group_begin.push_back(0);
  for (const DeviceId nic : fabric.of_kind(DeviceKind::nic)) {
    collect_switches(fabric, index_of_device, nic, found);
    if (found.empty()) continue;
    const auto [at, is_new] =
        groups.try_emplace(found, static_cast<std::uint32_t>(group_nic.size()));
    if (is_new) {
      group_nic.push_back(nic);
      group_switch.insert(group_switch.end(), found.begin(), found.end());
      group_begin.push_back(static_cast<std::uint32_t>(group_switch.size()));
    }
    index_of_device[nic.index()] = at->second;
  }
  if (up_down) {
    find_levels(fabric);
    add_down_layer();
  }
}

std::uint32_t SwitchGraph::next_vertex(std::uint32_t v, std::uint32_t n) const {
  if (layers == 1) return n;
  const auto count = static_cast<std::uint32_t>(switch_count());
  const bool went_down = v >= count;
  const bool up = is_up(went_down ? v - count : v, n);
  if (went_down && up) return kNoIndex;
  return up ? n : n + count;
}

// Breadth-first from the switches of the highest tier of each part of the network; a part all of
// one tier has its first switch as the root.
void SwitchGraph::find_levels(const Fabric& fabric) {
  level.assign(device.size(), kNoIndex);
  const auto search = [this](std::vector<std::uint32_t> queue, auto&& visit) {
    for (std::size_t i = 0; i < queue.size(); ++i) {
      for (const std::uint32_t n : neighbours(queue[i])) {
        if (visit(queue[i], n)) queue.push_back(n);
      }
    }
    return queue;
  };
  std::vector<char> seen(device.size(), 0);
  for (std::uint32_t s = 0; s < device.size(); ++s) {
    if (seen[s] != 0) continue;
    seen[s] = 1;
    const auto part =
        search({s}, [&](std::uint32_t, std::uint32_t n) { return std::exchange(seen[n], 1) == 0; });
    const auto tier = [&](std::uint32_t v) { return fabric.info(device[v]).tier; };
    const auto tiers =
        std::minmax_element(part.begin(), part.end(),
                            [&](std::uint32_t a, std::uint32_t b) { return tier(a) < tier(b); });
    std::vector<std::uint32_t> roots = {s};
    if (tier(*tiers.first) != tier(*tiers.second)) {
      roots.clear();
      const auto top = tier(*tiers.second);
      std::copy_if(part.begin(), part.end(), std::back_inserter(roots),
                   [&](std::uint32_t v) { return tier(v) == top; });
    }
    for (const std::uint32_t root : roots) level[root] = 0;
    search(roots, [&](std::uint32_t from, std::uint32_t n) {
      if (level[n] != kNoIndex) return false;
      level[n] = level[from] + 1;
      return true;
    });
  }
}

void SwitchGraph::add_down_layer() {
  const auto count = static_cast<std::uint32_t>(device.size());
  std::vector<std::vector<std::uint32_t>> next(std::size_t{2} * count), reverse(next.size());
  layers = 2;
  device.insert(device.end(), device.begin(), device.begin() + count);
  for (std::uint32_t v = 0; v < next.size(); ++v) {
    for (const std::uint32_t n : neighbours(v % count)) {
      const std::uint32_t to = next_vertex(v, n);
      if (to == kNoIndex) continue;
      next[v].push_back(to);
      reverse[to].push_back(v);
    }
    std::sort(next[v].begin(), next[v].end());
  }
  const auto flatten = [](const std::vector<std::vector<std::uint32_t>>& lists,
                          std::vector<std::uint32_t>& begin, std::vector<std::uint32_t>& flat) {
    begin.assign(1, 0);
    flat.clear();
    for (const auto& list : lists) {
      flat.insert(flat.end(), list.begin(), list.end());
      begin.push_back(static_cast<std::uint32_t>(flat.size()));
    }
  };
  flatten(next, neighbour_begin, neighbour);
  flatten(reverse, before_begin, before_vertex);
}

}  // namespace weft::routing
