#include "routing/routes.h"

#include <algorithm>

#include "base/check.h"
#include "base/random.h"
#include "routing/switch_graph.h"
#include "routing/table_builder.h"

namespace weft::routing {

using fabric::DeviceId;
using fabric::DeviceKind;
using fabric::LinkId;

namespace {

constexpr std::uint64_t kNicSalt = 0x6e6963;  // NICs hash by another function than switches

// Ways out of a device towards a NIC: links, and the links' count to the NIC.
struct Ways {
  std::vector<LinkId> links;
  int distance = -1;
};

}  // namespace

struct Routes::Table {
  Table(const fabric::Fabric& f, RouteOptions o)
      : fabric(f), options(o), graph(f), table(build_table(f, graph)) {}

  // Leaf group of a NIC, kNoIndex when it is cabled to no switch.
  [[nodiscard]] std::uint32_t group_of(DeviceId nic) const {
    CHECK(fabric.kind(nic) == DeviceKind::nic);
    return graph.index_of_device[nic.index()];
  }

  [[nodiscard]] std::uint64_t hash(DeviceId device, std::uint64_t entropy, bool is_nic) const {
    if (is_nic) return hash_combine(hash_combine(options.seed ^ kNicSalt, device.index()), entropy);
    const std::uint64_t seed =
        options.same_seed_everywhere ? options.seed : hash_combine(options.seed, device.index());
    return hash_combine(seed, entropy);
  }

  // Fills `ways` for the first hop of a NIC: its ports nearest to `to`.
  void ways_of_nic(DeviceId from, DeviceId to, Ways& ways) const;
  // The links of switch `at` to `to`, in port order of the NIC.
  void links_to_nic(DeviceId at, DeviceId to, std::vector<LinkId>& out) const;

  const fabric::Fabric& fabric;
  RouteOptions options;
  SwitchGraph graph;
  RouteTable table;
};

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

Routes::Routes(const fabric::Fabric& fabric, RouteOptions options)
    : table_(std::make_unique<Table>(fabric, options)) {}
Routes::~Routes() = default;
Routes::Routes(Routes&&) noexcept = default;

bool Routes::path(DeviceId from_nic, DeviceId to_nic, std::uint64_t entropy,
                  std::vector<LinkId>& out) const {
  if (from_nic == to_nic) return true;
  const Table& t = *table_;
  Ways ways;
  t.ways_of_nic(from_nic, to_nic, ways);
  if (ways.links.empty()) return false;
  LinkId link = ways.links[t.hash(from_nic, entropy, true) % ways.links.size()];
  out.push_back(link);
  const std::uint32_t group = t.group_of(to_nic);
  while (t.fabric.to(link) != to_nic) {
    const DeviceId at = t.fabric.to(link);
    const Entry& e = t.table.entry(t.graph.index_of_device[at.index()], group);
    const std::uint64_t hash = t.hash(at, entropy, false);
    if (e.distance == 1) {
      ways.links.clear();
      t.links_to_nic(at, to_nic, ways.links);
      link = ways.links[hash % ways.links.size()];
    } else {
      link = t.table.hops(e)[hash % e.hop_count];
    }
    out.push_back(link);
  }
  return true;
}

std::vector<LinkId> Routes::next_hops(DeviceId device, DeviceId to_nic) const {
  const Table& t = *table_;
  Ways ways;
  const std::uint32_t group = t.group_of(to_nic);
  if (device == to_nic) return {};
  if (t.fabric.kind(device) == DeviceKind::nic) {
    t.ways_of_nic(device, to_nic, ways);
  } else if (forwards(t.fabric.kind(device)) && group != kNoIndex) {
    const Entry& e = t.table.entry(t.graph.index_of_device[device.index()], group);
    if (e.distance == 1) t.links_to_nic(device, to_nic, ways.links);
    const auto hops = t.table.hops(e);
    ways.links.insert(ways.links.end(), hops.begin(), hops.end());
  }
  return ways.links;
}

int Routes::distance(DeviceId from, DeviceId to_nic) const {
  const Table& t = *table_;
  const std::uint32_t group = t.group_of(to_nic);
  if (from == to_nic) return 0;
  if (t.fabric.kind(from) == DeviceKind::nic) {
    Ways ways;
    t.ways_of_nic(from, to_nic, ways);
    return ways.distance;
  }
  if (!forwards(t.fabric.kind(from)) || group == kNoIndex) return -1;
  const Entry& e = t.table.entry(t.graph.index_of_device[from.index()], group);
  return e.distance == 0 ? -1 : static_cast<int>(e.distance);
}

std::vector<DeviceId> Routes::group_representatives() const {
  return table_->graph.group_nic;
}

std::size_t Routes::memory_bytes() const {
  const SwitchGraph& g = table_->graph;
  const auto bytes = [](const auto& column) { return column.capacity() * sizeof(column[0]); };
  return sizeof(Table) + bytes(g.device) + bytes(g.neighbour_begin) + bytes(g.neighbour) +
         bytes(g.index_of_device) + bytes(g.group_begin) + bytes(g.group_switch) +
         bytes(g.group_nic) + table_->table.memory_bytes();
}

}  // namespace weft::routing
