// Pauses, buffers and congestion control in the packet engine.
#include <gtest/gtest.h>

#include "base/errors.h"
#include "engine/packet/connector.h"
#include "engine/packet/packet_run.h"
#include "engine/packet/test_network.h"

namespace weft::engine::packet {
namespace {

using testing::Outcome;
using testing::run;
using testing::TestNetwork;

constexpr std::int64_t kFull = 83'560;  // ps: 4178 B at 400 Gb/s

TestNetwork incast(int senders, double window) {
  TestNetwork network(1, senders + 1, 0);
  network.setup.packet.flow_control = "pfc";
  network.setup.packet.window = window;
  network.setup.packet.switch_buffer = Bytes(4'000'000);
  for (int from = 1; from <= senders; ++from)
    network.transfer(static_cast<std::size_t>(from), 0, Bytes(4096 * 2000));
  return network;
}

// A gate takes the time that a link without one does.
TEST(Pfc, WithoutCongestionNothingChanges) {
  TestNetwork network(2, 2, 1);
  network.setup.packet.flow_control = "pfc";
  network.transfer(0, 2, Bytes(4096 * 1000));
  const Outcome out = run(network);
  EXPECT_EQ(out.result.completion,
            network.latency(0, 2) + Duration::picoseconds((1000 + 3) * kFull));
  EXPECT_EQ(out.counters.pauses, 0u);
}

// Two senders with windows far beyond the buffer into one port, pauses alone hold them: each gets
// half, nothing is lost.
TEST(Pfc, TwoToOneIsFairAndLosesNothing) {
  const TestNetwork network = incast(2, 200);
  const Outcome out = run(network);
  EXPECT_GT(out.counters.pauses, 0u);
  EXPECT_EQ(out.counters.drops, 0u);
  const double both = 4000 * kFull * 1e-6;
  for (const result::FlowRecord& flow : out.result.flows)
    EXPECT_NEAR((flow.end - flow.start).to_microseconds(), both, 0.05 * both);
}

TEST(Pfc, EightToOneFillsTheLinkAndLosesNothing) {
  const Outcome out = run(incast(8, 50));
  EXPECT_GT(out.counters.pauses, 0u);
  EXPECT_EQ(out.counters.drops, 0u);
  const double bound = 16000 * kFull * 1e-6;
  EXPECT_NEAR(out.result.completion.to_microseconds(), bound, 0.02 * bound);
}

// With less headroom than is under way when the pause is decided, packets find no room. 2 us of
// wire both ways, the sender's reaction and frames are about 170 kB.
TEST(Pfc, TooLittleHeadroomDrops) {
  TestNetwork network = incast(2, 200);
  network.setup.packet.headroom = Bytes(20'000);
  network.setup.packet.retransmission_timeout = Duration::microseconds(200);
  const Outcome out = run(network);
  EXPECT_GT(out.counters.drops, 0u);
  EXPECT_EQ(out.result.flows.size(), 2u);
}

// A victim: h3 sends to h4 on other ports, but its leaf's ingress from the spine is paused by the
// incast into h0. Pauses spread to flows that have nothing to do with the congestion.
TEST(Pfc, PausesSpreadToInnocentFlows) {
  const auto victim_time = [](bool congested) {
    TestNetwork network(2, 6, 1);
    network.setup.packet.flow_control = "pfc";
    network.setup.packet.window = 50;
    network.setup.packet.switch_buffer = Bytes(6'000'000);
    network.transfer(6, 5, Bytes(4096 * 500));
    for (std::size_t from = 1; from <= 4 && congested; ++from)
      network.transfer(from, 0, Bytes(4096 * 2000));
    for (std::size_t from = 7; from <= 10 && congested; ++from)
      network.transfer(from, 0, Bytes(4096 * 2000));
    const result::Result result = network.run();
    return (result.flows[0].end - result.flows[0].start).to_microseconds();
  };
  EXPECT_GT(victim_time(true), 3 * victim_time(false));
}

class Deadlock : public ::testing::TestWithParam<const char*> {};

TEST_P(Deadlock, ReportsACircleOfWaitingLinks) {
  // A ring of three switches with two hosts each, every packet two switches clockwise: with small
  // buffers each link waits for the next.
  using namespace fabric;
  const Fabric server = fabric::testing::small_server();
  FabricBuilder b;
  std::vector<DeviceId> hosts;
  for (int h = 0; h < 6; ++h) hosts.push_back(b.append_server(server, fmt::format("h{}", h)));
  const DeviceId nic = server.of_kind(DeviceKind::nic).front();
  const auto c = b.device_class(fabric::testing::device(DeviceKind::network_switch, "switch"));
  const auto cable = b.link_class(fabric::testing::cable(LinkKind::ethernet, 5));
  std::vector<DeviceId> ring;
  for (int s = 0; s < 3; ++s)
    ring.push_back(b.add_device(c, {.name = fmt::format("s{}", s), .tier = 1}));
  std::vector<LinkId> clockwise, up;
  for (std::size_t s = 0; s < 3; ++s)
    clockwise.push_back(b.add_link({ring[s], ring[(s + 1) % 3]}, cable));
  for (std::size_t h = 0; h < 6; ++h)
    up.push_back(b.add_link({DeviceId(hosts[h].index() + nic.index()), ring[h / 2]}, cable));
  const Fabric fabric = std::move(b).build();
  PacketOptions options;
  options.flow_control = GetParam();
  options.switch_buffer = Bytes(900'000);
  options.credit_buffer = Bytes(65'536);
  Simulator simulator(fabric, options);
  struct Nobody : Client {
    void flow_progress(std::uint32_t, std::uint32_t, bool) override {}
    void flow_sent(std::uint32_t) override {}
    void timer(std::uint32_t) override {}
  } nobody;
  const auto latency = Duration::nanoseconds(700).ps();
  for (std::size_t h = 0; h < 6; ++h) {
    const std::size_t s = h / 2;
    const std::vector<Segment> path = {{up[h], 1, latency},
                                       {clockwise[s], 1, latency},
                                       {clockwise[(s + 1) % 3], 1, latency},
                                       {fabric::reverse(up[(h + 4) % 6]), 1, latency}};
    Connection connection;
    connection.path = simulator.network().add_path(path);
    connection.ack_path = kNone;
    connection.overhead = 82;
    FlowSpec spec;
    spec.connection = simulator.add_connection(connection);
    spec.bytes = 40'000'000;
    simulator.start_flow(spec);
  }
  simulator.run(nobody);
  EXPECT_EQ(simulator.unfinished(), 6u);
  EXPECT_NE(simulator.wait_chain().find("waits for s"), std::string::npos)
      << simulator.wait_chain();
}

INSTANTIATE_TEST_SUITE_P(FlowControls, Deadlock, ::testing::Values("pfc", "credit"));

// A receive buffer of 1024 blocks and a credit loop of T carry 65,536 B a loop: a packet takes its
// serialisation, the wire to the switch and the switch (1.5 us), its serialisation there, and its
// credit the wire back with 8 B.
TEST(Credits, ShortBufferLimitsTheRateToBufferOverLoop) {
  TestNetwork network(1, 2, 0);
  network.setup.packet.flow_control = "credit";
  network.setup.packet.credit_buffer = Bytes(65'536);
  network.setup.packet.window = 20;
  network.transfer(0, 1, Bytes(4096 * 4000));
  const Outcome out = run(network);
  EXPECT_GT(out.counters.credit_waits, 0u);
  EXPECT_EQ(out.counters.drops, 0u);
  // The folded link also has what lies between GPU and NIC.
  const double inside = network.inner_latency().to_seconds();
  const double loop = 2 * kFull * 1e-12 + 1.5e-6 + inside + 1e-6 + 8 * 20e-12;
  // 15 packets of 66 blocks fit 1024 blocks.
  const double expected = 15 * 4096 / loop;
  const double seconds = (out.result.completion - network.latency(0, 1)).to_seconds();
  EXPECT_NEAR(4096 * 4000 / seconds, expected, 0.02 * expected);
}

TEST(Credits, EnoughBufferCostsNothing) {
  TestNetwork network(2, 2, 1);
  network.setup.packet.flow_control = "credit";
  network.transfer(0, 2, Bytes(4096 * 1000));
  EXPECT_EQ(run(network).result.completion,
            network.latency(0, 2) + Duration::picoseconds((1000 + 3) * kFull));
}

TEST(Credits, EightToOneFillsTheLinkAndLosesNothing) {
  TestNetwork network = incast(8, 50);
  network.setup.packet.flow_control = "credit";
  const Outcome out = run(network);
  EXPECT_EQ(out.counters.drops, 0u);
  const double bound = 16000 * kFull * 1e-6;
  EXPECT_NEAR(out.result.completion.to_microseconds(), bound, 0.02 * bound);
  for (const result::FlowRecord& flow : out.result.flows)
    EXPECT_NEAR((flow.end - flow.start).to_microseconds(), bound, 0.05 * bound);
}

// DCTCP's queue settles about its threshold, so two flows over one 400 Gb/s port keep it in use:
// more than 99 % once the first round trips are over, when alpha is still 1 and both windows are
// marked. What the beginning costs is the same for short flows and long ones.
TEST(DctcpEngine, TwoFlowsKeepTheLinkBusy) {
  const auto run_with = [](std::int64_t packets) {
    TestNetwork network(1, 3, 0);
    network.setup.packet.window = 6;
    network.setup.packet.congestion = "dctcp";
    network.setup.packet.mark_from = network.setup.packet.mark_all = Bytes(120'000);
    for (const std::size_t from : {1u, 2u}) network.transfer(from, 0, Bytes(4096 * packets));
    return run(network);
  };
  const Outcome brief = run_with(4000), extended = run_with(16000);
  EXPECT_GT(extended.counters.marks, 0u);
  const double bound = 2 * 12000 * kFull * 1e-6;
  const Duration more = extended.result.completion - brief.result.completion;
  EXPECT_LT(more.to_microseconds(), 1.01 * bound);
  const auto& flows = extended.result.flows;
  EXPECT_NEAR(flows[0].end.since_start().to_microseconds(),
              flows[1].end.since_start().to_microseconds(), 0.05 * bound);
}

}  // namespace
}  // namespace weft::engine::packet
