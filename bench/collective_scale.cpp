// A 1 GiB all-reduce over every GPU of a rail-optimised cluster of HGX-shaped servers (8 GPUs, 8
// NICs): seconds to set up (fabric, routing tables) and to plan, expand and run it, and peak
// memory, for more and more GPUs. usage: weft_bench_collective_scale [ALGORITHM [GPUS]...]
//        default: ring 32 128 512 2048 8192 16384 131072
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include "engine/flow/flow_engine.h"
#include "engine/test_cluster.h"
#include "process_usage.h"
#include "topology/topology.h"

namespace {

using namespace weft;
using bench::cpu_seconds;
using bench::peak_mb;

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

void measure(const std::string& algorithm, std::size_t gpus) {
  double before = cpu_seconds();
  const fabric::Fabric fabric = rails(gpus / 8);
  const routing::Routes routes(fabric, {});
  const double set_up = cpu_seconds() - before;
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
  op.algorithm = algorithm;
  setup.work.ops.push_back({op, {}, {}, {}});
  before = cpu_seconds();
  const auto start = std::chrono::steady_clock::now();
  const result::Result result = engine::flow_engine().run(setup, nullptr);
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  fmt::print("{:<12} {:>7} {:>8} {:>9.2f} {:>9.2f} {:>9.2f} {:>9.0f} {:>8} {:>9}  {}\n", algorithm,
             gpus, fabric.link_count(), set_up, cpu_seconds() - before, wall.count(), peak_mb(),
             result.ops[0].channels, to_text(result.completion), result.bottleneck.sentence);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string algorithm = argc > 1 ? argv[1] : "ring";
  std::vector<std::string> sizes;
  if (argc > 2)
    sizes.assign(argv + 2, argv + argc);
  else
    sizes = {"32", "128", "512", "2048", "8192", "16384", "131072"};
  fmt::print("{:<12} {:>7} {:>8} {:>9} {:>9} {:>9} {:>9} {:>8} {:>9}  {}\n", "algorithm", "GPUs",
             "links", "set-up s", "CPU s", "wall s", "peak MB", "channels", "simulated",
             "limited by");
  for (const std::string& size : sizes)
    measure(algorithm, std::strtoull(size.c_str(), nullptr, 10));
  return 0;
}
