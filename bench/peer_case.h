// The cases that Weft and SimGrid are both timed on: leaf-spine fabrics of 400 Gb/s links of 1 us
// each, hosts of one GPU and one NIC, no framing, and transfers that all start at once.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "engine/engine.h"
#include "engine/expand.h"
#include "fabric/test_servers.h"
#include "topology/topology.h"

namespace weft::bench {

struct LeafSpineShape {
  std::string name;
  std::size_t leaves = 0, hosts_per_leaf = 0, spines = 0;
  [[nodiscard]] std::size_t hosts() const { return leaves * hosts_per_leaf; }
};

inline const LeafSpineShape kLs128 = {"ls128", 8, 16, 16};
inline const LeafSpineShape kLs1024 = {"ls1024", 32, 32, 32};

inline fabric::LinkClass plain_link(fabric::LinkKind kind, std::int64_t gbps, Duration latency) {
  fabric::LinkClass link;
  link.kind = kind;
  link.name = std::string(fabric::to_text(kind));
  link.raw_rate = BitRate::gigabits_per_second(gbps);
  link.latency = latency;
  return link;
}

// A GPU behind its NIC. The link between them never limits.
inline fabric::Fabric plain_server() {
  fabric::FabricBuilder builder;
  builder.begin_server();
  using fabric::DeviceKind;
  const auto gpu = builder.add_device(
      builder.device_class(fabric::testing::device(DeviceKind::gpu, "gpu")), {.name = "gpu0"});
  const auto root = builder.add_device(
      builder.device_class(fabric::testing::device(DeviceKind::host_bridge, "root")),
      {.name = "root0"});
  const auto nic = builder.add_device(
      builder.device_class(fabric::testing::device(DeviceKind::nic, "nic")), {.name = "nic0"});
  const auto link = builder.link_class(plain_link(fabric::LinkKind::pcie, 800, Duration()));
  builder.add_link({gpu, root}, link);
  builder.add_link({root, nic}, link);
  builder.end_server();
  return std::move(builder).build();
}

// Nothing costs time but the wires.
inline fabric::PathCosts wires_only() {
  fabric::PathCosts costs;
  costs.network.overhead = Bytes(0);
  costs.network.nic_pair = Duration();
  costs.pcie_read_tags = 1 << 20;
  for (Duration* zero :
       {&costs.gpu_memory_access, &costs.post_wqe, &costs.doorbell, &costs.wqe_fetch,
        &costs.completion, &costs.gpu_direct_extra, &costs.memory_access,
        &costs.pcie_switch_forwarding, &costs.host_bridge_forwarding,
        &costs.infiniband_switch_forwarding, &costs.ethernet_switch_forwarding})
    *zero = Duration();
  return costs;
}

// A fabric, its routes and an engine's setup over it; rank r is host r.
class PeerCase {
 public:
  explicit PeerCase(const LeafSpineShape& shape) {
    const fabric::Fabric server = plain_server();
    topology::Inputs inputs;
    inputs.servers.assign(shape.hosts(), &server);
    inputs.switch_class = fabric::testing::device(fabric::DeviceKind::network_switch, "switch");
    inputs.switch_class.radix = static_cast<int>(2 * std::max(shape.hosts_per_leaf, shape.leaves));
    inputs.host_link = inputs.fabric_link =
        plain_link(fabric::LinkKind::ethernet, 400, Duration::microseconds(1));
    inputs.parameters["leaves"] = static_cast<double>(shape.leaves);
    inputs.parameters["spines"] = static_cast<double>(shape.spines);
    fabric_ =
        std::make_unique<fabric::Fabric>(topology::find_topology("leaf_spine")->build(inputs));
    routes_ = std::make_unique<routing::Routes>(*fabric_, routing::RouteOptions{});
    setup.fabric = fabric_.get();
    setup.routes = routes_.get();
    setup.costs = wires_only();
    for (std::size_t i = 0; i < shape.hosts(); ++i)
      setup.work.rank_gpu.push_back(static_cast<std::uint32_t>(i));
  }

  // Flows over shorter paths start later, so that all begin to move at one instant. (SimGrid's CM02
  // shares in inverse proportion to latency, which then is the same for all.)
  void align_starts() {
    engine::Expander expander(setup);
    std::vector<Duration> latency;
    Duration longest;
    for (std::size_t i = 0; i < setup.work.ops.size(); ++i) {
      latency.push_back(expander.expand(work::OpId(i)).latency);
      longest = std::max(longest, latency.back());
    }
    for (std::size_t i = 0; i < latency.size(); ++i)
      setup.work.ops[i].earliest = Instant::at(longest - latency[i]);
  }

  void add(std::size_t from, std::size_t to, Bytes size) {
    setup.work.ops.push_back(
        {work::Transfer{work::RankId(from), work::RankId(to), size}, {}, {}, {}});
  }
  // Every host sends once and receives once, nobody to itself.
  void permutation(Bytes size) {
    const std::size_t hosts = setup.work.rank_gpu.size();
    std::vector<std::size_t> to(hosts);
    for (std::size_t i = 0; i < hosts; ++i) to[i] = i;
    RandomStream random(1, hosts);
    for (std::size_t i = hosts; i-- > 1;) std::swap(to[i], to[random.below(i)]);  // one cycle
    for (std::size_t i = 0; i < hosts; ++i) add(i, to[i], size);
  }
  void all_to_all(std::size_t hosts, Bytes size) {
    for (std::size_t i = 0; i < hosts; ++i)
      for (std::size_t k = 1; k < hosts; ++k) add(i, (i + k) % hosts, size);
  }

  engine::Setup setup;

 private:
  std::unique_ptr<fabric::Fabric> fabric_;
  std::unique_ptr<routing::Routes> routes_;
};

}  // namespace weft::bench
