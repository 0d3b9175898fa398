#include "collective/node_view.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "base/check.h"
#include "collective/channels.h"

namespace weft::collective {
namespace {

using fabric::DeviceId;
using fabric::DeviceKind;
using fabric::LinkKind;

constexpr double kOnDie = 5000;  // GB/s: not a limit (NCCL's LOC)
constexpr std::uint32_t kNowhere = 0xffffffffu;

// Peer-to-peer rate between two sockets by CPU, GB/s, where the link does not say.
double inter_socket_rate(const fabric::DeviceClass& cpu) {
  switch (cpu.vendor) {
    case fabric::Vendor::amd:
      return 16;
    case fabric::Vendor::arm:
      return 6;
    case fabric::Vendor::ibm:
      return 32;
    case fabric::Vendor::intel:
      break;
    default:
      return 16;
  }
  if (cpu.cpu_family == 6) {
    if (cpu.cpu_model >= 0xCF) return 40;  // Emerald Rapids and later
    if (cpu.cpu_model >= 0x8F) return 22;  // Sapphire Rapids
    if (cpu.cpu_model >= 0x55) return 10;  // Skylake
  }
  return 6;  // Broadwell
}

bool is_nvlink(LinkKind kind) {
  return kind == LinkKind::nvlink || kind == LinkKind::xgmi;
}

class Builder {
 public:
  Builder(const fabric::Fabric& fabric, NodeView& view) : fabric_(fabric), view_(view) {}

  void run(const std::vector<DeviceId>& gpus) {
    place_vertices(gpus);
    flatten_switches();
    add_links();
    add_network();
    sum_gpu_links();
    find_paths();
  }

 private:
  [[nodiscard]] DeviceKind kind(std::uint32_t v) const { return fabric_.kind(view_.devices[v]); }
  [[nodiscard]] const fabric::DeviceClass& device_class(std::uint32_t v) const {
    return fabric_.device_class(view_.devices[v]);
  }

  void place_vertices(const std::vector<DeviceId>& gpus);
  void flatten_switches();
  void add_links();
  void add_network();
  void sum_gpu_links();
  void find_paths();
  void merge_link(std::uint32_t from, std::uint32_t to, double bandwidth, LinkKind kind);
  [[nodiscard]] double bandwidth_of(const fabric::LinkClass& link, std::uint32_t from,
                                    std::uint32_t to) const;

  // Fewest hops over everything but NVLink, widest among equals. GPUs and NICs only at the ends.
  struct Reached {
    std::vector<std::uint32_t> by;  // link by which a vertex is reached
    std::vector<int> hops;
    std::vector<double> width;
  };
  [[nodiscard]] Reached spread(std::uint32_t from) const;
  [[nodiscard]] std::vector<std::uint32_t> trace(const Reached& reached, std::uint32_t from,
                                                 std::uint32_t to) const;
  [[nodiscard]] ViewPath make_path(std::vector<std::uint32_t> links) const;
  [[nodiscard]] ViewPath nvlink_path(std::uint32_t from, std::uint32_t to) const;
  [[nodiscard]] ViewPath pcie_path(std::uint32_t from, std::uint32_t to, bool peer_allowed) const;
  [[nodiscard]] bool turns_at_acs(const ViewPath& path) const;
  [[nodiscard]] std::optional<std::uint32_t> cpu_of(const Reached& reached) const;

  const fabric::Fabric& fabric_;
  NodeView& view_;
  std::map<DeviceId, std::uint32_t> position_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> nvlinks_;
  std::vector<std::vector<std::uint32_t>> out_;  // PCIe and CPU links by vertex
  std::vector<Reached> reached_;                 // by vertex; computed for GPUs, NICs and CPUs
  std::vector<std::uint32_t> stands_for_;        // vertex -> the one that stands for it
  std::optional<std::uint32_t> switches_;        // the vertex that stands for all NVSwitches
};

void Builder::place_vertices(const std::vector<DeviceId>& gpus) {
  for (std::uint32_t v = 0; v < view_.devices.size(); ++v) {
    position_[view_.devices[v]] = v;
    if (kind(v) == DeviceKind::nic) view_.nics.push_back(v);
    if (kind(v) == DeviceKind::nvswitch && !switches_) switches_ = v;
    if (kind(v) == DeviceKind::cpu && view_.cpu_vendor == fabric::Vendor::unknown)
      view_.cpu_vendor = device_class(v).vendor;
  }
  for (DeviceId gpu : gpus) {
    const std::uint32_t v = position_.at(gpu);
    view_.gpus.push_back(v);
    const int cc = device_class(v).compute_capability;
    if (view_.compute_capability == 0 || cc < view_.compute_capability)
      view_.compute_capability = cc;
    view_.gpu_vendor = device_class(v).vendor;
  }
  out_.resize(view_.devices.size());
}

// All NVSwitches are one. So are Broadcom PCIe switches of one model below one another: in
// synthetic mode a chip shows itself as a switch of switches with no narrow link between, and NCCL
// flattens it.
void Builder::flatten_switches() {
  stands_for_.resize(view_.devices.size());
  for (std::uint32_t v = 0; v < view_.devices.size(); ++v) {
    stands_for_[v] = kind(v) == DeviceKind::nvswitch ? *switches_ : v;
    if (kind(v) != DeviceKind::pcie_switch || device_class(v).vendor != fabric::Vendor::broadcom)
      continue;
    for (fabric::LinkId link : fabric_.out_links(view_.devices[v])) {
      const auto above = position_.find(fabric_.to(link));
      if (above == position_.end() || above->second >= v) continue;
      if (fabric_.info(fabric_.to(link)).device_class ==
          fabric_.info(view_.devices[v]).device_class)
        stands_for_[v] = stands_for_[above->second];
    }
  }
}

double Builder::bandwidth_of(const fabric::LinkClass& link, std::uint32_t from,
                             std::uint32_t to) const {
  if (link.kind == LinkKind::on_die) return kOnDie;
  if (link.kind == LinkKind::inter_socket) {
    if (link.peer_rate.bps() > 0) return link.peer_rate.gb_per_s();
    return inter_socket_rate(device_class(kind(from) == DeviceKind::cpu ? from : to));
  }
  const std::uint32_t gpu = kind(from) == DeviceKind::gpu ? from : to;
  const int cc = kind(gpu) == DeviceKind::gpu ? device_class(gpu).compute_capability : 0;
  const double figure = nccl_link_gb_per_s(link, cc);
  return figure > 0 ? figure : link.raw_rate.gb_per_s();
}

void Builder::merge_link(std::uint32_t from, std::uint32_t to, double bandwidth, LinkKind kind) {
  if (is_nvlink(kind)) {
    const auto [at, fresh] =
        nvlinks_.try_emplace({from, to}, static_cast<std::uint32_t>(view_.links.size()));
    if (!fresh) {
      view_.links[at->second].bandwidth += bandwidth;
      return;
    }
  } else {
    out_[from].push_back(static_cast<std::uint32_t>(view_.links.size()));
  }
  view_.links.push_back({from, to, bandwidth, kind == LinkKind::pcie});
}

void Builder::add_links() {
  for (std::uint32_t v = 0; v < view_.devices.size(); ++v) {
    for (fabric::LinkId link : fabric_.out_links(view_.devices[v])) {
      const auto to = position_.find(fabric_.to(link));
      if (to == position_.end()) continue;
      const fabric::LinkClass& link_class = fabric_.link_class(link);
      const double bandwidth = bandwidth_of(link_class, v, to->second);
      const std::uint32_t a = stands_for_[v], b = stands_for_[to->second];
      if (a != b) merge_link(a, b, bandwidth, link_class.kind);
    }
  }
}

void Builder::add_network() {
  for (std::uint32_t nic : view_.nics) {
    double rate = 0;
    for (fabric::LinkId link : fabric_.out_links(view_.devices[nic]))
      if (fabric::is_network(fabric_.link_class(link).kind))
        rate += fabric_.link_class(link).raw_rate.gb_per_s();
    if (rate == 0) rate = device_class(nic).port_rate.gb_per_s() * device_class(nic).ports;
    view_.nic_out.push_back(static_cast<std::uint32_t>(view_.links.size()));
    view_.links.push_back({nic, kNowhere, rate, false});
    view_.nic_in.push_back(static_cast<std::uint32_t>(view_.links.size()));
    view_.links.push_back({kNowhere, nic, rate, false});
  }
}

void Builder::sum_gpu_links() {
  bool multicast = switches_.has_value();
  for (std::uint32_t gpu : view_.gpus) {
    double nvlink = 0, pcie = 0;
    bool to_switch = false;
    for (const auto& [ends, link] : nvlinks_)
      if (ends.first == gpu) {
        nvlink += view_.links[link].bandwidth;
        to_switch |= switches_ && ends.second == *switches_;
      }
    for (std::uint32_t link : out_[gpu]) pcie = std::max(pcie, view_.links[link].bandwidth);
    view_.nvlink_total = std::max(view_.nvlink_total, nvlink);
    view_.total = std::max({view_.total, nvlink, pcie});
    multicast = multicast && to_switch && device_class(gpu).multicast;
  }
  view_.multicast = multicast && device_class(*switches_).multicast;
}

Builder::Reached Builder::spread(std::uint32_t from) const {
  const std::size_t n = view_.devices.size();
  Reached out{std::vector<std::uint32_t>(n, kNowhere), std::vector<int>(n, -1),
              std::vector<double>(n, 0)};
  out.hops[from] = 0;
  out.width[from] = kOnDie;
  std::vector<std::uint32_t> level{from};
  for (int hops = 1; !level.empty(); ++hops) {
    std::vector<std::uint32_t> next;
    for (std::uint32_t v : level) {
      const bool end = kind(v) == DeviceKind::gpu || kind(v) == DeviceKind::nic;
      if (v != from && end) continue;
      for (std::uint32_t link : out_[v]) {
        const std::uint32_t to = view_.links[link].to;
        const double width = std::min(out.width[v], view_.links[link].bandwidth);
        if (out.hops[to] >= 0 && (out.hops[to] < hops || out.width[to] >= width)) continue;
        if (out.hops[to] < 0) next.push_back(to);
        out.hops[to] = hops;
        out.width[to] = width;
        out.by[to] = link;
      }
    }
    level = std::move(next);
  }
  return out;
}

std::vector<std::uint32_t> Builder::trace(const Reached& reached, std::uint32_t from,
                                          std::uint32_t to) const {
  std::vector<std::uint32_t> links;
  for (std::uint32_t v = to; v != from; v = view_.links[links.back()].from)
    links.push_back(reached.by[v]);
  std::reverse(links.begin(), links.end());
  return links;
}

ViewPath Builder::make_path(std::vector<std::uint32_t> links) const {
  ViewPath path;
  path.bandwidth = kOnDie;
  int cpus = 0, bridges = 0, switches = 0;
  for (std::size_t i = 0; i < links.size(); ++i) {
    const ViewLink& link = view_.links[links[i]];
    path.bandwidth = std::min(path.bandwidth, link.bandwidth);
    if (i + 1 == links.size()) break;
    const DeviceKind passed = kind(link.to);
    cpus += passed == DeviceKind::cpu;
    bridges += passed == DeviceKind::host_bridge;
    switches += passed == DeviceKind::pcie_switch;
  }
  if (cpus > 1)
    path.reach = Reach::sys;
  else if (cpus + bridges > 0)
    path.reach = Reach::phb;
  else
    path.reach = switches > 1 ? Reach::pxb : Reach::pix;
  path.intel_bridge = path.reach == Reach::phb && view_.cpu_vendor == fabric::Vendor::intel;
  path.links = std::move(links);
  return path;
}

ViewPath Builder::nvlink_path(std::uint32_t from, std::uint32_t to) const {
  ViewPath path;
  const auto straight = nvlinks_.find({from, to});
  if (straight != nvlinks_.end()) {
    path.links = {straight->second};
  } else if (switches_) {
    const auto up = nvlinks_.find({from, *switches_});
    const auto down = nvlinks_.find({*switches_, to});
    if (up != nvlinks_.end() && down != nvlinks_.end()) path.links = {up->second, down->second};
  }
  if (path.links.empty()) return path;
  path.reach = Reach::nvl;
  path.bandwidth = view_.links[path.links.front()].bandwidth;
  for (std::uint32_t link : path.links)
    path.bandwidth = std::min(path.bandwidth, view_.links[link].bandwidth);
  return path;
}

// A switch with ACS redirect sends peer traffic up to the host bridge: a path that goes through it
// without reaching the host is not what the hardware does.
bool Builder::turns_at_acs(const ViewPath& path) const {
  if (path.reach != Reach::pix && path.reach != Reach::pxb) return false;
  return std::any_of(path.links.begin(), path.links.end(), [&](std::uint32_t link) {
    return fabric_.info(view_.devices[view_.links[link].from]).acs_redirect;
  });
}

std::optional<std::uint32_t> Builder::cpu_of(const Reached& reached) const {
  std::optional<std::uint32_t> best;
  for (std::uint32_t v = 0; v < view_.devices.size(); ++v)
    if (kind(v) == DeviceKind::cpu && reached.hops[v] >= 0 &&
        (!best || reached.hops[v] < reached.hops[*best]))
      best = v;
  return best;
}

ViewPath Builder::pcie_path(std::uint32_t from, std::uint32_t to, bool peer_allowed) const {
  const Reached& reached = reached_[from];
  if (reached.hops[to] < 0) return {};
  ViewPath path = make_path(trace(reached, from, to));
  if (peer_allowed && !turns_at_acs(path)) return path;
  // By host memory: up to the nearest CPU and down from it.
  const auto cpu = cpu_of(reached);
  if (!cpu || reached_[*cpu].hops[to] < 0) return path;
  std::vector<std::uint32_t> links = trace(reached, from, *cpu);
  const std::vector<std::uint32_t> down = trace(reached_[*cpu], *cpu, to);
  links.insert(links.end(), down.begin(), down.end());
  ViewPath staged = make_path(std::move(links));
  staged.intel_bridge = false;  // no peer traffic crosses the root complex
  return staged;
}

void Builder::find_paths() {
  reached_.resize(view_.devices.size());
  for (std::uint32_t v = 0; v < view_.devices.size(); ++v)
    if (kind(v) == DeviceKind::cpu || kind(v) == DeviceKind::nic) reached_[v] = spread(v);
  for (std::uint32_t gpu : view_.gpus) reached_[gpu] = spread(gpu);

  const std::size_t n = view_.gpus.size(), nics = view_.nics.size();
  view_.gpu_gpu.assign(n, std::vector<ViewPath>(n));
  view_.gpu_nic.assign(n, std::vector<ViewPath>(nics));
  view_.nic_gpu.assign(nics, std::vector<ViewPath>(n));
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t a = view_.gpus[i];
    for (std::size_t j = 0; j < n; ++j) {
      const std::uint32_t b = view_.gpus[j];
      if (i == j) continue;
      ViewPath path = nvlink_path(a, b);
      if (!path.exists())
        path = pcie_path(a, b, device_class(a).peer_to_peer && device_class(b).peer_to_peer);
      view_.gpu_gpu[i][j] = std::move(path);
    }
    for (std::size_t k = 0; k < nics; ++k) {
      const std::uint32_t nic = view_.nics[k];
      const bool direct = device_class(a).gpu_direct_rdma && device_class(nic).gpu_direct_rdma &&
                          reached_[a].hops[nic] >= 0 &&
                          make_path(trace(reached_[a], a, nic)).reach <= Reach::pxb;
      view_.gpu_nic[i][k] = pcie_path(a, nic, direct);
      view_.nic_gpu[k][i] = pcie_path(nic, a, direct);
      view_.gpu_nic[i][k].intel_bridge = view_.nic_gpu[k][i].intel_bridge = false;
    }
  }
}

}  // namespace

double nccl_link_gb_per_s(const fabric::LinkClass& link, int compute_capability) {
  switch (link.kind) {
    case LinkKind::nvlink: {
      constexpr std::array<double, 7> kByGeneration{20, 18, 20, 20, 20.6, 40.1, 80.2};
      double one = kByGeneration[static_cast<std::size_t>(std::clamp(link.generation, 0, 6))];
      // NVLink of PCIe cards (compute capability 8.6) runs below its generation's figure.
      if (compute_capability == 86 || compute_capability == 89) one = 12;
      return one * link.width;
    }
    case LinkKind::xgmi: {
      // RCCL's figure of one xGMI link: MI300 48, MI200 36, before 24.
      const double one = compute_capability >= 940 ? 48 : compute_capability >= 910 ? 36 : 24;
      return one * link.width;
    }
    case LinkKind::pcie: {
      constexpr std::array<double, 7> kMegabytesPerLane{0, 15, 30, 60, 120, 240, 480};
      const auto generation = static_cast<std::size_t>(std::clamp(link.generation, 0, 6));
      return kMegabytesPerLane[generation] * link.width / 80;
    }
    default:
      return 0;
  }
}

NodeView view_node(const fabric::Fabric& fabric, std::vector<DeviceId> devices,
                   const std::vector<DeviceId>& gpus) {
  NodeView view;
  view.devices = std::move(devices);
  Builder(fabric, view).run(gpus);
  return view;
}

}  // namespace weft::collective
