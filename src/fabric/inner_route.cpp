// Routes inside one server. Breadth first by links, so that the shortest chain wins; only devices
// that forward are passed through. ACS redirect is not a property of the shortest chain (the packet
// visits its switch twice), so it is spliced in afterwards at the switch where the chain turns.
#include <algorithm>

#include "fabric/data_path.h"

namespace weft::fabric {

namespace {

bool is_scale_up(LinkKind kind) {
  return kind == LinkKind::nvlink || kind == LinkKind::xgmi;
}

bool forwards(DeviceKind kind) {
  return kind == DeviceKind::cpu || kind == DeviceKind::host_bridge ||
         kind == DeviceKind::pcie_switch || kind == DeviceKind::nvswitch;
}

// Breadth-first search from one device over the links of its server.
class Search {
 public:
  Search(const Fabric& fabric, DeviceId from, bool use_nvlink)
      : fabric_(fabric),
        from_(from),
        range_(fabric.devices_of(fabric.info(from).server)),
        nodes_(range_.last - range_.first),
        use_nvlink_(use_nvlink) {}

  // The best chain to `to`, or to the first host bridge when `to` is invalid; empty when none.
  std::vector<LinkId> run(DeviceId to) {
    at(from_).reached = true;
    std::vector<DeviceId> level = {from_};
    while (!level.empty()) {
      std::vector<DeviceId> next;
      for (const DeviceId device : level) expand(device, to, next);
      std::sort(next.begin(), next.end());
      for (const DeviceId device : next) {
        if (is_goal(device, to)) return chain(device);
        at(device).reached = true;
      }
      level = std::move(next);
    }
    return {};
  }

 private:
  struct Node {
    bool reached = false;
    LinkId by;  // invalid: not seen
    BitRate narrowest = BitRate::bits_per_second(INT64_MAX);
  };
  Node& at(DeviceId device) { return nodes_[device.index() - range_.first]; }
  bool inside(DeviceId device) const {
    return device.value >= range_.first && device.value < range_.last;
  }
  bool is_goal(DeviceId device, DeviceId to) const {
    return to.valid() ? device == to : fabric_.kind(device) == DeviceKind::host_bridge;
  }

  void expand(DeviceId device, DeviceId to, std::vector<DeviceId>& next) {
    if (device != from_ && !forwards(fabric_.kind(device))) return;
    for (const LinkId link : fabric_.out_links(device)) {
      const LinkClass& c = fabric_.link_class(link);
      const DeviceId head = fabric_.to(link);
      if (is_network(c.kind) || !inside(head)) continue;
      if (!use_nvlink_ && is_scale_up(c.kind)) continue;
      if (!is_goal(head, to) && !forwards(fabric_.kind(head))) continue;
      offer(link, head, std::min(at(device).narrowest, c.raw_rate), next);
    }
  }

  // Among chains of equal length the widest wins, then the one met first (lower ids).
  void offer(LinkId link, DeviceId head, BitRate narrowest, std::vector<DeviceId>& next) {
    Node& node = at(head);
    if (node.reached || (node.by.valid() && narrowest <= node.narrowest)) return;
    if (!node.by.valid()) next.push_back(head);
    node.by = link;
    node.narrowest = narrowest;
  }

  std::vector<LinkId> chain(DeviceId end) {
    std::vector<LinkId> links;
    for (DeviceId device = end; device != from_; device = fabric_.from(links.back())) {
      links.push_back(at(device).by);
    }
    std::reverse(links.begin(), links.end());
    return links;
  }

  const Fabric& fabric_;
  DeviceId from_;
  Fabric::DeviceRange range_;
  std::vector<Node> nodes_;
  bool use_nvlink_;
};

// Device visited by the chain that is nearest to the host: the switch a PCIe chain turns at when it
// passes no host bridge, CPU or NVSwitch.
std::optional<std::size_t> turning_switch(const Fabric& fabric, const std::vector<LinkId>& chain) {
  std::vector<std::size_t> switches;
  for (std::size_t i = 0; i + 1 < chain.size(); ++i) {
    const DeviceId device = fabric.to(chain[i]);
    if (fabric.kind(device) != DeviceKind::pcie_switch) return std::nullopt;
    switches.push_back(i);
  }
  std::optional<std::size_t> top;
  std::size_t shortest = SIZE_MAX;
  for (const std::size_t i : switches) {
    const auto up = Search(fabric, fabric.to(chain[i]), false).run(DeviceId());
    if (!up.empty() && up.size() < shortest) {
      shortest = up.size();
      top = i;
    }
  }
  return top;
}

void redirect_through_host(const Fabric& fabric, std::vector<LinkId>& chain) {
  const std::optional<std::size_t> turn = turning_switch(fabric, chain);
  if (!turn) return;
  const DeviceId device = fabric.to(chain[*turn]);
  if (!fabric.info(device).acs_redirect) return;
  const std::vector<LinkId> up = Search(fabric, device, false).run(DeviceId());
  std::vector<LinkId> detour = up;
  for (auto link = up.rbegin(); link != up.rend(); ++link) detour.push_back(reverse(*link));
  chain.insert(chain.begin() + static_cast<std::ptrdiff_t>(*turn) + 1, detour.begin(),
               detour.end());
}

}  // namespace

std::vector<LinkId> inner_route(const Fabric& fabric, DeviceId from, DeviceId to,
                                InnerRouteOptions options) {
  const ServerId server = fabric.info(from).server;
  if (from == to || !server.valid() || fabric.info(to).server != server) return {};
  std::vector<LinkId> chain = Search(fabric, from, options.use_nvlink).run(to);
  const bool peers = !forwards(fabric.kind(from)) && !forwards(fabric.kind(to));
  if (options.acs && peers) redirect_through_host(fabric, chain);
  return chain;
}

}  // namespace weft::fabric
