// The scenarios on which packet simulators are compared (examples/peers) on the packet engine, one
// line each: flows, packet-hops, events, seconds of CPU, packet-hops a second, flow completion
// times, packets sent, sent again, dropped, memory so far. `watched`: with an observer on every
// link of the network, which shows what watching costs. usage: weft_bench_peers [NAME|all]
// [plain|watched] [REPEAT]      run in the root of the checkout
#include <fmt/format.h>
#include <sys/resource.h>

#include <cstdlib>
#include <string_view>

#include "base/text.h"
#include "data/embedded.h"
#include "engine/packet/packet_engine.h"
#include "process_usage.h"
#include "report/packet_series.h"
#include "scenario/session.h"

namespace {

using namespace weft;
using bench::cpu_seconds;

constexpr std::string_view kNames[] = {"perm_128n_ls128",  "perm_1024n_ls1024", "perm_1024n_ft1024",
                                       "a2a64_serial8",    "a2a128_serial8",    "a2a128_all",
                                       "ring128",          "incast8",           "incast32",
                                       "perm_8192n_ls8192"};

scenario::Library library() {
  std::vector<scenario::ShippedFile> files;
  for (const data::EmbeddedFile& file : data::embedded_files())
    files.push_back({std::string(file.path), std::string(file.text)});
  return scenario::Library(std::move(files));
}

void measure(const scenario::Library& shipped, std::string_view name, bool watched) {
  const std::string path = fmt::format("examples/peers/{}.yaml", name);
  const scenario::ScenarioFile file = scenario::parse_scenario(read_file(path), path);
  scenario::OpenOptions open;
  open.asked_at = file.cluster->where;
  scenario::StackOptions options;
  options.stack = file.stack;
  options.routing = file.routing;
  options.seed = static_cast<std::uint64_t>(file.seed);
  const scenario::Session session(
      shipped, scenario::open_cluster(shipped, file.cluster->text, open), options);
  const engine::Setup setup = session.setup(scenario::build_work(file, session.fabric()));
  report::PacketSeries series(session.fabric(), report::LinkChoice(session.fabric(), {}),
                              Duration::microseconds(10));
  const double before = cpu_seconds();
  const result::Result result = engine::packet_engine().run(setup, watched ? &series : nullptr);
  const double seconds = cpu_seconds() - before;
  const result::Spread times = result::completion_spread(result.flows);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  fmt::print(
      "{:<18} {:>6} {:>10} {:>10} {:>7.3f} {:>6.2f} {:>8.1f} {:>8.1f} {:>8.1f} {:>8} {:>6} {:>6} "
      "{:>5}\n",
      name, result.flows.size(), result.engine.packet_hops, result.engine.events, seconds,
      static_cast<double>(result.engine.packet_hops) / seconds * 1e-6, times.mean, times.p99,
      times.max, result.packets.sent, result.packets.retransmitted, result.packets.drops,
      usage.ru_maxrss / 1024);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view only = argc > 1 ? argv[1] : "all";
  const bool watched = argc > 2 && std::string_view(argv[2]) == "watched";
  const int repeat = argc > 3 ? std::atoi(argv[3]) : 1;
  const scenario::Library shipped = library();
  fmt::print("{:<18} {:>6} {:>10} {:>10} {:>7} {:>6} {:>8} {:>8} {:>8} {:>8} {:>6} {:>6} {:>5}\n",
             "scenario", "flows", "hops", "events", "cpu s", "M/s", "mean us", "p99", "max", "sent",
             "again", "drops", "MB");
  for (const std::string_view name : kNames) {
    if (only != "all" && only != name) continue;
    for (int i = 0; i < repeat; ++i) measure(shipped, name, watched);
  }
}
