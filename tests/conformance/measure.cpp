#include "conformance/measure.h"

#include <algorithm>
#include <limits>
#include <queue>

#include "base/check.h"

namespace weft::test {

using fabric::DeviceId;
using fabric::DeviceKind;
using fabric::Fabric;
using fabric::LinkId;
using fabric::LinkKind;

namespace {

bool has_cabled_nic(const Fabric& fabric) {
  for (const DeviceId nic : fabric.of_kind(DeviceKind::nic)) {
    for (const LinkId link : fabric.out_links(nic)) {
      if (fabric.kind(fabric.to(link)) == DeviceKind::network_switch) return true;
    }
  }
  return false;
}

// Gateways forward like switches.
bool is_switch(const Fabric& fabric, DeviceId d, DeviceKind switch_kind) {
  const DeviceKind kind = fabric.kind(d);
  return kind == switch_kind ||
         (switch_kind == DeviceKind::network_switch && kind == DeviceKind::gateway);
}

std::vector<Endpoint> find_endpoints(const Fabric& fabric, DeviceKind kind, DeviceKind far,
                                     bool port_by_port) {
  std::vector<Endpoint> found;
  for (const DeviceId d : fabric.of_kind(kind)) {
    Endpoint whole{d, {}};
    for (const LinkId link : fabric.out_links(d)) {
      if (fabric.kind(fabric.to(link)) != far) continue;
      if (port_by_port) {
        found.push_back({d, {link}});
      } else {
        whole.links.push_back(link);
      }
    }
    if (!whole.links.empty()) found.push_back(whole);
  }
  return found;
}

// Distance in switches from `start` (counts 1), and number of shortest ways, every cable apart.
struct Reach {
  std::vector<int> switches;
  std::vector<std::int64_t> ways;
};

Reach search(const Fabric& fabric, DeviceKind switch_kind, DeviceId start) {
  Reach reach{std::vector<int>(fabric.device_count(), 0),
              std::vector<std::int64_t>(fabric.device_count(), 0)};
  std::queue<DeviceId> todo;
  todo.push(start);
  reach.switches[start.index()] = 1;
  reach.ways[start.index()] = 1;
  while (!todo.empty()) {
    const DeviceId at = todo.front();
    todo.pop();
    for (const LinkId link : fabric.out_links(at)) {
      const DeviceId next = fabric.to(link);
      if (!is_switch(fabric, next, switch_kind)) continue;
      if (reach.switches[next.index()] == 0) {
        reach.switches[next.index()] = reach.switches[at.index()] + 1;
        todo.push(next);
      }
      if (reach.switches[next.index()] == reach.switches[at.index()] + 1) {
        reach.ways[next.index()] += reach.ways[at.index()];
      }
    }
  }
  return reach;
}

std::vector<DeviceId> edge_switches(const Fabric& fabric, const std::vector<Endpoint>& endpoints) {
  std::vector<DeviceId> edges;
  for (const Endpoint& endpoint : endpoints) {
    for (const LinkId link : endpoint.links) edges.push_back(fabric.to(link));
  }
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  return edges;
}

void measure_distances(const Fabric& fabric, DeviceKind switch_kind, Measured& out) {
  const std::vector<DeviceId> edges = edge_switches(fabric, out.endpoints);
  const bool by_port = switch_kind == DeviceKind::network_switch;
  for (const DeviceId from : edges) {
    const Reach reach = search(fabric, switch_kind, from);
    for (const DeviceId to : edges) {
      const int switches = reach.switches[to.index()];
      out.diameter_switches = std::max(out.diameter_switches, switches);
      if (by_port && from == edges.front() && switches > 0) {
        out.shortest_paths = reach.ways[to.index()];
      }
    }
  }
}

// Part of every device that is a switch, parts numbered by their first switch; -1 for the rest.
std::vector<int> parts_of(const Fabric& fabric, const std::vector<DeviceId>& switches,
                          DeviceKind switch_kind, int& parts) {
  std::vector<int> part(fabric.device_count(), -1);
  parts = 0;
  for (const DeviceId s : switches) {
    if (part[s.index()] >= 0) continue;
    const Reach reach = search(fabric, switch_kind, s);
    for (const DeviceId other : switches) {
      if (reach.switches[other.index()] > 0) part[other.index()] = parts;
    }
    ++parts;
  }
  return part;
}

// Bandwidth down over up, the most of any switch of a tier that has links up.
void measure_oversubscription(const Fabric& fabric, Measured& out) {
  for (const DeviceId s : out.switches) {
    double down = 0, up = 0;
    const int tier = fabric.info(s).tier;
    for (const LinkId link : fabric.out_links(s)) {
      const double rate = static_cast<double>(fabric.link_class(link).raw_rate.bps());
      (fabric.info(fabric.to(link)).tier > tier ? up : down) += rate;
    }
    if (up == 0) continue;
    if (out.oversubscription.size() < static_cast<std::size_t>(tier)) {
      out.oversubscription.resize(static_cast<std::size_t>(tier), 0.0);
    }
    double& most = out.oversubscription[static_cast<std::size_t>(tier - 1)];
    most = std::max(most, down / up);
  }
}

// Maximum flow. E. Dinic, Soviet Math. Doklady 11, 1970.
class MaxFlow {
 public:
  explicit MaxFlow(std::size_t vertices) : edges_of_(vertices) {}

  void add(std::size_t from, std::size_t to, std::int64_t capacity) {
    edges_of_[from].push_back(edges_.size());
    edges_.push_back({to, capacity});
    edges_of_[to].push_back(edges_.size());
    edges_.push_back({from, 0});
  }

  std::int64_t run(std::size_t source, std::size_t sink) {
    std::int64_t flow = 0;
    while (levels(source, sink)) {
      next_.assign(edges_of_.size(), 0);
      while (const std::int64_t more =
                 push(source, sink, std::numeric_limits<std::int64_t>::max())) {
        flow += more;
      }
    }
    return flow;
  }

 private:
  struct Edge {
    std::size_t to;
    std::int64_t left;
  };

  bool levels(std::size_t source, std::size_t sink) {
    level_.assign(edges_of_.size(), -1);
    level_[source] = 0;
    std::queue<std::size_t> todo;
    todo.push(source);
    while (!todo.empty()) {
      const std::size_t at = todo.front();
      todo.pop();
      for (const std::size_t e : edges_of_[at]) {
        if (edges_[e].left == 0 || level_[edges_[e].to] >= 0) continue;
        level_[edges_[e].to] = level_[at] + 1;
        todo.push(edges_[e].to);
      }
    }
    return level_[sink] >= 0;
  }

  std::int64_t push(std::size_t at, std::size_t sink, std::int64_t most) {
    if (at == sink) return most;
    for (std::size_t& i = next_[at]; i < edges_of_[at].size(); ++i) {
      const std::size_t e = edges_of_[at][i];
      if (edges_[e].left == 0 || level_[edges_[e].to] != level_[at] + 1) continue;
      const std::int64_t sent = push(edges_[e].to, sink, std::min(most, edges_[e].left));
      if (sent == 0) continue;
      edges_[e].left -= sent;
      edges_[e ^ 1].left += sent;
      return sent;
    }
    return 0;
  }

  std::vector<std::vector<std::size_t>> edges_of_;
  std::vector<Edge> edges_;
  std::vector<int> level_;
  std::vector<std::size_t> next_;
};

}  // namespace

Measured measure(const Fabric& fabric) {
  Measured out;
  const bool scale_out = has_cabled_nic(fabric);
  const DeviceKind switch_kind = scale_out ? DeviceKind::network_switch : DeviceKind::nvswitch;
  out.endpoints = scale_out
                      ? find_endpoints(fabric, DeviceKind::nic, DeviceKind::network_switch, true)
                      : find_endpoints(fabric, DeviceKind::gpu, DeviceKind::nvswitch, false);
  for (std::size_t d = 0; d < fabric.device_count(); ++d) {
    if (is_switch(fabric, DeviceId(d), switch_kind)) out.switches.emplace_back(d);
  }
  for (std::size_t l = 0; l < fabric.link_count(); l += 2) {
    const LinkId link(l);
    out.switch_links += is_switch(fabric, fabric.from(link), switch_kind) &&
                        is_switch(fabric, fabric.to(link), switch_kind);
  }
  measure_distances(fabric, switch_kind, out);
  int parts = 0;
  parts_of(fabric, out.switches, switch_kind, parts);
  out.parts = parts;
  if (!scale_out) {  // GPU to GPU: every chip that both are cabled to is a way
    for (const LinkId a : out.endpoints.front().links) {
      for (const LinkId b : out.endpoints.back().links) {
        out.shortest_paths += fabric.to(a) == fabric.to(b);
      }
    }
    out.parts = out.shortest_paths > 0 ? 1 : 2;  // chips meet in the GPUs only
  }
  measure_oversubscription(fabric, out);
  return out;
}

std::int64_t measure_bisection(const Fabric& fabric, const Measured& measured,
                               std::int64_t bisection_leaves) {
  int parts = 0;
  const DeviceKind switch_kind =
      has_cabled_nic(fabric) ? DeviceKind::network_switch : DeviceKind::nvswitch;
  const std::vector<int> part = parts_of(fabric, measured.switches, switch_kind, parts);
  std::vector<DeviceId> first_leaves;
  std::vector<std::int64_t> leaves(static_cast<std::size_t>(parts), 0);
  for (const DeviceId s : measured.switches) {
    const auto of = static_cast<std::size_t>(part[s.index()]);
    if (fabric.info(s).tier == 1 && leaves[of]++ < bisection_leaves) first_leaves.push_back(s);
  }
  const auto in_first_half = [&](std::size_t i) {
    if (bisection_leaves == 0) return i < measured.endpoints.size() / 2;
    const DeviceId leaf = fabric.to(measured.endpoints[i].links.front());
    return std::find(first_leaves.begin(), first_leaves.end(), leaf) != first_leaves.end();
  };
  const std::size_t source = fabric.device_count(), sink = source + 1;
  MaxFlow flow(source + 2 + measured.endpoints.size());
  for (const DeviceId s : measured.switches) {
    for (const LinkId link : fabric.out_links(s)) {
      if (!is_switch(fabric, fabric.to(link), switch_kind)) continue;
      flow.add(s.index(), fabric.to(link).index(), fabric.link_class(link).raw_rate.bps());
    }
  }
  for (std::size_t i = 0; i < measured.endpoints.size(); ++i) {
    for (const LinkId link : measured.endpoints[i].links) {
      const std::int64_t rate = fabric.link_class(link).raw_rate.bps();
      if (in_first_half(i)) {
        flow.add(source, fabric.to(link).index(), rate);
      } else {
        flow.add(fabric.to(link).index(), sink, rate);
      }
    }
  }
  return flow.run(source, sink);
}

namespace {

fabric::DeviceClass make_class(DeviceKind kind, const char* model) {
  fabric::DeviceClass made;
  made.kind = kind;
  made.model = model;
  return made;
}

fabric::LinkClass make_link(LinkKind kind, const std::string& name, std::int64_t gbps) {
  fabric::LinkClass made;
  made.kind = kind;
  made.name = name;
  made.raw_rate = BitRate::gigabits_per_second(gbps);
  return made;
}

}  // namespace

Fabric make_server(ServerSketch sketch) {
  fabric::FabricBuilder builder;
  const auto cpu = builder.device_class(make_class(DeviceKind::cpu, "cpu"));
  const auto gpu = builder.device_class(make_class(DeviceKind::gpu, "gpu"));
  fabric::DeviceClass nic_class = make_class(DeviceKind::nic, "nic");
  nic_class.ports = sketch.ports;
  const auto nic = builder.device_class(nic_class);
  const auto pcie = builder.link_class(make_link(LinkKind::pcie, "pcie5 x16", 504));
  builder.begin_server();
  const DeviceId root = builder.add_device(cpu, {.name = "cpu0"});
  for (int i = 0; i < sketch.gpus; ++i) {
    builder.add_link({builder.add_device(gpu, {.name = "gpu" + std::to_string(i)}), root}, pcie);
  }
  for (int i = 0; i < sketch.nics; ++i) {
    builder.add_link({builder.add_device(nic, {.name = "nic" + std::to_string(i)}), root}, pcie);
  }
  builder.end_server();
  return std::move(builder).build();
}

fabric::DeviceClass make_switch(int radix) {
  fabric::DeviceClass made = make_class(DeviceKind::network_switch, "switch");
  made.radix = radix;
  return made;
}

fabric::DeviceClass make_chip(int radix) {
  fabric::DeviceClass made = make_class(DeviceKind::nvswitch, "nvswitch");
  made.radix = radix;
  return made;
}

fabric::LinkClass make_ethernet(std::int64_t gbps) {
  return make_link(LinkKind::ethernet, std::to_string(gbps) + "GbE", gbps);
}

fabric::LinkClass make_nvlink() {
  return make_link(LinkKind::nvlink, "nvlink5", 400);
}

}  // namespace weft::test
