#include "fabric/path_class.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/check.h"
#include "fabric/nvlink_route.h"

namespace weft::fabric {

namespace {

// NVLinks between two devices: direct ones, else through each NVSwitch both reach, as many as the
// side with fewer has. 0 when none.
int nvlinks_between(const Fabric& fabric, DeviceId a, DeviceId b) {
  const auto count = [&](DeviceId from, DeviceId to) {
    int links = 0;
    for (const LinkId link : fabric.out_links(from)) {
      const LinkClass& c = fabric.link_class(link);
      if (c.kind == LinkKind::nvlink && fabric.to(link) == to) links += c.width;
    }
    return links;
  };
  const int direct = count(a, b);
  if (direct > 0) return direct;
  // DGX-2 style fabrics join two switch planes, so any chain of NVSwitches counts.
  const auto to_switches = [&](DeviceId from) {
    int links = 0;
    for (const LinkId link : fabric.out_links(from)) {
      const LinkClass& c = fabric.link_class(link);
      const bool to_switch = fabric.kind(fabric.to(link)) == DeviceKind::nvswitch;
      if (c.kind == LinkKind::nvlink && to_switch) links += c.width;
    }
    return links;
  };
  const int links = std::min(to_switches(a), to_switches(b));
  if (links == 0 || nvlink_chains(fabric, a, b).empty()) return 0;
  return links;
}

bool joined_by(const Fabric& fabric, DeviceId a, DeviceId b, LinkKind kind) {
  return std::ranges::any_of(fabric.out_links(a), [&](LinkId link) {
    return fabric.to(link) == b && fabric.link_class(link).kind == kind;
  });
}

// "0000:41:00.0" and "0000:41:00.1" are two functions of one card.
bool same_card(const Fabric& fabric, DeviceId a, DeviceId b) {
  const std::string_view one = fabric.label(a, "bus_id");
  const std::string_view other = fabric.label(b, "bus_id");
  const std::size_t dot = one.rfind('.');
  return dot != std::string_view::npos && other.substr(0, dot + 1) == one.substr(0, dot + 1);
}

struct Passed {
  bool reached = false;
  int switches = 0, host_bridges = 0, cpus = 0;
};

bool forwards(DeviceKind kind) {
  return kind == DeviceKind::pcie_switch || kind == DeviceKind::host_bridge ||
         kind == DeviceKind::cpu;
}

// `before` and one link further, into `head`. A C2C link has its own root port, so it counts as a
// bridge; a card slot is part of the card and does not.
Passed step(Passed before, LinkKind link, const DeviceClass& head) {
  const bool bridge = head.kind == DeviceKind::host_bridge || link == LinkKind::c2c;
  before.switches += head.kind == DeviceKind::pcie_switch && !is_card_slot(head) ? 1 : 0;
  before.host_bridges += bridge ? 1 : 0;
  before.cpus += head.kind == DeviceKind::cpu ? 1 : 0;
  return before;
}

// What the shortest chains without NVLink from `from` visit, ends included, to every device of its
// server, by place in the server.
std::vector<Passed> passed_from(const Fabric& fabric, DeviceId from) {
  const auto range = fabric.devices_of(fabric.info(from).server);
  std::vector<Passed> passed(range.last - range.first);
  passed[from.index() - range.first] = step({true}, LinkKind::on_die, fabric.device_class(from));
  std::vector<DeviceId> queue = {from};
  for (std::size_t i = 0; i < queue.size(); ++i) {
    if (i > 0 && !forwards(fabric.kind(queue[i]))) continue;
    const Passed here = passed[queue[i].index() - range.first];
    for (const LinkId link : fabric.out_links(queue[i])) {
      const LinkKind kind = fabric.link_class(link).kind;
      const DeviceId head = fabric.to(link);
      const bool inside = head.value >= range.first && head.value < range.last;
      if (!inside || is_network(kind) || kind == LinkKind::nvlink || kind == LinkKind::xgmi)
        continue;
      Passed& next = passed[head.index() - range.first];
      if (next.reached) continue;
      next = step(here, kind, fabric.device_class(head));
      queue.push_back(head);
    }
  }
  return passed;
}

PathKind host_class(const Passed& passed) {
  if (!passed.reached || passed.cpus >= 2) return PathKind::sys;
  if (passed.host_bridges >= 2) return PathKind::node;
  if (passed.host_bridges == 1 || passed.cpus == 1) return PathKind::phb;
  return passed.switches >= 2 ? PathKind::pxb : PathKind::pix;
}

bool on_network(const Fabric& fabric, DeviceId nic) {
  return std::ranges::any_of(fabric.out_links(nic),
                             [&](LinkId link) { return is_network(fabric.link_class(link).kind); });
}

// NICs of the server that are as near to `device` as any.
std::vector<DeviceId> nearest_nics(const Fabric& fabric, DeviceId device,
                                   const std::vector<DeviceId>& nics) {
  std::vector<DeviceId> nearest;
  const std::uint32_t first = fabric.devices_of(fabric.info(device).server).first;
  const std::vector<Passed> passed = passed_from(fabric, device);
  PathKind best = PathKind::net;
  for (const DeviceId nic : nics) {
    const PathKind kind = host_class(passed[nic.index() - first]);
    if (kind < best) nearest.clear();
    if (kind <= best) {
      best = kind;
      nearest.push_back(nic);
    }
  }
  return nearest;
}

std::string text_or(std::string_view text, std::string otherwise) {
  return text.empty() ? std::move(otherwise) : std::string(text);
}

}  // namespace

std::string to_text(PathClass c) {
  static constexpr std::array<std::string_view, 10> kNames = {"X",   "NV",  "XGMI", "C2C", "PIX",
                                                              "PXB", "PHB", "NODE", "SYS", "NET"};
  const auto index = static_cast<std::size_t>(c.kind);
  CHECK(index < kNames.size());
  if (c.kind == PathKind::nvlink) return fmt::format("NV{}", c.nvlinks);
  return std::string(kNames[index]);
}

PathClass path_class(const Fabric& fabric, DeviceId a, DeviceId b) {
  if (a == b) return {PathKind::self};
  const int nvlinks = nvlinks_between(fabric, a, b);
  if (nvlinks > 0) return {PathKind::nvlink, nvlinks};
  if (joined_by(fabric, a, b, LinkKind::xgmi)) return {PathKind::xgmi};
  if (joined_by(fabric, a, b, LinkKind::c2c)) return {PathKind::c2c};
  const ServerId server = fabric.info(a).server;
  if (!server.valid() || server != fabric.info(b).server) return {PathKind::net};
  if (same_card(fabric, a, b)) return {PathKind::pix};
  const std::uint32_t first = fabric.devices_of(server).first;
  return {host_class(passed_from(fabric, a)[b.index() - first])};
}

std::optional<DeviceId> nearest_nic(const Fabric& fabric, DeviceId device) {
  const ServerId server = fabric.info(device).server;
  if (!server.valid()) return std::nullopt;
  std::vector<DeviceId> nics = fabric.of_kind(DeviceKind::nic, server);
  std::erase_if(nics, [&](DeviceId nic) { return !on_network(fabric, nic); });
  const std::vector<DeviceId> nearest = nearest_nics(fabric, device, nics);
  if (nearest.empty()) return std::nullopt;
  if (nearest.size() == 1) return nearest.front();
  std::size_t turn = 0;
  for (const DeviceId other : fabric.of_kind(fabric.kind(device), server)) {
    if (other == device) break;
    if (nearest_nics(fabric, other, nics) == nearest) ++turn;
  }
  return nearest[turn % nearest.size()];
}

TopologyMatrix topology_matrix(const Fabric& fabric, ServerId server) {
  TopologyMatrix m;
  const auto gpus = fabric.of_kind(DeviceKind::gpu, server);
  const auto nics = fabric.of_kind(DeviceKind::nic, server);
  m.devices = gpus;
  m.devices.insert(m.devices.end(), nics.begin(), nics.end());
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    const int numa = fabric.info(gpus[i]).numa;
    m.headers.push_back(fmt::format("GPU{}", i));
    m.cpu_affinity.push_back(text_or(fabric.label(gpus[i], "cpu_affinity"), "N/A"));
    m.numa_affinity.push_back(
        text_or(fabric.label(gpus[i], "numa_affinity"), numa < 0 ? "N/A" : std::to_string(numa)));
    m.gpu_numa_id.push_back(text_or(fabric.label(gpus[i], "gpu_numa_id"), "N/A"));
  }
  for (std::size_t i = 0; i < nics.size(); ++i) {
    m.headers.push_back(fmt::format("NIC{}", i));
    m.nic_legend.emplace_back(m.headers.back(), text_or(fabric.label(nics[i], "nic_name"),
                                                        std::string(fabric.name(nics[i]))));
  }
  for (const DeviceId row : m.devices) {
    auto& cells = m.cells.emplace_back();
    for (const DeviceId column : m.devices) cells.push_back(path_class(fabric, row, column));
  }
  return m;
}

}  // namespace weft::fabric
