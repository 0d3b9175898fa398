#include "routing/switch_graph.h"

#include <algorithm>
#include <map>

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

SwitchGraph::SwitchGraph(const Fabric& fabric) : index_of_device(fabric.device_count(), kNoIndex) {
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
}

}  // namespace weft::routing
