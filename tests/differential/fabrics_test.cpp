// What the wiring and the routing of a network do to the same work, in both engines.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>

#include "engine/analytic/analytic_engine.h"
#include "engine/flow/flow_engine.h"
#include "engine/test_cluster.h"
#include "fabric/test_servers.h"
#include "topology/topology.h"

namespace weft {
namespace {

using fabric::DeviceId;
using fabric::DeviceKind;
using fabric::LinkId;

// Servers under a topology with 400G links, and a Setup over it.
class Network {
 public:
  Network(const fabric::Fabric& server, std::size_t servers, std::string_view topology, int radix,
          std::map<std::string, double> parameters = {},
          routing::Policy policy = routing::Policy::ecmp) {
    topology::Inputs inputs;
    inputs.servers.assign(servers, &server);
    inputs.parameters = std::move(parameters);
    inputs.switch_class.kind = DeviceKind::network_switch;
    inputs.switch_class.model = "switch";
    inputs.switch_class.radix = radix;
    inputs.host_link = fabric::testing::cable(fabric::LinkKind::infiniband, 5);
    inputs.fabric_link = fabric::testing::cable(fabric::LinkKind::infiniband, 30);
    const topology::Topology* row = topology::find_topology(topology);
    EXPECT_EQ(row->refuse(inputs), std::vector<std::string>{});
    fabric_ = std::make_unique<fabric::Fabric>(row->build(inputs));
    routes_ = std::make_unique<routing::Routes>(*fabric_, routing::RouteOptions{.policy = policy});
    setup.fabric = fabric_.get();
    setup.routes = routes_.get();
    setup.constants = engine::testing::ideal_constants();
    setup.work.groups.emplace_back();
    for (std::size_t i = 0; i < fabric_->of_kind(DeviceKind::gpu).size(); ++i) {
      setup.work.rank_gpu.push_back(static_cast<std::uint32_t>(i));
      setup.work.groups[0].emplace_back(i);
    }
  }

  void add_collective(work::CollectiveKind kind, Bytes size, std::string algorithm = {}) {
    work::CollectiveOp op;
    op.kind = kind;
    op.group = work::GroupId(std::size_t{0});
    op.size = size;
    op.algorithm = std::move(algorithm);
    setup.work.ops.push_back({op, Instant(), {}, ""});
  }
  void add_transfer(std::size_t from, std::size_t to, Bytes size) {
    setup.work.ops.push_back(
        {work::Transfer{work::RankId(from), work::RankId(to), size}, Instant(), {}, ""});
  }

  [[nodiscard]] result::Result flow() const { return engine::flow_engine().run(setup, nullptr); }
  [[nodiscard]] double flow_s() const { return flow().completion.to_seconds(); }
  [[nodiscard]] double analytic_s() const {
    return engine::analytic_engine().run(setup, nullptr).completion.to_seconds();
  }
  [[nodiscard]] const fabric::Fabric& fabric() const { return *fabric_; }
  [[nodiscard]] const routing::Routes& routes() const { return *routes_; }

  engine::Setup setup;

 private:
  std::unique_ptr<fabric::Fabric> fabric_;
  std::unique_ptr<routing::Routes> routes_;
};

// DeepSeek trained on a multi-plane network as fast as on a rail-optimised one (ISCA 2025, table 4:
// 19.926 against 19.946 s a step). Every rail's bytes stay in its rail or cross NVLink first, so
// the planes need no link between them.
TEST(MultiPlane, TakesTheTimeOfARailNetwork) {
  const fabric::Fabric server = fabric::testing::hgx();
  for (const auto kind : {work::CollectiveKind::all_reduce, work::CollectiveKind::all_to_all}) {
    Network rail(server, 4, "rail", 8, {{"tiers", 2}});
    Network planes(server, 4, "multi_plane", 8);
    Network rails_only(server, 4, "rail_only", 8);
    for (Network* network : {&rail, &planes, &rails_only})
      network->add_collective(kind, Bytes(64 << 20));
    EXPECT_NEAR(planes.flow_s(), rail.flow_s(), 0.01 * rail.flow_s());
    EXPECT_NEAR(rails_only.flow_s(), rail.flow_s(), 0.01 * rail.flow_s());
    EXPECT_NEAR(planes.analytic_s(), planes.flow_s(), 0.03 * planes.flow_s());
  }
}

// 4 servers of 8 GPUs, all_to_all of 32 MiB, 1 MiB to every rank, asked of `direct`. A server sends
// 8 x 24 MiB out; each NIC carries what is meant for its rail, 8 GPUs x 3 servers x 1 MiB = 24 MiB,
// and 7 GPUs x 3 MiB of that came over NVLink.
TEST(RailOnly, RelaysBytesForOtherRails) {
  Network network(fabric::testing::hgx(), 4, "rail_only", 8);
  network.add_collective(work::CollectiveKind::all_to_all, Bytes(32 << 20), "direct");
  const result::Result result = network.flow();
  std::map<std::string, double> nic_bytes;
  for (const auto& link : result.links) {
    if (network.fabric().kind(network.fabric().from(link.link)) == DeviceKind::nic &&
        fabric::is_network(network.fabric().link_class(link.link).kind)) {
      nic_bytes[network.fabric().link_name(link.link)] = link.wire_bytes;
    }
  }
  EXPECT_EQ(nic_bytes.size(), 32u);
  for (const auto& [name, bytes] : nic_bytes) {
    EXPECT_GT(bytes, 24.0 * (1 << 20)) << name;
    EXPECT_LT(bytes, 1.05 * 24 * (1 << 20)) << name;  // packet headers
  }
  EXPECT_NEAR(network.analytic_s(), result.completion.to_seconds(),
              0.03 * result.completion.to_seconds());
}

// Between GPUs of two rails there is no direct route; the path takes NICs of one rail and says so.
TEST(RailOnly, PathBetweenRailsSaysHowItGoes) {
  const Network network(fabric::testing::hgx(), 2, "rail_only", 8);
  const fabric::NetworkRoute route = [&](DeviceId from, DeviceId to, std::uint64_t entropy,
                                         std::vector<LinkId>& out) {
    network.routes().path(from, to, entropy, out);
  };
  fabric::PathQuery query;
  query.source = *network.fabric().find("node0/gpu0");
  query.destination = *network.fabric().find("node1/gpu3");
  const auto answer = fabric::find_data_path(network.fabric(), network.setup.costs, route, query);
  ASSERT_TRUE(answer.path.has_value());
  EXPECT_EQ(answer.path->note.find("no network route from node0/nic0 to node1/nic3: "), 0u)
      << answer.path->note;
  query.source_nic = *network.fabric().find("node0/nic0");
  query.destination_nic = *network.fabric().find("node1/nic3");
  query.via = fabric::Via::gdr;
  EXPECT_EQ(fabric::find_data_path(network.fabric(), network.setup.costs, route, query).refusal,
            "no network route from node0/nic0 to node1/nic3");
}

// Two sites 100 km apart, 490 us one way, two servers each. All-to-all crosses once. A ring over
// all servers crosses twice: all_gather takes a chunk round it once, all_reduce twice. What
// distance adds is that many times 490 us, whatever else the collective takes.
TEST(ScaleAcross, DependentStepsPayForTheDistance) {
  const fabric::Fabric server = fabric::testing::hgx();
  struct Case {
    work::CollectiveKind kind;
    const char* algorithm;
    int crossings;
  };
  for (const Case& c : {Case{work::CollectiveKind::all_to_all, "direct", 1},
                        Case{work::CollectiveKind::all_gather, "ring", 2},
                        Case{work::CollectiveKind::all_reduce, "ring", 4}}) {
    const auto seconds_at = [&](double km) {
      Network network(server, 4, "scale_across", 64, {{"distance_km", km}});
      network.add_collective(c.kind, Bytes(1 << 20), c.algorithm);
      EXPECT_NEAR(network.analytic_s(), network.flow_s(), 0.03 * network.flow_s());
      return network.flow_s();
    };
    EXPECT_NEAR(seconds_at(100) - seconds_at(0), c.crossings * 490e-6, 1e-9) << c.algorithm;
  }
  Network network(server, 2, "scale_across", 64, {{"distance_km", 100}});
  network.add_transfer(0, 8, Bytes(8));
  EXPECT_GT(network.flow_s(), 490e-6);
}

// Two leaves of 8 one-GPU servers with 8 cables between, 8 flows from one leaf to the other.
// Hashed, the fullest cable carries m of them and the work takes m times what one flow takes;
// sprayed, each cable carries 8 x 1/8.
TEST(Spray, BeatsHashedPathsOnAPermutation) {
  const fabric::Fabric server = fabric::testing::small_server();
  const std::size_t gpus = server.of_kind(DeviceKind::gpu).size();
  const std::map<std::string, double> wiring = {{"leaf_hosts", 8}, {"spines", 8}};
  Network one(server, 16, "leaf_spine", 16, wiring);
  Network hashed(server, 16, "leaf_spine", 16, wiring);
  Network sprayed(server, 16, "leaf_spine", 16, wiring, routing::Policy::spray);
  const Bytes size(std::int64_t{64} << 20);
  one.add_transfer(0, 8 * gpus, size);
  for (Network* network : {&hashed, &sprayed}) {
    for (std::size_t i = 0; i < 8; ++i) network->add_transfer(i * gpus, (8 + i) * gpus, size);
  }
  const double alone = one.flow_s();
  const result::Result result = hashed.flow();
  double fullest = 0, usual = 0;  // bytes on a cable between switches, and on a NIC's
  for (const auto& link : result.links) {
    const DeviceKind from = hashed.fabric().kind(hashed.fabric().from(link.link));
    const DeviceKind to = hashed.fabric().kind(hashed.fabric().to(link.link));
    if (from == DeviceKind::nic && to == DeviceKind::network_switch) usual = link.wire_bytes;
    if (from == DeviceKind::network_switch && to == from) {
      fullest = std::max(fullest, link.wire_bytes);
    }
  }
  const double collisions = fullest / usual;
  EXPECT_GE(collisions, 2);  // 8 flows on 8 cables: no collision with 8!/8^8 = 0.24 %
  EXPECT_NEAR(hashed.flow_s(), collisions * alone, 0.02 * collisions * alone);
  EXPECT_NEAR(sprayed.flow_s(), alone, 0.01 * alone);
}

}  // namespace
}  // namespace weft
