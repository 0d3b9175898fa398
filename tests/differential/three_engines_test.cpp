// Analytic, flow and packet engine on the same work: every algorithm and every collective it can
// run on leaf-spine, fat-tree, rail and torus, without congestion. Large messages, so that the
// closed form is bound by bandwidth.
//
// What makes congestion, and so a real difference, is taken out of the fabrics: routes spread
// packets (hashed flows collide), and switches have twice as many cables up as down (a fabric with
// every uplink full has queues: random arrivals at load 1). NICs serve their flows in turn, not the
// oldest first, so what enters a pipeline late leaves it late; that costs up to 3 %, and up to 9 %
// where the tree of nvls_tree fills the NICs of inner nodes both ways and every message waits for
// another.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>

#include "base/errors.h"
#include "engine/analytic/analytic_engine.h"
#include "engine/flow/flow_engine.h"
#include "engine/packet/packet_engine.h"
#include "engine/test_cluster.h"
#include "fabric/test_servers.h"
#include "topology/topology.h"

namespace weft {
namespace {

struct Case {
  const char* topology;
  int radix;
  std::map<std::string, double> parameters;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> kCases = {
      {"leaf_spine", 32, {{"leaf_hosts", 8}, {"oversubscription", 0.5}}},
      {"fat_tree",
       32,
       {{"tiers", 3}, {"leaf_hosts", 8}, {"oversubscription", 0.5}, {"oversubscription_2", 0.5}}},
      {"rail", 64, {{"tiers", 2}, {"servers_per_leaf", 1}, {"oversubscription", 0.5}}},
      {"torus", 64, {{"dim_1", 2}, {"dim_2", 2}, {"links", 16}}},
  };
  return kCases;
}

// Four servers of eight GPUs, of which two each take part, or one each; and one server alone.
class ThreeEngines : public ::testing::TestWithParam<std::size_t> {
 protected:
  void SetUp() override {
    const Case& c = cases()[GetParam()];
    const fabric::Fabric server = fabric::testing::hgx({.multicast = true});
    topology::Inputs inputs;
    inputs.servers.assign(4, &server);
    inputs.parameters = c.parameters;
    inputs.switch_class.kind = fabric::DeviceKind::network_switch;
    inputs.switch_class.model = "switch";
    inputs.switch_class.radix = c.radix;
    inputs.host_link = fabric::testing::cable(fabric::LinkKind::infiniband, 5);
    inputs.fabric_link = fabric::testing::cable(fabric::LinkKind::infiniband, 30);
    const topology::Topology* row = topology::find_topology(c.topology);
    ASSERT_EQ(row->refuse(inputs), std::vector<std::string>{});
    fabric_ = std::make_unique<fabric::Fabric>(row->build(inputs));
    routes_ = std::make_unique<routing::Routes>(
        *fabric_, routing::RouteOptions{.policy = routing::Policy::spray});
    setup.fabric = fabric_.get();
    setup.routes = routes_.get();
    setup.constants = engine::testing::ideal_constants();
    setup.work.groups.resize(3);
    for (std::size_t i = 0; i < fabric_->of_kind(fabric::DeviceKind::gpu).size(); ++i) {
      setup.work.rank_gpu.push_back(static_cast<std::uint32_t>(i));
      if (i % 8 < 2) setup.work.groups[0].emplace_back(i);
      if (i < 8) setup.work.groups[1].emplace_back(i);
      if (i % 8 == 0) setup.work.groups[2].emplace_back(i);
    }
  }

  // False when the algorithm cannot run it.
  bool compare(const collective::Algorithm& algorithm, work::CollectiveKind kind,
               std::size_t group) {
    SCOPED_TRACE(fmt::format("{} {} group {}", algorithm.name(), work::to_text(kind), group));
    work::CollectiveOp op;
    op.kind = kind;
    op.group = work::GroupId(group);
    op.size = Bytes::mib(group == 0 ? 32 : 16);
    op.protocol = "simple";
    op.algorithm = algorithm.name();
    if (work::is_moe(op.kind)) {
      op.moe = work::dispatch_shape();
      op.size = op.moe->size();
      op.protocol.clear();
    }
    setup.work.ops = {work::Op{op, Instant(), {}, ""}};
    double analytic = 0, packet = 0;
    try {
      analytic = engine::analytic_engine().run(setup, nullptr).completion.to_microseconds();
      packet = engine::packet_engine().run(setup, nullptr).completion.to_microseconds();
    } catch (const InputError&) {
      return false;  // refused, with a reason
    }
    const double flow = engine::flow_engine().run(setup, nullptr).completion.to_microseconds();
    const double tolerance = algorithm.name() == "nvls_tree" ? 0.09 : 0.03;
    EXPECT_NEAR(flow, analytic, 0.03 * analytic);
    EXPECT_NEAR(packet, analytic, tolerance * analytic);
    return true;
  }

  engine::Setup setup;

 private:
  std::unique_ptr<fabric::Fabric> fabric_;
  std::unique_ptr<routing::Routes> routes_;
};

TEST_P(ThreeEngines, AgreeOnEveryCollective) {
  std::set<std::string_view> ran;
  for (const collective::Algorithm* algorithm : collective::all_algorithms())
    for (std::size_t kind = 0; kind < work::kCollectiveKindCount; ++kind)
      for (std::size_t group = 0; group < 3; ++group)
        if (compare(*algorithm, static_cast<work::CollectiveKind>(kind), group))
          ran.insert(algorithm->name());
  // The packet engine has no switches that reduce.
  for (const collective::Algorithm* algorithm : collective::all_algorithms())
    EXPECT_EQ(ran.contains(algorithm->name()), !algorithm->name().starts_with("collnet"))
        << algorithm->name();
}

INSTANTIATE_TEST_SUITE_P(Topologies, ThreeEngines, ::testing::Range(std::size_t{0}, std::size_t{4}),
                         [](const auto& row) { return cases()[row.param].topology; });

}  // namespace
}  // namespace weft
