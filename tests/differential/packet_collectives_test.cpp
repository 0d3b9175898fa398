// Collectives, packet by packet, against the flow engine where nothing congests: the same work on
// the same fabric takes the same time. Sizes at which both bandwidth and latency matter.
#include <gtest/gtest.h>

#include "engine/flow/flow_engine.h"
#include "engine/packet/message_graph.h"
#include "engine/packet/packet_engine.h"
#include "engine/test_cluster.h"

namespace weft::engine {
namespace {

using work::CollectiveKind;

struct Case {
  CollectiveKind kind;
  const char* algorithm;
  Bytes size;
};

class Agreement : public ::testing::TestWithParam<Case> {};

// Two servers of eight GPUs and NICs each, every NIC on one leaf.
TEST_P(Agreement, PacketAndFlowAgreeWithin3Percent) {
  engine::testing::TestCluster cluster(fabric::testing::hgx({.multicast = true}));
  work::CollectiveOp op;
  op.kind = GetParam().kind;
  op.group = work::GroupId(0);
  op.size = GetParam().size;
  op.algorithm = GetParam().algorithm;
  op.protocol = "simple";
  cluster.add(op);
  const double flow = flow_engine().run(cluster.setup, nullptr).completion.to_microseconds();
  const result::Result packet = packet_engine().run(cluster.setup, nullptr);
  EXPECT_NEAR(packet.completion.to_microseconds(), flow, 0.03 * flow);
  EXPECT_EQ(packet.ops[0].algorithm, GetParam().algorithm);
}

INSTANTIATE_TEST_SUITE_P(
    Collectives, Agreement,
    ::testing::Values(Case{CollectiveKind::all_reduce, "ring", Bytes::mib(64)},
                      Case{CollectiveKind::all_reduce, "ring", Bytes::kib(64)},
                      Case{CollectiveKind::all_reduce, "tree", Bytes::mib(64)},
                      Case{CollectiveKind::all_gather, "ring", Bytes::mib(64)},
                      Case{CollectiveKind::reduce_scatter, "ring", Bytes::mib(64)},
                      Case{CollectiveKind::broadcast, "ring", Bytes::mib(64)},
                      Case{CollectiveKind::reduce, "ring", Bytes::mib(64)},
                      Case{CollectiveKind::all_to_all, "direct", Bytes::mib(64)},
                      Case{CollectiveKind::send_recv, "direct", Bytes::mib(16)}));

// NVSwitches reduce and multicast for one server's eight GPUs.
TEST(PacketCollectives, NvlsAgreesWithFlow) {
  const fabric::Fabric server = fabric::testing::hgx({.multicast = true});
  engine::testing::TestCluster cluster(server);
  cluster.setup.work.groups[0].resize(8);
  work::CollectiveOp op;
  op.kind = CollectiveKind::all_reduce;
  op.group = work::GroupId(0);
  op.size = Bytes::mib(64);
  op.algorithm = "nvls";
  cluster.add(op);
  const double flow = flow_engine().run(cluster.setup, nullptr).completion.to_microseconds();
  const double packet = packet_engine().run(cluster.setup, nullptr).completion.to_microseconds();
  EXPECT_NEAR(packet, flow, 0.03 * flow);
}

// Links carry what the fluid view says they do: payload, framing and protocol, every byte once.
TEST(PacketCollectives, LinksCarryTheSameBytesAsTheFluidView) {
  engine::testing::TestCluster cluster(fabric::testing::hgx());
  work::CollectiveOp op;
  op.kind = CollectiveKind::all_gather;
  op.group = work::GroupId(0);
  op.size = Bytes::mib(16);
  op.algorithm = "ring";
  op.protocol = "simple";
  cluster.add(op);
  const result::Result flow = flow_engine().run(cluster.setup, nullptr);
  const result::Result packet = packet_engine().run(cluster.setup, nullptr);
  double flow_bytes = 0, packet_bytes = 0;
  const auto network = [&](const result::LinkLoad& load) {
    const auto& link = cluster.setup.fabric->link_class(load.link);
    return fabric::is_network(link.kind) ? load.wire_bytes : 0;
  };
  for (const result::LinkLoad& load : flow.links) flow_bytes += network(load);
  for (const result::LinkLoad& load : packet.links) packet_bytes += network(load);
  // Acknowledgements, 86 B for four packets of 4122 B, are the packet engine's own.
  EXPECT_NEAR(packet_bytes, flow_bytes * (1 + 86.0 / (4 * 4122)), 0.01 * flow_bytes);
}

TEST(PacketCollectives, AComputationWaitsForTheCollectiveBeforeIt) {
  engine::testing::TestCluster cluster(fabric::testing::hgx());
  work::CollectiveOp op;
  op.kind = CollectiveKind::all_reduce;
  op.group = work::GroupId(0);
  op.size = Bytes::mib(1);
  const work::OpId first = cluster.add(op);
  const work::OpId compute =
      cluster.add(work::Compute{work::RankId(0), Duration::microseconds(50)}, {first});
  cluster.add(op, {compute});
  const result::Result result = packet_engine().run(cluster.setup, nullptr);
  EXPECT_EQ(result.ops[1].start, result.ops[0].end);
  EXPECT_EQ(result.ops[1].end - result.ops[1].start, Duration::microseconds(50));
  EXPECT_GT(result.ops[2].end, result.ops[2].start);
}

}  // namespace
}  // namespace weft::engine
