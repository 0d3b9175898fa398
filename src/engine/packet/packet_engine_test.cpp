// Transfers at packet fidelity against what can be worked out by hand.
#include "engine/packet/packet_engine.h"

#include <gtest/gtest.h>

#include "base/errors.h"
#include "engine/packet/test_network.h"

namespace weft::engine::packet {
namespace {

using testing::TestNetwork;

// A full packet, 4096 + 82 B, at 400 Gb/s: 4178 x 20 ps.
constexpr std::int64_t kFull = 83'560;

// Four links one after the other, each stores a packet before it sends it on: the last of N packets
// leaves its host at N x ser, then crosses three more links. The window of one bandwidth-delay
// product never stops the sender, so this is exact.
TEST(PacketEngine, LoneFlowTakesItsClosedForm) {
  TestNetwork network(2, 2, 1);
  network.transfer(0, 2, Bytes(4096 * 1000));
  const result::Result result = network.run();
  const Duration expected = network.latency(0, 2) + Duration::picoseconds((1000 + 3) * kFull);
  EXPECT_EQ(result.completion, expected);
  // Data cross 4 links; every fourth packet is acknowledged over 4 links.
  EXPECT_EQ(result.engine.packet_hops, 1000u * 4 + 250 * 4);
}

// 1 byte: one packet of 83 B on four links.
TEST(PacketEngine, OneByteIsOnePacket) {
  TestNetwork network(2, 2, 1);
  network.transfer(0, 2, Bytes(1));
  EXPECT_EQ(network.run().completion, network.latency(0, 2) + Duration::picoseconds(4 * 83 * 20));
}

TEST(PacketEngine, GoodputOfRoceV2Is98Percent) {
  // 400 Gb/s x 4096 / 4178 = 392.15 Gb/s.
  TestNetwork network(1, 2, 0);
  network.transfer(0, 1, Bytes::mib(256));
  const double seconds = network.run().completion.to_seconds();
  EXPECT_NEAR(static_cast<double>(Bytes::mib(256).bits()) / seconds * 1e-9, 392.15, 0.4);
}

// Two hosts send to a third: each gets half of its link, so both end at twice the time of one.
TEST(PacketEngine, TwoFlowsShareALinkFairly) {
  TestNetwork network(1, 3, 0);
  for (const std::size_t from : {0u, 1u}) network.transfer(from, 2, Bytes(4096 * 2000));
  const result::Result result = network.run();
  const double both = 4000 * kFull * 1e-6;  // us
  for (const result::FlowRecord& flow : result.flows)
    EXPECT_NEAR((flow.end - flow.start).to_microseconds(), both, 0.05 * both);
}

// From one host to two: its NIC takes their packets in turn.
TEST(PacketEngine, ANicServesItsFlowsInTurn) {
  TestNetwork network(1, 3, 0);
  network.transfer(0, 1, Bytes(4096 * 1000));
  network.transfer(0, 2, Bytes(4096 * 1000));
  const result::Result result = network.run();
  const Duration last = result.flows[1].end - result.flows[1].start;
  EXPECT_EQ(last, network.latency(0, 2) + Duration::picoseconds((2000 + 1) * kFull));
  EXPECT_LT((last - (result.flows[0].end - result.flows[0].start)).ps(), 20 * kFull);
}

TEST(PacketEngine, IncastOfEightFillsTheReceiversLink) {
  TestNetwork network(2, 8, 4);
  for (std::size_t from = 8; from < 16; ++from) network.transfer(from, 0, Bytes(4096 * 500));
  const result::Result result = network.run();
  const double bound = 8 * 500 * kFull * 1e-6;
  EXPECT_GE(result.completion.to_microseconds(), bound);
  EXPECT_LT(result.completion.to_microseconds(), bound + 12);
  EXPECT_EQ(result.bottleneck.name, "leaf0 -> h0/nic0");
  EXPECT_GT(result.bottleneck.share, 0.95);
}

// Each of 32 hosts sends to the next but ten: every host's link is used once each way. ECMP may put
// several flows on one uplink, never more than all 8 of a leaf.
TEST(PacketEngine, PermutationEndsBetweenItsBounds) {
  TestNetwork network(4, 8, 8);
  for (std::size_t from = 0; from < 32; ++from)
    network.transfer(from, (from + 10) % 32, Bytes(4096 * 300));
  const result::Result result = network.run();
  EXPECT_EQ(result.flows.size(), 32u);
  EXPECT_GE(result.completion.to_microseconds(), 300 * kFull * 1e-6);
  EXPECT_LT(result.completion.to_microseconds(), 8 * 300 * kFull * 1e-6 + 12);
}

// Sprayed over all eight spines no uplink is shared unevenly: a permutation across leaves takes
// what a lone flow takes, and what packets that overtake one another wait for.
TEST(PacketEngine, SprayingEndsCollisions) {
  routing::RouteOptions spray;
  spray.policy = routing::Policy::spray;
  TestNetwork network(4, 8, 8, spray);
  for (std::size_t from = 0; from < 32; ++from)
    network.transfer(from, (from + 8) % 32, Bytes(4096 * 500));
  const result::Result result = network.run();
  const double alone = network.latency(0, 8).to_microseconds() + 503 * kFull * 1e-6;
  EXPECT_GE(result.completion.to_microseconds(), alone);
  EXPECT_LT(result.completion.to_microseconds(), 1.15 * alone);
}

TEST(PacketEngine, TheSameWorkGivesTheSameBits) {
  const auto run = [] {
    TestNetwork network(4, 4, 2);
    network.setup.packet.mark_from = Bytes(50'000);
    network.setup.packet.mark_all = Bytes(200'000);
    network.setup.packet.queue_limit = Bytes(300'000);
    for (std::size_t from = 0; from < 16; ++from)
      network.transfer(from, (from * 5 + 3) % 16, Bytes(1'000'001));
    return network.run();
  };
  const result::Result a = run(), b = run();
  EXPECT_EQ(a.completion, b.completion);
  EXPECT_EQ(a.engine.events, b.engine.events);
  for (std::size_t i = 0; i < a.flows.size(); ++i) EXPECT_EQ(a.flows[i].end, b.flows[i].end);
}

// Queues of 100 kB overflow under an incast of 8 windows of about 400 kB: what is lost comes again,
// and all arrives.
TEST(PacketEngine, DroppedPacketsComeAgain) {
  TestNetwork network(2, 8, 4);
  network.setup.packet.queue_limit = Bytes(100'000);
  network.setup.packet.retransmission_timeout = Duration::microseconds(200);
  for (std::size_t from = 8; from < 16; ++from) network.transfer(from, 0, Bytes(4096 * 500));
  const result::Result result = network.run();
  EXPECT_EQ(result.flows.size(), 8u);
  EXPECT_GT(result.completion.to_microseconds(), 8 * 500 * kFull * 1e-6);
  EXPECT_LT(result.completion.to_seconds(), 0.1);
}

TEST(PacketEngine, OpsWaitForWhatTheyNeed) {
  TestNetwork network(1, 3, 0);
  const work::OpId first = network.transfer(0, 1, Bytes(4096));
  network.transfer(1, 2, Bytes(4096), {first});
  network.transfer(2, 2, Bytes(4096), {first});
  network.transfer(0, 2, Bytes(0));
  const result::Result result = network.run();
  const Duration one = network.latency(0, 1) + Duration::picoseconds(2 * kFull);
  EXPECT_EQ(result.completion, one + one);
  EXPECT_EQ(result.ops[2].start, result.ops[0].end);
  EXPECT_EQ(result.ops[2].end, result.ops[2].start);
  EXPECT_EQ(result.ops[3].end.since_start(), network.latency(0, 2));
}

TEST(PacketEngine, RefusesLinkChangesByName) {
  TestNetwork network(1, 2, 0);
  network.transfer(0, 1, Bytes(4096));
  network.setup.link_changes = {{Instant(), fabric::LinkId(0), 0.5}};
  try {
    static_cast<void>(network.run());
    FAIL() << "its links keep their rates";
  } catch (const InputError& error) {
    EXPECT_EQ(error.diagnostics()[0].what, "the packet engine has no link changes");
    EXPECT_FALSE(error.diagnostics()[0].hint.empty());
  }
}

}  // namespace
}  // namespace weft::engine::packet
