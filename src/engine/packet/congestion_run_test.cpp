// Congestion controls in the packet engine: what a control's arithmetic makes of real queues.
#include <gtest/gtest.h>

#include "engine/packet/packet_run.h"
#include "engine/packet/test_network.h"

namespace weft::engine::packet {
namespace {

using testing::Outcome;
using testing::run;
using testing::TestNetwork;

constexpr std::int64_t kFull = 83'560;  // ps: 4178 B at 400 Gb/s

// `senders` hosts send `packets` packets each to one more.
TestNetwork incast(int senders, const char* control, std::int64_t packets) {
  TestNetwork network(1, senders + 1, 0);
  network.setup.packet.flow_control = "pfc";
  network.setup.packet.congestion = control;
  network.setup.packet.mark_by_rate = true;
  for (int from = 1; from <= senders; ++from)
    network.transfer(static_cast<std::size_t>(from), 0, Bytes(4096 * packets));
  return network;
}

double microseconds(Instant at) {
  return at.since_start().to_microseconds();
}

// What `more` packets of each of the flows take beyond `packets`, in us.
double marginal(int senders, const char* control, std::int64_t packets, std::int64_t more) {
  const Outcome brief = run(incast(senders, control, packets));
  const Outcome extended = run(incast(senders, control, packets + more));
  return (extended.result.completion - brief.result.completion).to_microseconds();
}

// Four senders into one link: CNPs flow and nothing is lost or paused. The start, with four windows
// in the queue at once, costs several of the 300 us steps; after it the link is in use.
TEST(DcqcnRun, HoldsAnIncastWithoutPauses) {
  const Outcome out = run(incast(4, "dcqcn", 4000));
  EXPECT_GT(out.counters.notifications, 0u);
  EXPECT_EQ(out.counters.drops, 0u);
  EXPECT_EQ(out.counters.pauses, 0u);
  const double bound = 4 * 20'000 * kFull * 1e-6;
  EXPECT_LT(marginal(4, "dcqcn", 20'000, 20'000), 1.25 * bound);
}

// Two flows over one 40 Gb/s port, the paper's constants (55 us, 10 MB, F = 5, R_AI 40 Mb/s), RED
// from 5 to 200 kB with 1 %: equal halves within 5 % over 40 ms, Jain's index above 0.99.
TEST(DcqcnRun, TwoFlowsShareFairlyWithThePapersConstants) {
  // 20 ms of 400 Gb/s stands for the paper's 40 Gb/s with all constants in proportion to the rate.
  TestNetwork network = incast(2, "dcqcn", 120'000);
  auto& packet = network.setup.packet;
  packet.window = 50;
  packet.mark_by_rate = false;
  packet.mark_from = Bytes(50'000);
  packet.mark_all = Bytes(2'000'000);
  packet.mark_probability = 0.01;
  packet.congestion_settings = {
      {"alpha_period", 55},    {"notification_gap", 50}, {"cut_period", 50},
      {"increase_period", 55}, {"increase_bytes", 1e8},  {"fast_steps", 5},
      {"additive", 1e-3},      {"hyper", 1e-2},          {"clamp_target", 1}};
  const Outcome out = run(network);
  const double a = microseconds(out.result.flows[0].end);
  const double b = microseconds(out.result.flows[1].end);
  EXPECT_NEAR(a, b, 0.05 * b);
  const double x = 1 / a, y = 1 / b;
  EXPECT_GT((x + y) * (x + y) / (2 * (x * x + y * y)), 0.99);
  EXPECT_LT(std::max(a, b), 1.25 * 240'000 * kFull * 1e-6);
}

// A lone flow settles at eta of the line: 0.95 x 400 Gb/s. W_AI adds (1 - eta) / 100 of the window
// a round trip, 0.05 % of the rate. Packets are 42 B longer.
TEST(HpccRun, OneFlowSettlesAt95PercentOfTheLine) {
  const double rate = 20'000 * 4220 * 8 / (marginal(1, "hpcc", 5000, 20'000) * 1e3);  // Gb/s
  EXPECT_NEAR(rate, 0.95 * 400, 0.002 * 400);
}

// Sixteen senders into one port: after the first round trip the queue is short, the port in use at
// eta, and shares are nearly equal.
TEST(HpccRun, IncastKeepsThePortAtEtaAndSharesEqually) {
  const double bound = 16 * 4000 * 84.4e-3;  // us: 4220 B at 400 Gb/s
  const double took = marginal(16, "hpcc", 4000, 4000);
  EXPECT_GT(took, bound);
  EXPECT_LT(took, bound / 0.95 * 1.03);
  const Outcome out = run(incast(16, "hpcc", 4000));
  EXPECT_EQ(out.counters.drops, 0u);
  // 800 kB of queue are marked: only the first round trip, sixteen whole windows, gets there.
  EXPECT_LT(static_cast<double>(out.counters.marks), 0.02 * 16 * 4000);
  double sum = 0, squares = 0;  // of mean rates: Jain's index
  for (const result::FlowRecord& flow : out.result.flows) {
    const double rate = 1 / microseconds(flow.end);
    sum += rate;
    squares += rate * rate;
  }
  EXPECT_GT(sum * sum / (16 * squares), 0.98);
}

// A short flow that crosses a port in use by HPCC meets next to no queue: less than 2 us, where
// DCQCN's marks begin at 800 kB or 16 us.
TEST(HpccRun, ShortFlowsMeetShortQueues) {
  const auto extra = [](const char* control) {
    TestNetwork network(1, 6, 0);
    network.setup.packet.flow_control = "pfc";
    network.setup.packet.congestion = control;
    network.setup.packet.mark_by_rate = true;
    for (std::size_t from = 1; from <= 4; ++from) network.transfer(from, 0, Bytes(4096 * 8000));
    const work::OpId wait(network.setup.work.ops.size());
    network.setup.work.ops.push_back(
        {work::Compute{work::RankId(5), Duration::microseconds(1500)}, {}, {}, {}});
    network.transfer(5, 0, Bytes(1000), {wait});
    const Outcome out = run(network);
    return (out.result.flows[4].end - out.result.flows[4].start - network.latency(5, 0))
        .to_microseconds();
  };
  EXPECT_LT(extra("hpcc"), 2);
  EXPECT_GT(extra("dctcp"), 2);
}

// InfiniBand's control on credits: roots of congestion mark, sources slow down, and the port stays
// in use. Its victims, ports that wait for credit, mark nothing.
TEST(IbCcRun, IncastIsHeldAtTheSources) {
  TestNetwork network = incast(8, "ib_cc", 4000);
  network.setup.packet.flow_control = "credit";
  network.setup.packet.mark_by_rate = false;
  network.setup.packet.mark_threshold = 8;  // half of 64 KiB
  const Outcome with = run(network);
  EXPECT_GT(with.counters.marks, 0u);
  EXPECT_EQ(with.counters.drops, 0u);
  network.setup.packet.congestion = "none";
  network.setup.packet.mark_threshold.reset();
  const Outcome without = run(network);
  EXPECT_LT(with.counters.credit_waits, without.counters.credit_waits / 2);
  const double bound = 8 * 4000 * kFull * 1e-6;
  EXPECT_LT(with.result.completion.to_microseconds(), 1.2 * bound);
}

// Marking_Rate 3 marks one eligible packet of four.
TEST(IbCcRun, MarkingRateThinsTheMarks) {
  const auto marks = [](int rate) {
    TestNetwork network = incast(8, "none", 2000);
    network.setup.packet.flow_control = "credit";
    network.setup.packet.mark_by_rate = false;
    network.setup.packet.mark_threshold = 15;
    network.setup.packet.marking_rate = rate;
    return static_cast<double>(run(network).counters.marks);
  };
  EXPECT_NEAR(marks(3) / marks(0), 0.25, 0.02);
}

}  // namespace
}  // namespace weft::engine::packet
