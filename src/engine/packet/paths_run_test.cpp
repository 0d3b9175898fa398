// Which way packets take, and what is sent again, in the packet engine.
#include <gtest/gtest.h>

#include "engine/packet/packet_run.h"
#include "engine/packet/test_network.h"

namespace weft::engine::packet {
namespace {

using testing::Outcome;
using testing::run;
using testing::TestNetwork;

constexpr std::int64_t kFull = 83'560;  // ps: 4178 B at 400 Gb/s

routing::RouteOptions by(routing::Policy policy) {
  routing::RouteOptions options;
  options.policy = policy;
  return options;
}

// Three senders whose first windows overflow a queue of 200 kB and whom DCTCP then holds: both
// kinds of repeat bring everything, but going back sends again what had arrived already.
TEST(Selective, RepeatsOnlyWhatWasLost) {
  const auto lossy = [](bool selective) {
    TestNetwork network(1, 4, 0);
    network.setup.packet.queue_limit = Bytes(200'000);
    network.setup.packet.congestion = "dctcp";
    network.setup.packet.mark_from = network.setup.packet.mark_all = Bytes(60'000);
    network.setup.packet.window = 1;
    network.setup.packet.selective_repeat = selective;
    network.setup.packet.retransmission_timeout = Duration::microseconds(200);
    for (std::size_t from = 1; from < 4; ++from) network.transfer(from, 0, Bytes(4096 * 2000));
    return run(network);
  };
  const Outcome back = lossy(false), selective = lossy(true);
  EXPECT_EQ(selective.result.flows.size(), 3u);
  // Every loss is repeated once; a repeat may be lost too.
  EXPECT_GT(selective.counters.drops, 0u);
  EXPECT_GE(selective.counters.retransmitted, selective.counters.drops);
  EXPECT_LT(static_cast<double>(selective.counters.retransmitted),
            1.05 * static_cast<double>(selective.counters.drops));
  EXPECT_GT(static_cast<double>(back.counters.retransmitted),
            1.3 * static_cast<double>(back.counters.drops));
}

// Without a loss there is nothing to repeat, and a lone flow takes exactly what it takes otherwise.
TEST(Selective, WithoutLossNothingChanges) {
  TestNetwork network(2, 2, 1);
  network.setup.packet.selective_repeat = true;
  network.transfer(0, 2, Bytes(4096 * 1000));
  const Outcome out = run(network);
  EXPECT_EQ(out.result.completion,
            network.latency(0, 2) + Duration::picoseconds((1000 + 3) * kFull));
  EXPECT_EQ(out.counters.nacks, 0u);
}

// A permutation across leaves with eight spines: switches that look at their queues keep it near
// the time of a lone flow, and a flow alone takes its closed form, whichever spines it meets.
TEST(Adaptive, SwitchesTakeTheShortestQueue) {
  const auto permutation = [](routing::Policy policy) {
    TestNetwork network(4, 8, 8, by(policy));
    for (std::size_t from = 0; from < 32; ++from)
      network.transfer(from, (from + 8) % 32, Bytes(4096 * 500));
    return run(network).result.completion.to_microseconds();
  };
  TestNetwork lone(4, 8, 8, by(routing::Policy::adaptive));
  lone.transfer(0, 8, Bytes(4096 * 500));
  const Duration alone = lone.latency(0, 8) + Duration::picoseconds((500 + 3) * kFull);
  EXPECT_EQ(run(lone).result.completion, alone);
  EXPECT_LT(permutation(routing::Policy::adaptive), 1.1 * alone.to_microseconds());
  EXPECT_GT(permutation(routing::Policy::ecmp), 1.5 * alone.to_microseconds());
}

// Six flows over six spines fill every uplink: choosing by queue is no worse than taking turns.
TEST(Adaptive, FillsEveryUplink) {
  const auto time = [](routing::Policy policy) {
    TestNetwork network(2, 6, 6, by(policy));
    for (std::size_t from = 0; from < 6; ++from)
      network.transfer(from, 6 + from, Bytes(4096 * 1000));
    return run(network).result.completion.to_microseconds();
  };
  EXPECT_LE(time(routing::Policy::adaptive), 1.02 * time(routing::Policy::spray));
}

// A lone flow's packets are 83.56 ns apart: with a gap of 100 us it keeps its way, with one of 50
// ns every packet is a burst of its own and draws one of the eight ways.
TEST(Flowlet, ChangesItsWayOnlyAfterAPause) {
  const auto spines_used = [](Duration gap) {
    TestNetwork network(2, 2, 8, by(routing::Policy::flowlet));
    network.setup.packet.flowlet_gap = gap;
    network.transfer(0, 2, Bytes(4096 * 400));
    const Outcome out = run(network);
    std::size_t used = 0;
    for (const auto& link : out.result.links) {
      const std::string name = network.setup.fabric->link_name(link.link);
      if (name.find("leaf0 -> spine") != std::string::npos && link.wire_bytes > 20 * 4178) ++used;
    }
    return used;
  };
  EXPECT_EQ(spines_used(Duration::microseconds(100)), 1u);
  EXPECT_GE(spines_used(Duration::nanoseconds(50)), 6u);
}

}  // namespace
}  // namespace weft::engine::packet
