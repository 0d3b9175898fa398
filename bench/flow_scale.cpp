// How the flow engine scales: transfers between random hosts of a 1024-host fat tree, 400 Gb/s
// everywhere. Prints CPU seconds, events, solves and memory per flow for 10^3 flows up to a limit.
//   arrivals  transfers arrive at random at half the load the hosts can take
//   storm     all start at once, sizes differ: every completion is an event of its own
// usage: weft_bench_flow_scale [LIMIT] [arrivals|storm]     (default 100000, both)
#include <fmt/format.h>

#include <cstdlib>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "engine/flow/flow_engine.h"
#include "fabric/test_servers.h"
#include "process_usage.h"
#include "topology/topology.h"

namespace {

using namespace weft;
using bench::cpu_seconds;
using bench::peak_mb;

constexpr std::size_t kHosts = 1024;

fabric::Fabric fat_tree() {
  const fabric::Fabric server = fabric::testing::small_server();
  topology::Inputs inputs;
  inputs.servers.assign(kHosts, &server);
  inputs.switch_class.kind = fabric::DeviceKind::network_switch;
  inputs.switch_class.model = "switch";
  inputs.switch_class.radix = 16;
  inputs.host_link = fabric::testing::cable(fabric::LinkKind::infiniband, 5);
  inputs.fabric_link = fabric::testing::cable(fabric::LinkKind::infiniband, 30);
  return topology::find_topology("fat_tree")->build(inputs);
}

// Mean 1 MiB; at half load a host sends one every 2 x 1 MiB / 50 GB/s.
work::Work random_transfers(std::size_t count, bool storm) {
  work::Work work;
  for (std::size_t i = 0; i < kHosts; ++i) {
    work.rank_gpu.push_back(static_cast<std::uint32_t>(i));
  }
  RandomStream random(1, count);
  const double mean_bytes = 1 << 20;
  const double between = 2 * mean_bytes / 50e9 / kHosts;
  double now = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t from = random.below(kHosts);
    const std::size_t to = (from + 1 + random.below(kHosts - 1)) % kHosts;
    const Bytes size(1 + static_cast<std::int64_t>(random.exponential(mean_bytes)));
    if (!storm) now += random.exponential(between);
    work.ops.push_back({work::Transfer{work::RankId(from), work::RankId(to), size},
                        Instant::at(Duration::from_seconds(now)),
                        {},
                        {}});
  }
  return work;
}

void measure(engine::Setup& setup, std::size_t flows, bool storm) {
  setup.work = random_transfers(flows, storm);
  const double before = peak_mb(), start = cpu_seconds();
  const result::Result result = engine::flow_engine().run(setup, nullptr);
  const double cpu = cpu_seconds() - start;
  const double grown = std::max(0.0, peak_mb() - before);
  fmt::print("{:<9} {:>9} {:>10.3f} {:>10} {:>10} {:>12.0f} {:>12}\n", storm ? "storm" : "arrivals",
             flows, cpu, result.engine.events, result.engine.rate_solves,
             grown * 1048576 / static_cast<double>(flows), to_text(result.completion));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t limit = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 100'000;
  const std::string_view only = argc > 2 ? argv[2] : "";
  const fabric::Fabric fabric = fat_tree();
  const routing::Routes routes(fabric, {});
  engine::Setup setup;
  setup.fabric = &fabric;
  setup.routes = &routes;
  fmt::print("{} hosts, {} links\n", kHosts, fabric.link_count());
  fmt::print("{:<9} {:>9} {:>10} {:>10} {:>10} {:>12} {:>12}\n", "work", "flows", "CPU s", "events",
             "solves", "RSS B/flow", "simulated");
  for (const bool storm : {false, true}) {
    if (!only.empty() && only != (storm ? "storm" : "arrivals")) continue;
    for (std::size_t flows = 1000; flows <= limit; flows *= 10) measure(setup, flows, storm);
  }
  return 0;
}
