// weft demo: the main job on a built-in cluster: the table, one sentence, three next commands.
#include "app/bench.h"
#include "app/commands.h"

namespace weft::app {
namespace {

constexpr const char* kCluster = "demo-8x8-h100-rail";

int run(const Arguments& arguments, const Streams& streams) {
  const scenario::Library library = shipped_library(arguments);
  const scenario::Session session(library, scenario::open_cluster(library, kCluster, {}), {});
  BenchRequest request;
  request.bench.begin = Bytes(8);
  request.bench.end = Bytes::gib(8);
  request.bench.step = 4;
  request.bench.source = kCluster;
  request.bench.arguments = {"demo"};
  const report::Bench bench = sweep(session, chosen_engine(arguments), request, streams);
  if (arguments.flag("json")) {
    print(streams, report::bench_json(bench));
    return 0;
  }
  print(streams,
        "8 nodes x 8 H100, one InfiniBand NDR rail a GPU: all_reduce as nccl-tests would print "
        "it\n\n");
  print(streams, report::nccl_table(bench));
  print(streams, "\n" + bench.rows.back().bottleneck.sentence + "\n");
  print(
      streams,
      "\nNext:\n"
      "  weft bench all_reduce -c demo-8x8-h100-rail -b 1G -e 1G --explain     why this algorithm\n"
      "  weft path demo-8x8-h100-rail node0/gpu0 node1/gpu0 --via all          every way between "
      "two GPUs\n"
      "  weft topo hgx-h100                                                    the matrix of "
      "nvidia-smi topo -m\n");
  return 0;
}

}  // namespace

Command demo_command() {
  return {"demo",
          "Predict all_reduce on a built-in 8-node x 8-H100 rail fabric, and say what to try next.",
          {"weft demo", "weft demo --json"},
          {},
          {{"json", "", "", "JSON on stdout (schema weft/bench/1)", ""},
           {"engine", "", "NAME", "analytic, flow or packet", "flow"}},
          run};
}

}  // namespace weft::app
