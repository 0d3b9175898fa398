// Weft's flow engine against SimGrid on the same flows over the same links, one after the other in
// one process: CPU seconds of the run, peak memory, and completion times of every flow. Both share
// links max-min fairly: SimGrid's CM02 model with all factors 1, no TCP window, no cross traffic.
// SimGrid's default update of its sharing (network/optim:Lazy) is measured beside the full one: in
// 3.32 it overloads links in these all-to-alls, so its times are not those of the definition.
// Built only where libsimgrid-dev is installed; no test needs it.
// usage: weft_bench_simgrid_flow [--json] [--lazy] [CASE]...
//        cases: perm1024, a2a64, a2a128, a2a256; default: all. --lazy: SimGrid's default update
#include <fmt/format.h>
#include <sys/resource.h>

#include <cmath>
#include <map>
#include <simgrid/s4u.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "engine/flow/flow_engine.h"
#include "peer_case.h"

namespace {

using namespace weft;
namespace sg = simgrid::s4u;

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double peak_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

struct Run {
  std::vector<double> ends;  // seconds, by op
  double cpu_s = 0, grown_mb = 0;
};

Run run_weft(const engine::Setup& setup) {
  Run run;
  const double memory = peak_mb();
  const double before = cpu_seconds();
  const result::Result result = engine::flow_engine().run(setup, nullptr);
  run.cpu_s = cpu_seconds() - before;
  run.grown_mb = peak_mb() - memory;
  for (const result::OpSpan& op : result.ops) run.ends.push_back(op.end.since_start().to_seconds());
  return run;
}

// The platform: one host a rank, one link a directed link that some flow crosses, and a route of
// exactly the links that our expansion names.
class Peer {
 public:
  Peer(sg::Engine& engine, const engine::Setup& setup) : engine_(&engine), setup_(&setup) {
    zone_ = sg::create_full_zone("fabric");
    for (std::size_t i = 0; i < setup.work.rank_gpu.size(); ++i)
      hosts_.push_back(zone_->create_host(fmt::format("h{}", i), 1e9));
    engine::Expander expander(setup);
    for (std::size_t i = 0; i < setup.work.ops.size(); ++i) add_route(i, expander);
    zone_->seal();
  }

  Run run() {
    const auto& ops = setup_->work.ops;
    Run out;
    std::vector<sg::CommPtr> comms(ops.size());
    sg::Actor::create("sender", hosts_[0], [&] {
      for (std::size_t i = 0; i < ops.size(); ++i) {
        const auto& transfer = std::get<work::Transfer>(ops[i].what);
        comms[i] =
            sg::Comm::sendto_async(hosts_[transfer.from.index()], hosts_[transfer.to.index()],
                                   static_cast<std::uint64_t>(transfer.size.count()));
      }
      for (const sg::CommPtr& comm : comms) comm->wait();
    });
    const double before = cpu_seconds();
    engine_->run();
    out.cpu_s = cpu_seconds() - before;
    for (const sg::CommPtr& comm : comms) out.ends.push_back(comm->get_finish_time());
    return out;
  }

 private:
  sg::Link* link(const std::string& name, double bytes_per_s, Duration latency) {
    sg::Link*& known = links_[name];
    if (known == nullptr) {
      known = zone_->create_link(name, bytes_per_s);
      known->set_latency(latency.to_seconds())->seal();
    }
    return known;
  }
  // A start that is put off is one more link, of latency only.
  void add_route(std::size_t op, engine::Expander& expander) {
    const fabric::Fabric& fabric = *setup_->fabric;
    const work::Op& what = setup_->work.ops[op];
    const auto& transfer = std::get<work::Transfer>(what.what);
    std::vector<sg::LinkInRoute> route;
    for (const engine::LinkShare& share : expander.expand(work::OpId(op)).shares) {
      const fabric::LinkClass& cls = fabric.link_class(share.link);
      if (!fabric::is_network(cls.kind)) continue;  // twice the rate of its only network link
      route.emplace_back(link(fmt::format("l{}", share.link.value),
                              cls.raw_rate.bytes_per_second() / share.spent, cls.latency));
    }
    const Duration wait = what.earliest.since_start();
    if (wait > Duration()) route.emplace_back(link(fmt::format("wait{}", wait.ps()), 1e15, wait));
    zone_->add_route(hosts_[transfer.from.index()]->get_netpoint(),
                     hosts_[transfer.to.index()]->get_netpoint(), nullptr, nullptr, route, false);
  }

  sg::Engine* engine_;
  const engine::Setup* setup_;
  sg::NetZone* zone_ = nullptr;
  std::vector<sg::Host*> hosts_;
  std::map<std::string, sg::Link*> links_;
};

struct Summary {
  double mean = 0, max = 0;
};

Summary summary(const std::vector<double>& ends) {
  Summary out;
  for (const double end : ends) {
    out.mean += end / static_cast<double>(ends.size());
    out.max = std::max(out.max, end);
  }
  return out;
}

void compare(std::string_view name, bool json, sg::Engine& engine) {
  const bool small = name == "a2a64" || name == "a2a128";
  bench::PeerCase peer_case(small ? bench::kLs128 : bench::kLs1024);
  if (name == "perm1024")
    peer_case.permutation(Bytes(2'000'000));
  else
    peer_case.all_to_all(name == "a2a64" ? 64 : small ? 128 : 256, Bytes(65'536));
  peer_case.align_starts();
  const Run ours = run_weft(peer_case.setup);
  const double memory = peak_mb();
  const Run theirs = Peer(engine, peer_case.setup).run();
  const double their_mb = peak_mb() - memory;
  const Summary a = summary(ours.ends), b = summary(theirs.ends);
  double worst = 0;
  for (std::size_t i = 0; i < ours.ends.size(); ++i)
    worst = std::max(worst, std::abs(ours.ends[i] - theirs.ends[i]) / theirs.ends[i]);
  if (json)
    fmt::print(
        "{{\"case\":\"{}\",\"flows\":{},\"weft_s\":{:.4f},\"simgrid_s\":{:.4f},\"ratio\":{:.1f},"
        "\"weft_mean_us\":{:.3f},\"simgrid_mean_us\":{:.3f},\"weft_max_us\":{:.3f},"
        "\"simgrid_max_us\":{:.3f},\"worst_flow\":{:.6f},\"weft_bytes_per_flow\":{:.0f},"
        "\"simgrid_bytes_per_flow\":{:.0f}}}\n",
        name, ours.ends.size(), ours.cpu_s, theirs.cpu_s, theirs.cpu_s / ours.cpu_s, a.mean * 1e6,
        b.mean * 1e6, a.max * 1e6, b.max * 1e6, worst,
        ours.grown_mb * 1048576 / static_cast<double>(ours.ends.size()),
        their_mb * 1048576 / static_cast<double>(ours.ends.size()));
  else
    fmt::print(
        "{:<9} {:>7} {:>9.3f} {:>9.2f} {:>6.0f}x {:>9.2f} {:>9.2f} {:>9.2f} {:>9.2f} {:>9} "
        "{:>7.0f} {:>7.0f}\n",
        name, ours.ends.size(), ours.cpu_s, theirs.cpu_s, theirs.cpu_s / ours.cpu_s, a.mean * 1e6,
        b.mean * 1e6, a.max * 1e6, b.max * 1e6, fmt::format("{:.4f} %", worst * 100),
        ours.grown_mb * 1048576 / static_cast<double>(ours.ends.size()),
        their_mb * 1048576 / static_cast<double>(ours.ends.size()));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  const bool json = std::erase(arguments, "--json") > 0;
  const bool lazy = std::erase(arguments, "--lazy") > 0;
  if (arguments.empty()) arguments = {"perm1024", "a2a64", "a2a128", "a2a256"};
  if (arguments.size() > 1) {  // SimGrid holds one engine a process
    for (const std::string& name : arguments)
      if (std::system(
              fmt::format("{} {} {} {}", argv[0], json ? "--json" : "", lazy ? "--lazy" : "", name)
                  .c_str()) != 0)
        return 1;
    return 0;
  }
  char quiet[] = "--log=root.thres:warning";
  char* options[] = {argv[0], quiet, nullptr};
  int count = 2;
  sg::Engine engine(&count, options);
  for (const char* setting :
       {"network/model:CM02", "network/bandwidth-factor:1", "network/latency-factor:1",
        "network/weight-S:0", "network/TCP-gamma:0", "network/crosstraffic:0"})
    sg::Engine::set_config(setting);
  sg::Engine::set_config(lazy ? "network/optim:Lazy" : "network/optim:Full");
  if (!json)
    fmt::print("{:<9} {:>7} {:>9} {:>9} {:>7} {:>9} {:>9} {:>9} {:>9} {:>9} {:>7} {:>7}\n", "case",
               "flows", "Weft s", "SimGrid s", "ratio", "mean us", "theirs", "max us", "theirs",
               "worst", "B/flow", "theirs");
  compare(arguments[0], json, engine);
  return 0;
}
