// A ring all-reduce over every GPU of a rail-optimised cluster of HGX-shaped servers (8 GPUs, 8
// NICs): wall seconds of planning, expanding and running it, and peak memory, for more and more
// GPUs up to a limit.  usage: weft_bench_ring_scale [GPUS]     (default 131072)
#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdlib>

#include "engine/flow/flow_engine.h"
#include "engine/test_cluster.h"
#include "topology/topology.h"

namespace {

using namespace weft;

fabric::Fabric rails(std::size_t servers) {
  const fabric::Fabric server = fabric::testing::hgx();
  topology::Inputs inputs;
  inputs.servers.assign(servers, &server);
  inputs.switch_class.kind = fabric::DeviceKind::network_switch;
  inputs.switch_class.model = "switch";
  inputs.switch_class.radix = 128;
  inputs.host_link = fabric::testing::cable(fabric::LinkKind::infiniband, 5);
  inputs.fabric_link = fabric::testing::cable(fabric::LinkKind::infiniband, 30);
  return topology::find_topology("rail")->build(inputs);
}

double peak_rss_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

void measure(std::size_t gpus) {
  const fabric::Fabric fabric = rails(gpus / 8);
  const routing::Routes routes(fabric, {});
  engine::Setup setup;
  setup.fabric = &fabric;
  setup.routes = &routes;
  setup.constants = engine::testing::ideal_constants();
  setup.work.groups.emplace_back();
  for (std::size_t i = 0; i < gpus; ++i) {
    setup.work.rank_gpu.push_back(static_cast<std::uint32_t>(i));
    setup.work.groups[0].emplace_back(i);
  }
  work::CollectiveOp op;
  op.group = work::GroupId(std::size_t{0});
  op.size = Bytes::gib(1);
  op.algorithm = "ring";
  setup.work.ops.push_back({op, {}, {}, {}});
  const auto start = std::chrono::steady_clock::now();
  const result::Result result = engine::flow_engine().run(setup, nullptr);
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  fmt::print("{:>8} {:>10} {:>10.2f} {:>10.0f} {:>9} {:>12}  {}\n", gpus, fabric.link_count(),
             wall.count(), peak_rss_mb(), result.ops[0].channels, to_text(result.completion),
             result.bottleneck.sentence);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t limit = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 131'072;
  fmt::print("{:>8} {:>10} {:>10} {:>10} {:>9} {:>12}  {}\n", "GPUs", "links", "wall (s)",
             "peak (MB)", "channels", "simulated", "limited by");
  for (std::size_t gpus = 32; gpus <= limit; gpus *= 4) measure(gpus);
  return 0;
}
