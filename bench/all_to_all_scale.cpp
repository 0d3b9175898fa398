// An all-to-all flow by flow: every GPU sends 64 KiB to every other, each a transfer of its own
// with its own path, over a leaf-spine fabric of 400 Gb/s without oversubscription (as many hosts
// as spines a leaf, one GPU a host). Prints flows, CPU and wall seconds of the run, memory before
// it (fabric, routes, work) and at its peak, bytes a flow, events and solves. usage:
// weft_bench_all_to_all_scale [GPUS]...     (default 64 128 256 512 1024; 4096 takes 16.8 M
//        flows)
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "engine/flow/flow_engine.h"
#include "peer_case.h"
#include "process_usage.h"

namespace {

using namespace weft;
using bench::cpu_seconds;
using bench::peak_mb;

void measure(std::size_t gpus) {
  std::size_t a_leaf = 1;
  while (a_leaf * a_leaf < gpus) a_leaf *= 2;
  bench::PeerCase all({"", gpus / a_leaf, a_leaf, a_leaf});
  all.setup.work.ops.reserve(gpus * (gpus - 1));
  all.setup.options.record_flows = false;
  all.all_to_all(gpus, Bytes(65'536));
  all.align_starts();
  const double memory = peak_mb(), before = cpu_seconds();
  const auto start = std::chrono::steady_clock::now();
  const result::Result result = engine::flow_engine().run(all.setup, nullptr);
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  const auto flows = static_cast<double>(gpus * (gpus - 1));
  fmt::print(
      "{:>6} {:>10} {:>9.3f} {:>9.3f} {:>9.0f} {:>9.0f} {:>9.0f} {:>9.0f} {:>10} {:>8} {:>11}\n",
      gpus, gpus * (gpus - 1), cpu_seconds() - before, wall.count(), memory, peak_mb(),
      memory * 1048576 / flows, (peak_mb() - memory) * 1048576 / flows, result.engine.events,
      result.engine.rate_solves, to_text(result.completion));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> sizes(argv + 1, argv + argc);
  if (sizes.empty()) sizes = {"64", "128", "256", "512", "1024"};
  fmt::print("{:>6} {:>10} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>10} {:>8} {:>11}\n", "GPUs",
             "flows", "CPU s", "wall s", "MB before", "peak MB", "B before", "B a flow", "events",
             "solves", "simulated");
  for (const std::string& size : sizes) measure(std::strtoull(size.c_str(), nullptr, 10));
  return 0;
}
