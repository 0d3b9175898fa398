// How fast the packet engine is: permutations over 400 Gb/s leaf-spine and fat-tree networks, 1 us
// a link, no switch latency, packets of 4096 B payload and 54 B around it, window control, acks of
// 64 B every 4 packets and ECN. Prints packet-hops (data and acks) a second of CPU, events, flow
// completion times, memory.
// usage: weft_bench_packet_scale [SCENARIO] [ecmp|spray] [REPEAT]
//   SCENARIO: ls128, ls1024, ft1024, ls8192; default: all
#include <fmt/format.h>
#include <sys/resource.h>

#include <cstdlib>
#include <numeric>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "engine/packet/packet_engine.h"
#include "fabric/test_servers.h"
#include "process_usage.h"
#include "topology/topology.h"

namespace {

using namespace weft;
using bench::cpu_seconds;

struct Scenario {
  const char* name;
  std::size_t hosts;
  const char* topology;
  double leaves, spines, radix;
  std::int64_t bytes;
};

constexpr Scenario kScenarios[] = {
    {"ls128", 128, "leaf_spine", 8, 16, 64, 2'000'000},
    {"ls1024", 1024, "leaf_spine", 32, 32, 64, 2'000'000},
    {"ft1024", 1024, "fat_tree", 0, 0, 16, 2'000'000},
    {"ls8192", 8192, "leaf_spine", 128, 64, 128, 1'000'000},
};

fabric::Fabric host() {
  fabric::FabricBuilder b;
  b.begin_server();
  fabric::LinkClass inside = fabric::testing::on_die();
  inside.kind = fabric::LinkKind::pcie;
  inside.generation = 6;
  inside.width = 16;
  const auto pcie = b.link_class(inside);
  const auto cpu =
      b.add_device(b.device_class(fabric::testing::device(fabric::DeviceKind::cpu, "cpu")),
                   {.name = "cpu0", .numa = 0});
  auto bridge = fabric::testing::device(fabric::DeviceKind::host_bridge, "root");
  bridge.forwarding_latency = Duration::picoseconds(1);
  const auto root = b.add_device(b.device_class(bridge), {.name = "root0", .numa = 0});
  const auto gpu =
      b.add_device(b.device_class(fabric::testing::device(fabric::DeviceKind::gpu, "gpu")),
                   {.name = "gpu0", .numa = 0});
  const auto nic =
      b.add_device(b.device_class(fabric::testing::device(fabric::DeviceKind::nic, "nic")),
                   {.name = "nic0", .numa = 0});
  b.add_link({cpu, root}, pcie);
  b.add_link({root, gpu}, pcie);
  b.add_link({root, nic}, pcie);
  b.end_server();
  return std::move(b).build();
}

fabric::Fabric network(const Scenario& s, const fabric::Fabric& server) {
  topology::Inputs inputs;
  inputs.servers.assign(s.hosts, &server);
  inputs.switch_class.kind = fabric::DeviceKind::network_switch;
  inputs.switch_class.model = "switch";
  inputs.switch_class.radix = static_cast<int>(s.radix);
  inputs.switch_class.forwarding_latency = Duration::picoseconds(1);
  inputs.host_link = fabric::testing::cable(fabric::LinkKind::ethernet, 5);
  inputs.host_link.latency = Duration::microseconds(1);
  inputs.fabric_link = inputs.host_link;
  if (s.leaves > 0) inputs.parameters = {{"leaves", s.leaves}, {"spines", s.spines}};
  return topology::find_topology(s.topology)->build(inputs);
}

// A random permutation without fixed points (Sattolo).
work::Work permutation(const Scenario& s) {
  work::Work work;
  std::vector<std::uint32_t> to(s.hosts);
  std::iota(to.begin(), to.end(), 0u);
  work.rank_gpu = to;
  RandomStream random(1, s.hosts);
  for (std::size_t i = s.hosts - 1; i > 0; --i) std::swap(to[i], to[random.below(i)]);
  for (std::size_t i = 0; i < s.hosts; ++i) {
    work.ops.push_back(
        {work::Transfer{work::RankId(i), work::RankId(std::size_t{to[i]}), Bytes(s.bytes)},
         {},
         {},
         {}});
  }
  return work;
}

void measure(const Scenario& s, bool spray) {
  const fabric::Fabric server = host();
  const fabric::Fabric fabric = network(s, server);
  routing::RouteOptions options;
  if (spray) options.policy = routing::Policy::spray;
  const routing::Routes routes(fabric, options);
  engine::Setup setup;
  setup.fabric = &fabric;
  setup.routes = &routes;
  setup.work = permutation(s);
  setup.costs.network.name = "rocev2";
  setup.costs.network.overhead = Bytes(54);
  setup.packet.ack_size = Bytes(64);
  setup.packet.window = 1;
  setup.packet.mark_from = Bytes(87'150);
  setup.packet.mark_all = Bytes(336'150);
  setup.packet.mark_probability = 1;
  const double before = cpu_seconds();
  const result::Result result = engine::packet_engine().run(setup, nullptr);
  const double seconds = cpu_seconds() - before;
  const result::FlowTimes times = result::flow_times(result.flows);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  fmt::print("{:<8} {:<6} {:>11} {:>11} {:>8.3f} {:>8.2f} {:>9.1f} {:>8.1f} {:>8.1f} {:>6}\n",
             s.name, spray ? "spray" : "ecmp", result.engine.packet_hops, result.engine.events,
             seconds, static_cast<double>(result.engine.packet_hops) / seconds * 1e-6,
             times.mean.to_microseconds(), times.p99.to_microseconds(), times.max.to_microseconds(),
             usage.ru_maxrss / 1024);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view only = argc > 1 ? argv[1] : "";
  const bool spray = argc > 2 && std::string_view(argv[2]) == "spray";
  const int repeat = argc > 3 ? std::atoi(argv[3]) : 1;
  fmt::print("{:<8} {:<6} {:>11} {:>11} {:>8} {:>8} {:>9} {:>8} {:>8} {:>6}\n", "network", "path",
             "hops", "events", "cpu s", "M hops/s", "mean us", "p99", "max", "MB");
  for (const Scenario& s : kScenarios) {
    if (!only.empty() && only != "all" && only != s.name) continue;
    for (int i = 0; i < repeat; ++i) measure(s, spray);
  }
}
