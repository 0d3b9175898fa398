#include "routing/routes.h"

#include <algorithm>

#include "base/check.h"
#include "base/random.h"
#include "routing/routes_table.h"

namespace weft::routing {

using fabric::DeviceId;
using fabric::DeviceKind;
using fabric::LinkId;

namespace {

constexpr std::uint64_t kNicSalt = 0x6e6963;     // NICs hash by another function than switches
constexpr std::uint64_t kDetourSalt = 0x766c62;  // and the choice of a detour by a third

}  // namespace

Routes::Table::Table(const fabric::Fabric& f, RouteOptions o)
    : fabric(f), options(o), graph(f, o.policy == Policy::up_down), table(build_table(f, graph)) {
  CHECK(refuse_policy(f, o.policy).empty());
}

std::uint32_t Routes::Table::group_of(DeviceId nic) const {
  CHECK(fabric.kind(nic) == DeviceKind::nic);
  return graph.index_of_device[nic.index()];
}

std::uint64_t Routes::Table::hash(DeviceId device, std::uint64_t entropy, bool is_nic) const {
  if (is_nic) return hash_combine(hash_combine(options.seed ^ kNicSalt, device.index()), entropy);
  const std::uint64_t seed =
      options.same_seed_everywhere ? options.seed : hash_combine(options.seed, device.index());
  return hash_combine(seed, entropy);
}

std::uint32_t Routes::Table::vertex_after(std::uint32_t vertex, LinkId link) const {
  const std::uint32_t next = graph.index_of_device[fabric.to(link).index()];
  return vertex == kNoIndex ? next : graph.next_vertex(vertex, next);
}

void Routes::Table::ways_of_nic(DeviceId from, DeviceId to, Ways& ways) const {
  ways.links.clear();
  ways.distance = -1;
  const std::uint32_t group = group_of(to);
  for (const LinkId link : fabric.out_links(from)) {
    if (!fabric::is_network(fabric.link_class(link).kind)) continue;
    const DeviceId far = fabric.to(link);
    int distance = -1;
    if (far == to) {
      distance = 1;
    } else if (forwards(fabric.kind(far)) && group != kNoIndex) {
      const Entry& e = table.entry(graph.index_of_device[far.index()], group);
      if (e.distance > 0) distance = static_cast<int>(e.distance) + 1;
    }
    if (distance < 0 || (ways.distance >= 0 && distance > ways.distance)) continue;
    if (distance != ways.distance) ways.links.clear();
    ways.distance = distance;
    ways.links.push_back(link);
  }
}

void Routes::Table::links_to_nic(DeviceId at, DeviceId to, std::vector<LinkId>& out) const {
  for (const LinkId link : fabric.out_links(to)) {
    if (fabric.to(link) == at) out.push_back(fabric::reverse(link));
  }
}

void Routes::Table::next_links(std::uint32_t vertex, std::uint32_t group, DeviceId to,
                               std::vector<LinkId>& out) const {
  const Entry& e = entry(vertex, group);
  out.clear();
  if (e.distance == 1) {
    links_to_nic(graph.device[vertex], to, out);
    return;
  }
  const auto hops = table.hops(e);
  out.assign(hops.begin(), hops.end());
  if (options.policy != Policy::dimension_order || out.empty()) return;
  const DeviceId next = dimension_order_next(*fabric.grid(), graph.device[vertex],
                                             graph.device[graph.edge_switches(group).front()]);
  std::erase_if(out, [&](LinkId link) { return fabric.to(link) != next; });
}

std::uint32_t Routes::Table::walk(std::uint32_t vertex, DeviceId to, bool to_switch,
                                  std::uint64_t entropy, std::vector<LinkId>& out) const {
  const std::uint32_t group = group_of(to);
  std::vector<LinkId> links;
  while (true) {
    if (to_switch && entry(vertex, group).distance == 1) return vertex;
    next_links(vertex, group, to, links);
    const LinkId link = links[hash(graph.device[vertex], entropy, false) % links.size()];
    out.push_back(link);
    if (fabric.to(link) == to) return vertex;
    vertex = vertex_after(vertex, link);
  }
}

std::optional<std::uint32_t> Routes::Table::detour(DeviceId from, DeviceId to,
                                                   std::uint64_t entropy) const {
  if (options.policy != Policy::valiant || group_of(from) == group_of(to)) return std::nullopt;
  const auto group = static_cast<std::uint32_t>(
      hash_combine(hash_combine(options.seed ^ kDetourSalt, from.index()), entropy) %
      graph.group_count());
  Ways there;
  ways_of_nic(from, graph.group_nic[group], there);
  if (there.links.empty() || group == group_of(from) || group == group_of(to)) return std::nullopt;
  return group;
}

Routes::Routes(const fabric::Fabric& fabric, RouteOptions options)
    : table_(std::make_unique<Table>(fabric, options)) {}
Routes::~Routes() = default;
Routes::Routes(Routes&&) noexcept = default;

Policy Routes::policy() const {
  return table_->options.policy;
}

bool Routes::spreads() const {
  return policy() == Policy::spray || policy() == Policy::adaptive || policy() == Policy::valiant;
}

bool Routes::path(DeviceId from_nic, DeviceId to_nic, std::uint64_t entropy,
                  std::vector<LinkId>& out) const {
  if (from_nic == to_nic) return true;
  const Table& t = *table_;
  Table::Ways ways;
  t.ways_of_nic(from_nic, to_nic, ways);
  if (ways.links.empty()) return false;
  const auto middle = t.detour(from_nic, to_nic, entropy);
  const DeviceId first_to = middle ? t.graph.group_nic[*middle] : to_nic;
  if (middle) t.ways_of_nic(from_nic, first_to, ways);
  const LinkId link = ways.links[t.hash(from_nic, entropy, true) % ways.links.size()];
  out.push_back(link);
  if (t.fabric.to(link) == to_nic) return true;
  std::uint32_t vertex = t.vertex_after(kNoIndex, link);
  if (middle) vertex = t.walk(vertex, first_to, true, entropy, out);
  t.walk(vertex, to_nic, false, entropy, out);
  return true;
}

std::vector<LinkId> Routes::next_hops(DeviceId device, DeviceId to_nic) const {
  const Table& t = *table_;
  Table::Ways ways;
  const std::uint32_t group = t.group_of(to_nic);
  if (device == to_nic) return {};
  if (t.fabric.kind(device) == DeviceKind::nic) {
    t.ways_of_nic(device, to_nic, ways);
  } else if (forwards(t.fabric.kind(device)) && group != kNoIndex) {
    t.next_links(t.graph.index_of_device[device.index()], group, to_nic, ways.links);
  }
  return ways.links;
}

std::vector<LinkId> Routes::next_hops_after(LinkId in, DeviceId to_nic) const {
  const Table& t = *table_;
  const DeviceId at = t.fabric.to(in), before = t.fabric.from(in);
  if (t.graph.layers == 1 || !forwards(t.fabric.kind(before)) || !forwards(t.fabric.kind(at))) {
    return next_hops(at, to_nic);
  }
  std::vector<LinkId> links;
  const std::uint32_t vertex = t.vertex_after(t.graph.index_of_device[before.index()], in);
  if (t.group_of(to_nic) != kNoIndex) t.next_links(vertex, t.group_of(to_nic), to_nic, links);
  return links;
}

int Routes::distance(DeviceId from, DeviceId to_nic) const {
  const Table& t = *table_;
  const std::uint32_t group = t.group_of(to_nic);
  if (from == to_nic) return 0;
  if (t.fabric.kind(from) == DeviceKind::nic) {
    Table::Ways ways;
    t.ways_of_nic(from, to_nic, ways);
    return ways.distance;
  }
  if (!forwards(t.fabric.kind(from)) || group == kNoIndex) return -1;
  const Entry& e = t.entry(t.graph.index_of_device[from.index()], group);
  return e.distance == 0 ? -1 : static_cast<int>(e.distance);
}

std::vector<DeviceId> Routes::group_representatives() const {
  return table_->graph.group_nic;
}

std::size_t Routes::memory_bytes() const {
  const SwitchGraph& g = table_->graph;
  const auto bytes = [](const auto& column) { return column.capacity() * sizeof(column[0]); };
  return sizeof(Table) + bytes(g.device) + bytes(g.neighbour_begin) + bytes(g.neighbour) +
         bytes(g.before_begin) + bytes(g.before_vertex) + bytes(g.level) +
         bytes(g.index_of_device) + bytes(g.group_begin) + bytes(g.group_switch) +
         bytes(g.group_nic) + table_->table.memory_bytes();
}

}  // namespace weft::routing
