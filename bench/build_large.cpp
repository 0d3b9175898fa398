// Builds a fat tree of 131,072 endpoints (16,384 servers of 8 GPUs and 8 NICs) and its routes, and
// prints seconds, memory and bytes per endpoint; then looks up a million paths.
// Use: weft_bench_build_large [servers [radix]]
#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>

#include "base/text.h"
#include "routing/routes.h"
#include "topology/topology.h"

namespace {

using namespace weft;  // a program, not a header
using fabric::DeviceId;
using fabric::DeviceKind;
using fabric::LinkKind;

fabric::DeviceClass make_class(DeviceKind kind, const char* model, int radix = 0) {
  fabric::DeviceClass made;
  made.kind = kind;
  made.model = model;
  made.radix = radix;
  return made;
}

fabric::LinkClass make_link(LinkKind kind, const char* name, std::int64_t gbps, int width = 1) {
  fabric::LinkClass made;
  made.kind = kind;
  made.name = name;
  made.raw_rate = BitRate::gigabits_per_second(gbps);
  made.width = width;
  return made;
}

// Two sockets, four PCIe switches with two GPUs and two NICs each, four NVSwitches: the shape of an
// HGX H100 server; rates are round numbers, they do not matter here.
class ServerSketch {
 public:
  fabric::Fabric build() {
    builder_.begin_server();
    add_host();
    for (int i = 0; i < 4; ++i) add_quarter(i);
    add_nvswitches();
    builder_.end_server();
    return std::move(builder_).build();
  }

 private:
  DeviceId add(const fabric::DeviceClass& device_class, const char* kind, int index) {
    return builder_.add_device(builder_.device_class(device_class),
                               {.name = fmt::format("{}{}", kind, index)});
  }
  void link(DeviceId a, DeviceId b, const fabric::LinkClass& link_class) {
    builder_.add_link({a, b}, builder_.link_class(link_class));
  }

  void add_host() {
    for (int i = 0; i < 2; ++i) cpus_.push_back(add(make_class(DeviceKind::cpu, "cpu"), "cpu", i));
    link(cpus_[0], cpus_[1], make_link(LinkKind::inter_socket, "upi", 500));
  }

  void add_quarter(int i) {
    const fabric::LinkClass pcie = make_link(LinkKind::pcie, "pcie5 x16", 504, 16);
    const DeviceId bridge = add(make_class(DeviceKind::host_bridge, "bridge"), "bridge", i);
    const DeviceId plx = add(make_class(DeviceKind::pcie_switch, "plx"), "plx", i);
    link(cpus_[static_cast<std::size_t>(i / 2)], bridge, make_link(LinkKind::on_die, "die", 2000));
    link(bridge, plx, pcie);
    for (int k = 2 * i; k < 2 * i + 2; ++k) {
      gpus_.push_back(add(make_class(DeviceKind::gpu, "gpu"), "gpu", k));
      link(plx, gpus_.back(), pcie);
      link(plx, add(make_class(DeviceKind::nic, "nic"), "nic", k), pcie);
    }
  }

  void add_nvswitches() {
    for (int i = 0; i < 4; ++i) {
      const int width = i == 1 || i == 2 ? 5 : 4;  // 18 links of a GPU over four chips
      const DeviceId chip = add(make_class(DeviceKind::nvswitch, "nvswitch3", 64), "nvswitch", i);
      for (const DeviceId gpu : gpus_) {
        link(gpu, chip, make_link(LinkKind::nvlink, "nvlink4", 200 * width, width));
      }
    }
  }

  fabric::FabricBuilder builder_;
  std::vector<DeviceId> cpus_, gpus_;
};

double peak_rss_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024.0;  // Linux counts KiB
}

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// Mean seconds of a path look-up between NICs far apart.
double time_paths(const fabric::Fabric& built, const routing::Routes& routes, std::size_t count) {
  const auto nics = built.of_kind(DeviceKind::nic);
  std::vector<fabric::LinkId> links;
  const Stopwatch watch;
  for (std::size_t i = 0; i < count; ++i) {
    const DeviceId from = nics[i * 7919 % nics.size()], to = nics[i * 104'729 % nics.size()];
    links.clear();
    routes.path(from, to, routing::entropy_of(from, to, 0), links);
  }
  return watch.seconds() / static_cast<double>(count);
}

int run(std::size_t servers, int radix) {
  const fabric::Fabric server = ServerSketch().build();
  topology::Inputs inputs;
  inputs.servers.assign(servers, &server);
  inputs.switch_class = make_class(DeviceKind::network_switch, "switch", radix);
  inputs.host_link = inputs.fabric_link = make_link(LinkKind::ethernet, "400GbE", 400);
  const topology::Topology& row = *topology::find_topology("fat_tree");
  for (const std::string& sentence : row.refuse(inputs)) {
    fmt::print("{}\n", sentence);
    return 1;
  }
  const Stopwatch watch;
  const fabric::Fabric built = row.build(inputs);
  const double build_s = watch.seconds();
  const Stopwatch route_watch;
  const routing::Routes routes(built, {});
  const double route_s = route_watch.seconds();
  const auto form = row.closed_form(inputs);
  const auto endpoints = static_cast<double>(*form.hosts);
  const auto per_endpoint = [&](std::size_t bytes) {
    return static_cast<double>(bytes) / endpoints;
  };
  fmt::print("endpoints {}  switches {}  diameter {} switches  devices {}  links {} (directed)\n",
             *form.hosts, *form.switches, *form.diameter_switches, built.device_count(),
             built.link_count());
  fmt::print("build {:.2f} s  routes {:.2f} s  peak RSS {:.0f} MiB\n", build_s, route_s,
             peak_rss_mib());
  fmt::print("fabric {:.0f} B/endpoint  routes {:.0f} B/endpoint\n",
             per_endpoint(built.memory_bytes()), per_endpoint(routes.memory_bytes()));
  fmt::print("path look-up {:.0f} ns\n", time_paths(built, routes, 1'000'000) * 1e9);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const auto servers = argc > 1 ? parse_int(argv[1]) : 16'384;
  const auto radix = argc > 2 ? parse_int(argv[2]) : 128;
  if (argc > 3 || !servers || !radix || *servers < 1) {
    fmt::print("use: weft_bench_build_large [servers [radix]]\n");
    return 2;
  }
  return run(static_cast<std::size_t>(*servers), static_cast<int>(*radix));
}
