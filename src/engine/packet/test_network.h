// Small Ethernet networks of hosts with one GPU and one NIC, 400 Gb/s and 1 us a link, for the
// tests of the packet engine. Test code only.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <vector>

#include "engine/packet/packet_engine.h"
#include "engine/packet/packet_run.h"
#include "fabric/test_servers.h"

namespace weft::engine::packet::testing {

struct TestNetwork {
  // Hosts fill the leaves in order; every leaf has a link to every spine.
  TestNetwork(int leaves, int hosts_per_leaf, int spines, routing::RouteOptions options = {}) {
    using namespace fabric;
    const Fabric server = fabric::testing::small_server();
    FabricBuilder b;
    const int hosts = leaves * hosts_per_leaf;
    std::vector<DeviceId> first;
    for (int h = 0; h < hosts; ++h) first.push_back(b.append_server(server, fmt::format("h{}", h)));
    DeviceClass switch_class = fabric::testing::device(DeviceKind::network_switch, "switch");
    switch_class.forwarding_latency = Duration::nanoseconds(500);
    const auto c = b.device_class(switch_class);
    LinkClass cable = fabric::testing::cable(LinkKind::ethernet, 5);
    cable.latency = Duration::microseconds(1);
    const auto link = b.link_class(cable);
    const DeviceId nic = server.of_kind(DeviceKind::nic).front();
    std::vector<DeviceId> leaf, spine;
    for (int l = 0; l < leaves; ++l)
      leaf.push_back(b.add_device(c, {.name = fmt::format("leaf{}", l), .tier = 1}));
    for (int s = 0; s < spines; ++s)
      spine.push_back(b.add_device(c, {.name = fmt::format("spine{}", s), .tier = 2}));
    for (int h = 0; h < hosts; ++h)
      b.add_link({DeviceId(first[static_cast<std::size_t>(h)].index() + nic.index()),
                  leaf[static_cast<std::size_t>(h / hosts_per_leaf)]},
                 link);
    for (const DeviceId l : leaf)
      for (const DeviceId s : spine) b.add_link({l, s}, link);
    fabric_ = std::make_unique<Fabric>(std::move(b).build());
    routes_ = std::make_unique<routing::Routes>(*fabric_, options);
    setup.fabric = fabric_.get();
    setup.routes = routes_.get();
    setup.costs.network.name = "rocev2";
    setup.costs.network.overhead = Bytes(82);
    setup.work.groups.emplace_back();
    for (int h = 0; h < hosts; ++h) {
      setup.work.rank_gpu.push_back(static_cast<std::uint32_t>(h));
      setup.work.groups[0].emplace_back(static_cast<std::size_t>(h));
    }
  }

  work::OpId transfer(std::size_t from, std::size_t to, Bytes size,
                      std::vector<work::OpId> after = {}) {
    setup.work.ops.push_back(
        {work::Transfer{work::RankId(from), work::RankId(to), size}, {}, std::move(after), {}});
    return work::OpId(setup.work.ops.size() - 1);
  }
  // One-way latency of the data path between two hosts: software, DMA, wires and switches.
  [[nodiscard]] Duration latency(std::size_t from, std::size_t to) const {
    const auto gpus = fabric_->of_kind(fabric::DeviceKind::gpu);
    const fabric::NetworkRoute route =
        [this](fabric::DeviceId a, fabric::DeviceId b, std::uint64_t entropy,
               std::vector<fabric::LinkId>& out) { routes_->path(a, b, entropy, out); };
    fabric::PathQuery query;
    query.source = gpus[from];
    query.destination = gpus[to];
    return fabric::find_data_path(*fabric_, setup.costs, route, query).path.value().latency;
  }
  // Of the links between a GPU and its NIC, devices on the way included.
  [[nodiscard]] Duration inner_latency() const {
    const auto gpus = fabric_->of_kind(fabric::DeviceKind::gpu);
    const auto nics = fabric_->of_kind(fabric::DeviceKind::nic);
    const auto links = fabric::inner_route(*fabric_, gpus[0], nics[0]);
    Duration total = setup.costs.host_bridge_forwarding;
    for (const fabric::LinkId link : links) total += fabric_->link_class(link).latency;
    return total;
  }
  [[nodiscard]] result::Result run() const { return packet_engine().run(setup, nullptr); }

  Setup setup;

 private:
  std::unique_ptr<fabric::Fabric> fabric_;
  std::unique_ptr<routing::Routes> routes_;
};

// The counters besides the result.
struct Outcome {
  result::Result result;
  Counters counters;
};
inline Outcome run(const TestNetwork& network) {
  PacketRun run(network.setup, nullptr);
  Outcome out;
  out.result = run.run();
  out.counters = run.counters();
  return out;
}

}  // namespace weft::engine::packet::testing
