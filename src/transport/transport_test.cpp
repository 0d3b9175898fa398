#include "transport/transport.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "fabric/test_servers.h"

namespace weft::transport {
namespace {

double goodput(std::string_view name, std::int64_t mtu) {
  const fabric::NetworkCosts costs = find_transport(name)->costs(Bytes(mtu));
  return costs.mtu.to_double() / (costs.mtu + costs.overhead).to_double();
}

TEST(Transport, GoodputIsPayloadOverWireBytes) {
  EXPECT_NEAR(goodput("infiniband", 4096), 0.9937, 5e-5);  // 4096 / 4122
  EXPECT_NEAR(goodput("infiniband", 2048), 0.9875, 5e-5);  // 2048 / 2074
  EXPECT_NEAR(goodput("rocev2", 4096), 0.9804, 5e-5);      // 4096 / 4178
  EXPECT_NEAR(goodput("rocev2", 1024), 0.9259, 5e-5);      // 1024 / 1106
  EXPECT_NEAR(goodput("rocev1", 4096), 0.9776, 5e-5);      // 4096 / 4190
  EXPECT_NEAR(goodput("tcp", 1500), 0.9415, 5e-5);         // 1448 / 1538
  EXPECT_NEAR(goodput("tcp", 9000), 0.9900, 5e-5);         // 8948 / 9038
  EXPECT_NEAR(goodput("iwarp", 1500), 0.9363, 5e-5);       // 1440 / 1538
  EXPECT_NEAR(goodput("iwarp", 9000), 0.9892, 5e-5);       // 8940 / 9038
}

TEST(Transport, FourHundredGigabitsOfRoce) {
  // 400 x 4096/4178 and 400 x 1024/1106 Gb/s.
  EXPECT_NEAR(400 * goodput("rocev2", 4096), 392.15, 0.01);
  EXPECT_NEAR(400 * goodput("rocev2", 1024), 370.34, 0.01);
}

TEST(TransportConformance, EveryRowHoldsTogether) {
  std::set<std::string_view> names;
  for (const Transport* t : all_transports()) {
    SCOPED_TRACE(std::string(t->name()));
    EXPECT_TRUE(names.insert(t->name()).second);
    EXPECT_EQ(find_transport(t->name()), t);
    EXPECT_FALSE(t->summary().empty());
    EXPECT_TRUE(t->allows_mtu(t->default_mtu()));
    const fabric::NetworkCosts costs = t->costs(t->default_mtu());
    EXPECT_EQ(costs.name, t->name());
    const std::vector<HeaderPart> headers = t->headers();
    EXPECT_EQ(total_size(headers), costs.overhead);
    std::set<std::string> parts;
    for (const HeaderPart& part : headers) {
      EXPECT_GT(part.size, Bytes(0));
      EXPECT_TRUE(parts.insert(part.name).second) << part.name;
    }
    EXPECT_GT(costs.mtu, costs.overhead);
    EXPECT_LE(costs.mtu, t->default_mtu());
    EXPECT_GT(costs.nic_pair, Duration());
  }
  EXPECT_EQ(find_transport("carrier-pigeon"), nullptr);
}

TEST(TransportConformance, SmallerPacketsWasteMore) {
  for (const Transport* t : all_transports()) {
    const bool rdma_mtu = t->allows_mtu(Bytes(4096)) && !t->allows_mtu(Bytes(1500));
    const std::int64_t small = rdma_mtu ? 1024 : 1500;
    EXPECT_LT(goodput(t->name(), small), goodput(t->name(), t->default_mtu().count()));
    EXPECT_FALSE(t->allows_mtu(Bytes(10))) << t->name();
    EXPECT_DEATH((void)t->costs(Bytes(10)), "");
  }
}

// Every stack carries bytes between two servers under one switch, at the rate its framing leaves or
// what one core manages; only RoCE v1 is stopped by a router.
TEST(TransportConformance, EveryRowMovesDataAcrossAFabric) {
  using fabric::testing::cluster;
  for (const Transport* t : all_transports()) {
    SCOPED_TRACE(std::string(t->name()));
    fabric::PathCosts costs;
    costs.network = t->costs(t->default_mtu());
    const auto kind =
        t->name() == "infiniband" ? fabric::LinkKind::infiniband : fabric::LinkKind::ethernet;
    for (const bool one_leaf : {true, false}) {
      const auto c = cluster(fabric::testing::hgx(), kind, one_leaf);
      fabric::PathQuery query;
      query.source = c.at("a/cpu0");
      query.destination = c.at("c/cpu0");
      query.via = costs.network.rdma ? fabric::Via::rdma : fabric::Via::tcp;
      const auto answer =
          fabric::find_data_path(c.fabric, costs, fabric::testing::shortest_route(c.fabric), query);
      EXPECT_EQ(answer.path.has_value(), one_leaf || costs.network.routable) << answer.refusal;
      if (!answer.path || !costs.network.rdma) continue;
      const double left = goodput(t->name(), t->default_mtu().count());
      EXPECT_NEAR(answer.path->bandwidth.gbps(), 400 * left, 0.01);
    }
  }
}

TEST(TransportRegistry, EveryFileHasARow) {
  const std::filesystem::path folder = std::filesystem::path(WEFT_SOURCE_DIR) / "src/transport";
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string stem = entry.path().stem().string();
    if (entry.path().extension() != ".cpp" || stem.starts_with("transport")) continue;
    EXPECT_NE(find_transport(stem), nullptr) << stem << " has no row in list.def";
    ++files;
  }
  EXPECT_EQ(files, all_transports().size());
}

}  // namespace
}  // namespace weft::transport
