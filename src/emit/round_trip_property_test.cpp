// Random small networks and servers: what an emitter writes, the importer of that format reads as
// the same. rapidcheck prints the seed that repeats a failure.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <set>

#include "base/random.h"
#include "emit/emitter.h"
#include "emit/network_ports.h"
#include "import/dump_test_support.h"
#include "import/network_dump.h"
#include "import/server_sketch.h"

namespace weft::emit {
namespace {

using fabric::DeviceId;
using fabric::DeviceKind;
using fabric::Fabric;
using fabric::LinkKind;
using import::NetworkDump;
using import::ServerSketch;

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : random_(seed, 0) {}
  std::size_t pick(std::size_t low, std::size_t high) {
    return low + random_.below(high - low + 1);
  }
  bool chance(std::size_t percent) { return random_.below(100) < percent; }

 private:
  RandomStream random_;
};

std::string written(const Emitter& emitter, const Fabric& f) {
  return emitter.write(f, {"test", 1, 1});
}

// Two or three tiers, every switch above the leaves over some of the tier below. `one_leaf`: all
// NICs of a host on one leaf, as Slurm has it; else anywhere, and switches joined at random.
class RandomNetwork {
 public:
  RandomNetwork(std::uint64_t seed, bool one_leaf) : dice_(seed), one_leaf_(one_leaf) {}

  Fabric build() {
    const std::size_t leaves = dice_.pick(1, 5);
    std::vector<std::size_t> below;
    for (std::size_t i = 0; i < leaves; ++i) below.push_back(add_switch("leaf", 1));
    add_hosts(below);
    const std::size_t tiers = dice_.pick(1, 3);
    for (std::size_t tier = 2; tier <= tiers; ++tier) below = add_tier(below, tier);
    for (int i = 0; !one_leaf_ && i < 3; ++i) {
      const std::size_t a = dice_.pick(0, dump_.switches.size() - 1);
      const std::size_t b = dice_.pick(0, dump_.switches.size() - 1);
      if (a != b) join({true, a, 0, 0}, {true, b, 0, 0});
    }
    return import::build_network(dump_, import::dump_test_context());
  }

 private:
  std::size_t add_switch(const char* word, std::size_t tier) {
    NetworkDump::Switch device;
    device.name = fmt::format("{}{}", word, dump_.switches.size());
    device.tier = static_cast<int>(tier);
    dump_.switches.push_back(std::move(device));
    return dump_.switches.size() - 1;
  }

  void add_hosts(const std::vector<std::size_t>& leaves) {
    for (const std::size_t leaf : leaves) {
      for (std::size_t n = dice_.pick(1, 4); n > 0; --n) {
        NetworkDump::Host host;
        host.name = fmt::format("{}{}", dice_.chance(70) ? "n" : "m", dump_.hosts.size());
        host.gpus = dice_.chance(50);
        host.nics.resize(dice_.pick(1, 3));
        dump_.hosts.push_back(std::move(host));
        for (std::size_t nic = 0; nic < dump_.hosts.back().nics.size(); ++nic) {
          const std::size_t at = one_leaf_ ? leaf : leaves[dice_.pick(0, leaves.size() - 1)];
          join({false, dump_.hosts.size() - 1, nic, 1}, {true, at, 0, 0});
        }
      }
    }
  }

  std::vector<std::size_t> add_tier(const std::vector<std::size_t>& below, std::size_t tier) {
    std::vector<std::size_t> level;
    for (std::size_t i = dice_.pick(1, 3); i > 0; --i) {
      level.push_back(add_switch("top", tier));
      bool any = false;
      for (const std::size_t lower : below) {
        if (dice_.chance(30)) continue;
        any = true;
        for (std::size_t c = dice_.pick(1, 3); c > 0; --c)
          join({true, lower, 0, 0}, {true, level.back(), 0, 0});
      }
      if (!any) join({true, below.front(), 0, 0}, {true, level.back(), 0, 0});
    }
    return level;
  }

  void join(NetworkDump::End a, NetworkDump::End b) {
    NetworkDump::Cable cable;
    cable.a = a;
    cable.b = b;
    cable.link = import::network_link(import::shipped_catalogue(), LinkKind::infiniband,
                                      BitRate::gigabits_per_second(400));
    dump_.cables.push_back(std::move(cable));
  }

  Dice dice_;
  bool one_leaf_;
  NetworkDump dump_;
};

// "name[port]" of both ends, both ways.
std::multiset<std::string> cables_of(const Fabric& f) {
  std::multiset<std::string> cables;
  for (const DeviceId device : network_devices(f)) {
    for (const NetworkPort& port : network_ports(f, device))
      cables.insert(fmt::format("{}[{}] {}[{}]", f.name(device), port.number,
                                f.name(f.to(port.link)), arrival_port(f, port.link)));
  }
  return cables;
}

std::string_view server_of(std::string_view device) {
  return device.substr(0, device.rfind('/'));
}

// Which switch is cabled to which switch or server.
std::set<std::string> edges_of(const Fabric& f) {
  std::set<std::string> edges;
  for (const DeviceId s : f.of_kind(DeviceKind::network_switch)) {
    for (const fabric::LinkId link : f.out_links(s))
      edges.insert(fmt::format("{} {}", f.name(s), server_of(f.name(f.to(link)))));
  }
  return edges;
}

// The servers that reach each other through the network, as sets.
std::set<std::set<std::string>> islands_of(const Fabric& f) {
  std::set<std::set<std::string>> islands;
  std::set<std::string> seen;
  std::map<std::string, std::set<std::string>> next;
  for (const std::string& edge : edges_of(f)) {
    const std::size_t cut = edge.find(' ');
    next[edge.substr(0, cut)].insert(edge.substr(cut + 1));
    next[edge.substr(cut + 1)].insert(edge.substr(0, cut));
  }
  for (const auto& [name, unused] : next) {
    std::vector<std::string> queue = {name};
    std::set<std::string> servers;
    while (!queue.empty()) {
      const std::string at = queue.back();
      queue.pop_back();
      if (!seen.insert(at).second) continue;
      if (!f.find(at)) servers.insert(at);  // servers are no devices
      queue.insert(queue.end(), next[at].begin(), next[at].end());
    }
    if (!servers.empty()) islands.insert(servers);
  }
  return islands;
}

TEST(RoundTrip, AnyNetworkComesBackFromIbsim) {
  EXPECT_TRUE(rc::check("ibsim_net", [](std::uint64_t seed) {
    const Fabric f = RandomNetwork(seed, false).build();
    RC_ASSERT(cables_of(f) == cables_of(import::import_dump(written(ibsim_net_emitter(), f))));
  }));
}

TEST(RoundTrip, AnyTreeComesBackFromTopologyConf) {
  EXPECT_TRUE(rc::check("slurm_topology trees", [](std::uint64_t seed) {
    const Fabric f = RandomNetwork(seed, true).build();
    const std::string text = written(slurm_topology_emitter(), f);
    RC_LOG() << text;
    RC_ASSERT(edges_of(f) == edges_of(import::import_dump(text)));
  }));
}

TEST(RoundTrip, TopologyConfKeepsWhoReachesWhom) {
  EXPECT_TRUE(rc::check("slurm_topology networks", [](std::uint64_t seed) {
    const Fabric f = RandomNetwork(seed, false).build();
    const std::string text = written(slurm_topology_emitter(), f);
    RC_LOG() << text;
    RC_ASSERT(islands_of(f) == islands_of(import::import_dump(text)));
  }));
}

// One to three CPUs, PCIe trees of random shape, GPUs and NICs anywhere; NVLinks direct, over one
// or several chips, or none.
class RandomServer {
 public:
  explicit RandomServer(std::uint64_t seed) : dice_(seed) {}

  Fabric build() {
    const std::size_t cpus = dice_.pick(1, 3);
    for (std::size_t c = 0; c < cpus; ++c) {
      ServerSketch::Cpu cpu;
      cpu.numa = static_cast<int>(c);
      cpu.vendor = dice_.chance(50) ? fabric::Vendor::intel : fabric::Vendor::amd;
      cpu.family = cpu.vendor == fabric::Vendor::intel ? 6 : 25;
      cpu.model = 85;
      cpu.cpu_affinity = fmt::format("{}-{}", c * 40, c * 40 + 39);
      sketch_.cpus.push_back(cpu);
      sketch_.host_bridges.push_back({c});
    }
    for (std::size_t s = dice_.pick(0, 5); s > 0; --s) add(ServerSketch::Kind::pcie_switch);
    for (std::size_t g = dice_.pick(1, 8); g > 0; --g) add(ServerSketch::Kind::gpu);
    for (std::size_t n = dice_.pick(0, 6); n > 0; --n) add(ServerSketch::Kind::nic);
    add_nvlinks();
    return import::build_servers({sketch_}, import::shipped_catalogue());
  }

 private:
  void add(ServerSketch::Kind kind) {
    ServerSketch::Node node;
    node.kind = kind;
    node.host_bridge = dice_.pick(0, sketch_.host_bridges.size() - 1);
    const auto switches = sketch_.of_kind(ServerSketch::Kind::pcie_switch);
    if (!switches.empty() && dice_.chance(70)) {
      node.parent = switches[dice_.pick(0, switches.size() - 1)];
      node.host_bridge = sketch_.nodes[*node.parent].host_bridge;
    }
    node.link = {static_cast<int>(dice_.pick(3, 5)), 16};
    node.compute_capability = kind == ServerSketch::Kind::gpu ? 80 : 0;
    node.port_rate = BitRate::gigabits_per_second(200);
    sketch_.nodes.push_back(std::move(node));
  }

  void add_nvlinks() {
    sketch_.lists_peers = true;
    const auto gpus = sketch_.of_kind(ServerSketch::Kind::gpu);
    const std::size_t way = dice_.pick(0, 2);
    const std::size_t chips = dice_.pick(1, 4);
    for (std::size_t a = 0; way > 0 && a < gpus.size(); ++a) {
      for (std::size_t chip = 0; way == 1 && chip < chips; ++chip)
        sketch_.peers.push_back({LinkKind::nvlink, gpus[a], ServerSketch::End::nvswitch, chip, 2});
      for (std::size_t b = a + 1; way == 2 && b < gpus.size(); ++b) {
        if (dice_.chance(50))
          sketch_.peers.push_back({LinkKind::nvlink, gpus[a], ServerSketch::End::gpu, gpus[b],
                                   static_cast<int>(dice_.pick(1, 4))});
      }
    }
  }

  Dice dice_;
  ServerSketch sketch_;
};

TEST(RoundTrip, AnyServerComesBackFromNcclXml) {
  EXPECT_TRUE(rc::check("nccl_xml", [](std::uint64_t seed) {
    const Fabric f = RandomServer(seed).build();
    const std::string text = written(nccl_xml_emitter(), f);
    RC_LOG() << text;
    const Fabric again = import::import_dump(text);
    const auto before = fabric::topology_matrix(f, fabric::ServerId(0));
    const auto after = fabric::topology_matrix(again, fabric::ServerId(0));
    RC_ASSERT(before.cells == after.cells);
    RC_ASSERT(before.cpu_affinity == after.cpu_affinity);
  }));
}

}  // namespace
}  // namespace weft::emit
