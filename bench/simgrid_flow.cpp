// Weft's flow engine against SimGrid on the same flows over the same links, one after the other in
// one process: CPU seconds to set up and to run, peak memory, and completion times of every flow.
// Both share links max-min fairly: SimGrid's CM02 model with all factors 1, no TCP window, no cross
// traffic.
//   set-up   Weft: fabric, routing tables, work. SimGrid: hosts, links and the route of every pair,
//            from a list of link numbers that we give it; finding that list is not on its bill.
//   paths    Weft finds the links of every flow while it runs; this is what that takes by itself.
//   run      Weft: all of the engine's run, paths included. SimGrid: of Engine::run().
// Ratios: run to run; run to run without paths, as SimGrid is given its own; set-up and run
// together. Every case runs three times in a process of its own; each column is its least.
// SimGrid's default update of its sharing (network/optim:Lazy) is measured with --lazy: in 3.32 it
// overloads links in these all-to-alls, so its times are not those of the definition.
// Built only where libsimgrid-dev is installed; no test needs it.
// In SimGrid every host that sends is an actor, as its programs are written; --one-actor lets one
// actor send everything. Which is faster depends on the case.
// usage: weft_bench_simgrid_flow [--lazy] [--one-actor] [--once] [CASE]...
//        weft_bench_simgrid_flow --weft N CASE    Weft's run alone, N times (to profile)
//        cases: perm1024, a2a64, a2a128, a2a256; default: all
#include <fmt/format.h>

#include <cmath>
#include <map>
#include <simgrid/s4u.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "engine/flow/flow_engine.h"
#include "peer_case.h"
#include "process_usage.h"

namespace {

using namespace weft;
using bench::cpu_seconds;
using bench::peak_mb;
namespace sg = simgrid::s4u;

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

// The links of every op's way, as SimGrid is told them.
struct Way {
  struct Hop {
    fabric::LinkId link;
    double spent = 1;
  };
  std::vector<Hop> hops;
};

std::vector<Way> find_ways(const engine::Setup& setup) {
  std::vector<Way> ways;
  engine::Expander expander(setup);
  for (std::size_t i = 0; i < setup.work.ops.size(); ++i) {
    ways.emplace_back();
    for (const engine::LinkShare& share : expander.expand(work::OpId(i)).shares)
      if (fabric::is_network(setup.fabric->link_class(share.link).kind))
        ways.back().hops.push_back({share.link, share.spent});
  }
  return ways;
}

// The platform: one host a rank, one link a directed link that some flow crosses, and a route of
// exactly the links that our expansion names.
class Peer {
 public:
  Peer(sg::Engine& engine, const engine::Setup& setup, const std::vector<Way>& ways)
      : engine_(&engine), setup_(&setup), links_(setup.fabric->link_count()) {
    const double before = cpu_seconds();
    zone_ = sg::create_full_zone("fabric");
    for (std::size_t i = 0; i < setup.work.rank_gpu.size(); ++i)
      hosts_.push_back(zone_->create_host(fmt::format("h{}", i), 1e9));
    for (std::size_t i = 0; i < setup.work.ops.size(); ++i) add_route(i, ways[i]);
    zone_->seal();
    setup_s_ = cpu_seconds() - before;
  }
  [[nodiscard]] double setup_s() const { return setup_s_; }

  // One actor a sending host, or one that sends everything.
  Run run(bool one_actor) {
    const auto& ops = setup_->work.ops;
    Run out;
    std::vector<sg::CommPtr> comms(ops.size());
    std::vector<std::vector<std::size_t>> sends(hosts_.size());
    for (std::size_t i = 0; i < ops.size(); ++i)
      sends[one_actor ? 0 : std::get<work::Transfer>(ops[i].what).from.index()].push_back(i);
    const auto send = [&](std::size_t i) {
      const auto& transfer = std::get<work::Transfer>(ops[i].what);
      comms[i] = sg::Comm::sendto_async(hosts_[transfer.from.index()], hosts_[transfer.to.index()],
                                        static_cast<std::uint64_t>(transfer.size.count()));
    };
    const auto create = [&](sg::Host* host, const std::vector<std::size_t>& flows) {
      if (flows.empty()) return;
      sg::Actor::create("sender", host, [&send, &comms, &flows] {
        for (const std::size_t i : flows) send(i);
        for (const std::size_t i : flows) comms[i]->wait();
      });
    };
    for (std::size_t host = 0; host < hosts_.size(); ++host) create(hosts_[host], sends[host]);
    const double before = cpu_seconds();
    engine_->run();
    out.cpu_s = cpu_seconds() - before;
    for (const sg::CommPtr& comm : comms) out.ends.push_back(comm->get_finish_time());
    return out;
  }

 private:
  // A start that is put off is one more link, of latency only. What is not network has twice the
  // rate of the only network link it leads to.
  void add_route(std::size_t op, const Way& way) {
    const work::Op& what = setup_->work.ops[op];
    const auto& transfer = std::get<work::Transfer>(what.what);
    std::vector<sg::LinkInRoute> route;
    for (const Way::Hop& hop : way.hops) {
      const fabric::LinkClass& cls = setup_->fabric->link_class(hop.link);
      sg::Link*& link = links_[hop.link.index()];
      if (link == nullptr) {
        link = zone_->create_link(fmt::format("l{}", hop.link.value),
                                  cls.raw_rate.bytes_per_second() / hop.spent);
        link->set_latency(cls.latency.to_seconds())->seal();
      }
      route.emplace_back(link);
    }
    const Duration wait = what.earliest.since_start();
    if (wait > Duration()) {
      sg::Link*& link = waits_[wait];
      if (link == nullptr) {
        link = zone_->create_link(fmt::format("wait{}", wait.ps()), 1e15);
        link->set_latency(wait.to_seconds())->seal();
      }
      route.emplace_back(link);
    }
    zone_->add_route(hosts_[transfer.from.index()]->get_netpoint(),
                     hosts_[transfer.to.index()]->get_netpoint(), nullptr, nullptr, route, false);
  }

  sg::Engine* engine_;
  const engine::Setup* setup_;
  sg::NetZone* zone_ = nullptr;
  std::vector<sg::Host*> hosts_;
  std::vector<sg::Link*> links_;
  std::map<Duration, sg::Link*> waits_;
  double setup_s_ = 0;
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

// One line of numbers, for the process that asked for it.
struct Row {
  std::size_t flows = 0;
  double weft_setup = 0, weft_paths = 0, weft_run = 0, peer_setup = 0, peer_run = 0;
  double weft_bytes = 0, peer_bytes = 0;  // by flow, grown while it ran
  Summary weft, peer;
  double worst = 0;  // of any flow's end, relative
};

bench::PeerCase make_case(std::string_view name) {
  const bool small = name == "a2a64" || name == "a2a128";
  bench::PeerCase peer_case(small ? bench::kLs128 : bench::kLs1024);
  if (name == "perm1024")
    peer_case.permutation(Bytes(2'000'000));
  else
    peer_case.all_to_all(name == "a2a64" ? 64 : small ? 128 : 256, Bytes(65'536));
  return peer_case;
}

Row measure(std::string_view name, sg::Engine& engine, bool one_actor) {
  Row row;
  double before = cpu_seconds();
  bench::PeerCase peer_case = make_case(name);
  row.weft_setup = cpu_seconds() - before;
  before = cpu_seconds();
  peer_case.align_starts();
  row.weft_paths = cpu_seconds() - before;
  const Run ours = run_weft(peer_case.setup);
  const std::vector<Way> ways = find_ways(peer_case.setup);
  const double memory = peak_mb();
  Peer peer(engine, peer_case.setup, ways);
  const Run theirs = peer.run(one_actor);
  row.peer_setup = peer.setup_s();
  row.flows = ours.ends.size();
  row.weft_run = ours.cpu_s;
  row.peer_run = theirs.cpu_s;
  row.weft_bytes = ours.grown_mb * 1048576 / static_cast<double>(row.flows);
  row.peer_bytes = (peak_mb() - memory) * 1048576 / static_cast<double>(row.flows);
  row.weft = summary(ours.ends);
  row.peer = summary(theirs.ends);
  for (std::size_t i = 0; i < ours.ends.size(); ++i)
    row.worst = std::max(row.worst, std::abs(ours.ends[i] - theirs.ends[i]) / theirs.ends[i]);
  return row;
}

struct Asked {
  bool lazy = false, one_actor = false, once = false;
};

void measure_here(const std::string& name, const Asked& asked, char* program) {
  char quiet[] = "--log=root.thres:warning";
  char* options[] = {program, quiet, nullptr};
  int count = 2;
  sg::Engine engine(&count, options);
  for (const char* setting :
       {"network/model:CM02", "network/bandwidth-factor:1", "network/latency-factor:1",
        "network/weight-S:0", "network/TCP-gamma:0", "network/crosstraffic:0"})
    sg::Engine::set_config(setting);
  sg::Engine::set_config(asked.lazy ? "network/optim:Lazy" : "network/optim:Full");
  const Row r = measure(name, engine, asked.one_actor);
  fmt::print("{} {} {} {} {} {} {} {} {} {} {} {} {}\n", r.flows, r.weft_setup, r.weft_paths,
             r.weft_run, r.peer_setup, r.peer_run, r.weft_bytes, r.peer_bytes, r.weft.mean,
             r.peer.mean, r.weft.max, r.peer.max, r.worst);
}

// SimGrid holds one engine a process.
Row measure_in_process(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "r");
  Row r;
  const int read = std::fscanf(pipe, "%zu %lf %lf %lf %lf %lf %lf %lf %lf %lf %lf %lf %lf",
                               &r.flows, &r.weft_setup, &r.weft_paths, &r.weft_run, &r.peer_setup,
                               &r.peer_run, &r.weft_bytes, &r.peer_bytes, &r.weft.mean,
                               &r.peer.mean, &r.weft.max, &r.peer.max, &r.worst);
  if (pclose(pipe) != 0 || read != 13) {
    fmt::print(stderr, "failed: {}\n", command);
    std::exit(1);
  }
  return r;
}

Row least_of(int times, const std::string& command) {
  Row least = measure_in_process(command);
  for (int i = 1; i < times; ++i) {
    const Row row = measure_in_process(command);
    for (double Row::* column :
         {&Row::weft_setup, &Row::weft_paths, &Row::weft_run, &Row::peer_setup, &Row::peer_run})
      least.*column = std::min(least.*column, row.*column);
  }
  return least;
}

void print_row(const std::string& name, const Row& r) {
  const double paths = std::min(r.weft_paths, r.weft_run);
  fmt::print(
      "{:<9} {:>6} |{:>8.4f} {:>8.4f} {:>8.4f} |{:>8.3f} {:>8.3f} |{:>6.0f}x {:>6.0f}x {:>6.0f}x "
      "|{:>9.3f} {:>9.3f} {:>9.3f} {:>9.3f} {:>10.6f} |{:>6.0f} {:>6.0f}\n",
      name, r.flows, r.weft_setup, r.weft_paths, r.weft_run, r.peer_setup, r.peer_run,
      r.peer_run / r.weft_run, r.peer_run / (r.weft_run - paths),
      (r.peer_setup + r.peer_run) / (r.weft_setup + r.weft_run), r.weft.mean * 1e6,
      r.peer.mean * 1e6, r.weft.max * 1e6, r.peer.max * 1e6, r.worst * 100, r.weft_bytes,
      r.peer_bytes);
  std::fflush(stdout);
}

void print_heading() {
  fmt::print("{:<9} {:>6} |{:^26} |{:^17} |{:^23} |{:^51} |{:^13}\n", "", "", "Weft, CPU s",
             "SimGrid, CPU s", "SimGrid / Weft", "ends, us", "B a flow");
  fmt::print(
      "{:<9} {:>6} |{:>8} {:>8} {:>8} |{:>8} {:>8} |{:>7} {:>7} {:>7} |{:>9} {:>9} {:>9} {:>9} "
      "{:>10} |{:>6} {:>6}\n",
      "case", "flows", "set-up", "paths", "run", "set-up", "run", "run", "-paths", "both", "mean",
      "theirs", "max", "theirs", "worst, %", "Weft", "theirs");
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  Asked asked;
  asked.lazy = std::erase(arguments, "--lazy") > 0;
  asked.one_actor = std::erase(arguments, "--one-actor") > 0;
  asked.once = std::erase(arguments, "--once") > 0;
  if (arguments.size() == 2 && arguments[0] == "--here") {
    measure_here(arguments[1], asked, argv[0]);
    return 0;
  }
  if (arguments.size() == 3 && arguments[0] == "--weft") {
    bench::PeerCase peer_case = make_case(arguments[2]);
    peer_case.align_starts();
    for (int i = std::stoi(arguments[1]); i > 0; --i)
      fmt::print("{:.4f}\n", run_weft(peer_case.setup).cpu_s);
    return 0;
  }
  if (arguments.empty()) arguments = {"perm1024", "a2a64", "a2a128", "a2a256"};
  const std::string command = fmt::format("{}{}{} --here ", argv[0], asked.lazy ? " --lazy" : "",
                                          asked.one_actor ? " --one-actor" : "");
  print_heading();
  for (const std::string& name : arguments)
    print_row(name, least_of(asked.once ? 1 : 3, command + name));
  return 0;
}
