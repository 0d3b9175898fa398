// Random servers, every pair of memories, every way: whatever the wiring, an answer is either a
// path that adds up or a reason. rapidcheck prints the seed that repeats a failure.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "base/random.h"
#include "fabric/path_class.h"
#include "fabric/test_servers.h"

namespace weft::fabric {
namespace {

using testing::device;

// Grows a server from a seed: 1 to 3 CPUs, 1 to 3 host bridges each, PCIe trees of random shape
// with and without ACS, GPUs and NICs anywhere, NVLinks direct, switched or none.
class RandomServer {
 public:
  explicit RandomServer(std::uint64_t seed) : random_(seed, 0) {}

  Fabric build() {
    builder_.begin_server();
    add_hosts();
    add_endpoints();
    add_nvlinks();
    builder_.end_server();
    return std::move(builder_).build();
  }

 private:
  bool chance(int percent) { return random_.below(100) < static_cast<std::uint64_t>(percent); }
  int pick(int low, int high) {
    return low + static_cast<int>(random_.below(static_cast<std::uint64_t>(high - low + 1)));
  }
  template <class T>
  const T& any_of(const std::vector<T>& list) {
    return list[random_.below(list.size())];
  }
  DeviceId add(const DeviceClass& c, bool acs = false) {
    const std::string name = fmt::format("{}{}", to_text(c.kind), builder_.device_count());
    return builder_.add_device(builder_.device_class(c), {.name = name, .acs_redirect = acs});
  }
  LinkClassId pcie() {
    const std::vector<int> lanes = {4, 8, 16};
    return builder_.link_class(pcie_link_class(pick(3, 6), any_of(lanes)));
  }

  void add_hosts() {
    LinkClass socket = testing::on_die();
    socket.kind = LinkKind::inter_socket;
    socket.peer_rate = BitRate::from_gigabytes_per_second(pick(5, 400));
    std::vector<DeviceId> cpus;
    const int cpu_count = pick(1, 3);
    for (int i = 0; i < cpu_count; ++i) {
      const DeviceId cpu = add(device(DeviceKind::cpu, "cpu"));
      if (i > 0) builder_.add_link({any_of(cpus), cpu}, builder_.link_class(socket));
      cpus.push_back(cpu);
    }
    for (const DeviceId cpu : cpus) {
      const int bridges = pick(1, 3);
      for (int i = 0; i < bridges; ++i) {
        DeviceClass bridge = device(DeviceKind::host_bridge, "root");
        bridge.splits_p2p_tlps = chance(50);
        slots_.push_back(add(bridge));
        builder_.add_link({cpu, slots_.back()}, builder_.link_class(testing::on_die()));
      }
    }
    const int switches = pick(0, 4);
    for (int i = 0; i < switches; ++i) {
      const DeviceId above = any_of(slots_);
      slots_.push_back(add(device(DeviceKind::pcie_switch, "plx"), chance(40)));
      builder_.add_link({above, slots_.back()}, pcie());
    }
  }

  void add_endpoints() {
    const int gpus = pick(1, 6);
    for (int i = 0; i < gpus; ++i) {
      DeviceClass gpu = device(DeviceKind::gpu, "gpu");
      gpu.peer_to_peer = chance(80);
      gpu.gpu_direct_rdma = chance(80);
      gpu.ats = chance(20);
      gpus_.push_back(add(gpu));
      builder_.add_link({any_of(slots_), gpus_.back()}, pcie());
    }
    const int nics = pick(0, 4);
    for (int i = 0; i < nics; ++i) {
      DeviceClass nic = device(DeviceKind::nic, "nic");
      nic.gpu_direct_rdma = chance(90);
      const DeviceId n = add(nic);
      builder_.add_link({any_of(slots_), n}, pcie());
    }
  }

  void add_nvlinks() {
    const int generation = pick(2, 5);
    if (chance(30)) {
      for (std::size_t i = 0; i + 1 < gpus_.size(); ++i) {
        const auto links = builder_.link_class(nvlink_link_class(generation, pick(1, 4)));
        builder_.add_link({gpus_[i], gpus_[i + 1]}, links);
      }
    } else if (chance(50)) {
      const int planes = pick(1, 3);
      for (int p = 0; p < planes; ++p) {
        const DeviceId plane = add(device(DeviceKind::nvswitch, "nvswitch"));
        const auto links = builder_.link_class(nvlink_link_class(generation, pick(1, 6)));
        for (const DeviceId gpu : gpus_) builder_.add_link({gpu, plane}, links);
      }
    }
  }

  RandomStream random_;
  FabricBuilder builder_;
  std::vector<DeviceId> slots_, gpus_;  // slots: what a PCIe device can hang off
};

bool only_passes(DeviceKind kind) {
  return kind != DeviceKind::gpu && kind != DeviceKind::nic;
}

// Hops of one stripe follow one another, and nothing between them is an endpoint. An RDMA leg runs
// through its two NICs, and only through those.
void check_chain(const Fabric& f, const Leg& leg) {
  for (std::size_t i = 0; i + 1 < leg.hops.size(); ++i) {
    if (leg.hops[i].stripe != leg.hops[i + 1].stripe) continue;
    const DeviceId between = f.to(leg.hops[i].link);
    RC_ASSERT(between == f.from(leg.hops[i + 1].link));
    const bool own_nic = leg.mover == Mover::nic && f.kind(between) == DeviceKind::nic;
    RC_ASSERT(own_nic || only_passes(f.kind(between)));
  }
}

void check_rates(const DataPath& path) {
  const double bandwidth = path.bandwidth.gbps();
  for (const Leg& leg : path.legs) {
    RC_ASSERT(!leg.hops.empty() || leg.cap.has_value());
    if (leg.cap) RC_ASSERT(bandwidth <= leg.cap->gbps() + 1e-6);
    for (const Hop& hop : leg.hops) {
      RC_ASSERT(bandwidth <= hop.effective.gbps() + 1e-6);
      RC_ASSERT(hop.wire_per_byte >= 0);
      RC_ASSERT(std::abs(hop.raw.gbps() / hop.wire_per_byte - hop.effective.gbps()) < 1e-6);
    }
  }
  RC_ASSERT(bandwidth > 0);
  RC_ASSERT(!path.limit.empty());
}

void check_time(const DataPath& path) {
  Duration sum;
  for (const LatencyPart& part : path.parts) {
    RC_ASSERT(part.time.ps() > 0);
    sum += part.time;
  }
  RC_ASSERT(sum == path.latency);
  Duration before = path.time(Bytes(0));
  RC_ASSERT(before == path.latency);
  for (const std::int64_t n : {1, 4096, 64'000, 64'001, 1 << 20, (1 << 20) + 1, 100'000'000}) {
    const Duration now = path.time(Bytes(n));
    RC_ASSERT(now >= before);
    before = now;
  }
  // Never faster than the bandwidth, and close to it once the message is long.
  const double ideal = 1e11 / path.bandwidth.bytes_per_second();
  const double taken = path.time(Bytes(100'000'000'000)).to_seconds();
  RC_ASSERT(taken >= ideal * (1 - 1e-6));
  RC_ASSERT(taken <= ideal * 1.01 + path.latency.to_seconds());
}

void check_ends(const Fabric& f, const DataPath& path) {
  if (path.via == Via::staged || path.via == Via::tcp) return;
  const auto& hops = path.legs.front().hops;
  RC_ASSERT(f.from(hops.front().link) == path.source);
  RC_ASSERT(f.to(path.legs.back().hops.back().link) == path.destination);
}

void check_every_way(const Fabric& f, DeviceId source, DeviceId destination) {
  PathQuery query;
  query.source = source;
  query.destination = destination;
  const NetworkRoute route = testing::shortest_route(f);
  BitRate fastest;
  for (const auto& [via, answer] : find_all_data_paths(f, {}, route, query)) {
    RC_ASSERT(answer.path.has_value() == answer.refusal.empty());
    if (!answer.path) continue;
    RC_ASSERT(answer.path->via == via);
    for (const Leg& leg : answer.path->legs) check_chain(f, leg);
    check_ends(f, *answer.path);
    check_rates(*answer.path);
    check_time(*answer.path);
    fastest = std::max(fastest, answer.path->bandwidth);
  }
  const PathAnswer best = find_data_path(f, {}, route, query);
  RC_ASSERT(best.path.has_value() == best.refusal.empty());
  if (best.path) RC_ASSERT(best.path->bandwidth == fastest);
}

// Two servers whose NICs share one leaf.
Fabric two_servers(std::uint64_t seed, std::uint64_t other) {
  FabricBuilder b;
  std::vector<DeviceId> nics;
  for (const auto& [prefix, server] :
       {std::pair{"a", RandomServer(seed).build()}, std::pair{"c", RandomServer(other).build()}}) {
    const DeviceId first = b.append_server(server, prefix);
    for (const DeviceId nic : server.of_kind(DeviceKind::nic)) {
      nics.emplace_back(first.index() + nic.index());
    }
  }
  const DeviceId leaf = b.add_device(b.device_class(device(DeviceKind::network_switch, "leaf")),
                                     {.name = "leaf", .tier = 1});
  const auto cable = b.link_class(testing::cable(LinkKind::infiniband, 5));
  for (const DeviceId nic : nics) b.add_link({nic, leaf}, cable);
  return std::move(b).build();
}

TEST(DataPathProperty, EveryAnswerIsAPathThatAddsUpOrAReason) {
  EXPECT_TRUE(rc::check("random servers", [](std::uint64_t seed, std::uint64_t other) {
    const Fabric f = two_servers(seed, other);
    std::vector<DeviceId> memories(f.of_kind(DeviceKind::gpu).begin(),
                                   f.of_kind(DeviceKind::gpu).end());
    const auto cpus = f.of_kind(DeviceKind::cpu);
    memories.insert(memories.end(), cpus.begin(), cpus.end());
    // Each memory to three others spread over the list: all pairs would take minutes.
    for (std::size_t i = 0; i < memories.size(); ++i) {
      for (const std::size_t step : {std::size_t{1}, memories.size() / 2, memories.size() - 1}) {
        check_every_way(f, memories[i], memories[(i + step) % memories.size()]);
      }
    }
  }));
}

TEST(PathClassProperty, TheMatrixIsSymmetric) {
  EXPECT_TRUE(rc::check("random servers", [](std::uint64_t seed) {
    const Fabric f = RandomServer(seed).build();
    const TopologyMatrix m = topology_matrix(f, ServerId(0));
    for (std::size_t i = 0; i < m.devices.size(); ++i) {
      for (std::size_t j = 0; j < m.devices.size(); ++j) {
        RC_ASSERT(m.cells[i][j] == m.cells[j][i]);
        RC_ASSERT((m.cells[i][j].kind == PathKind::self) == (i == j));
        RC_ASSERT(m.cells[i][j].kind != PathKind::net);
      }
    }
  }));
}

TEST(PathClassProperty, NoNicIsNearerThanTheNearest) {
  EXPECT_TRUE(rc::check("random servers", [](std::uint64_t seed) {
    const Fabric f = two_servers(seed, seed + 1);
    for (const DeviceId gpu : f.of_kind(DeviceKind::gpu)) {
      const auto nics = f.of_kind(DeviceKind::nic, f.info(gpu).server);
      const auto nearest = nearest_nic(f, gpu);
      RC_ASSERT(nearest.has_value() == !nics.empty());
      for (const DeviceId nic : nics) {
        RC_ASSERT(path_class(f, gpu, *nearest).kind <= path_class(f, gpu, nic).kind);
      }
    }
  }));
}

}  // namespace
}  // namespace weft::fabric
