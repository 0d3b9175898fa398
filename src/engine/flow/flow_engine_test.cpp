// The flow engine on two servers: alone it is the data path's own time, together it is max-min.
#include "engine/flow/flow_engine.h"

#include <gtest/gtest.h>

#include <map>

#include "base/errors.h"
#include "engine/test_cluster.h"

namespace weft::engine {
namespace {

using fabric::testing::hgx;
using fabric::testing::ServerOptions;
using testing::TestCluster;
using namespace literals;

result::Result run(const TestCluster& cluster, result::Probe* probe = nullptr) {
  return flow_engine().run(cluster.setup, probe);
}

// Completions are rounded to a picosecond and rates to a bit per second.
void expect_time(Duration got, Duration expected) {
  EXPECT_NEAR(got.to_seconds(), expected.to_seconds(), 1e-9 * expected.to_seconds() + 2e-12);
}

TEST(FlowEngine, OneTransferTakesTheTimeOfItsDataPath) {
  for (const auto via : {fabric::Via::automatic, fabric::Via::staged, fabric::Via::tcp}) {
    TestCluster cluster(hgx());
    cluster.setup.options.via = via;
    cluster.transfer(0, 9, 64_MiB);
    expect_time(run(cluster).completion, cluster.path(0, 9).time(64_MiB));
  }
}

TEST(FlowEngine, InsideAServerToo) {
  TestCluster cluster(hgx());
  cluster.transfer(0, 5, 64_MiB);
  const result::Result result = run(cluster);
  expect_time(result.completion, cluster.path(0, 5).time(64_MiB));
  // NVLink through four switches: two links each.
  EXPECT_EQ(result.links.size(), 8u);
}

TEST(FlowEngine, TwoIntoOneNicShareIt) {
  // GPUs 0 and 1 of server a both send to GPU 8: both end at NIC 8's 50 GB/s port, so the second
  // half of the time is never alone: latency + 2 n / bandwidth.
  TestCluster cluster(hgx());
  cluster.transfer(0, 8, 64_MiB);
  cluster.transfer(1, 8, 64_MiB);
  const fabric::DataPath path = cluster.path(0, 8);
  const result::Result result = run(cluster);
  expect_time(
      result.completion,
      path.latency + Duration::from_seconds(2.0 * (64 << 20) / path.bandwidth.bytes_per_second()));
  EXPECT_EQ(result.bottleneck.name, "leaf0 -> c/nic0");
  EXPECT_GT(result.bottleneck.share, 0.99);
  EXPECT_NE(result.bottleneck.sentence.find("carries 100 % of its 50 GB/s for"), std::string::npos)
      << result.bottleneck.sentence;
}

TEST(FlowEngine, ALateStarterSlowsTheFirstOnlyWhileBothRun) {
  // b bytes/s alone. A sends n from 0; B sends n and starts h later. Until h A has moved b h, then
  // both move at b/2: A ends at h + 2 (n/b - h) = 2 n/b - h; B moved n - b h by then and the rest
  // alone: 2 n/b in all. Latencies are equal and shift everything.
  TestCluster cluster(hgx());
  const fabric::DataPath path = cluster.path(0, 8);
  const double b = path.bandwidth.bytes_per_second();
  const double n = 64 << 20;
  const Duration h = 300_us;
  const auto first = cluster.transfer(0, 8, 64_MiB);
  const auto second = cluster.add(
      work::Transfer{work::RankId(std::size_t{1}), work::RankId(std::size_t{8}), 64_MiB}, {},
      Instant::at(h));
  const result::Result result = run(cluster);
  expect_time(result.ops[first.index()].end.since_start(),
              path.latency + Duration::from_seconds(2 * n / b) - h);
  expect_time(result.ops[second.index()].end.since_start(),
              path.latency + Duration::from_seconds(2 * n / b));
}

TEST(FlowEngine, OpsWaitForDependenciesAndStartTimes) {
  TestCluster cluster(hgx());
  const work::RankId rank(std::size_t{3});
  const auto compute = cluster.add(work::Compute{rank, 100_us});
  const auto send = cluster.transfer(3, 11, 1_MiB, {compute});
  const auto late = cluster.add(work::Compute{rank, 10_us}, {compute}, Instant::at(500_us));
  const auto last = cluster.add(work::Compute{rank, 1_us}, {send, late});
  const result::Result result = run(cluster);
  EXPECT_EQ(result.ops[compute.index()].end, Instant::at(100_us));
  EXPECT_EQ(result.ops[send.index()].start, Instant::at(100_us));
  EXPECT_EQ(result.ops[late.index()].start, Instant::at(500_us));
  EXPECT_EQ(result.ops[last.index()].start, Instant::at(510_us));
  EXPECT_EQ(result.completion, 511_us);
  // On the critical path: 400 us of waiting for a start time, 111 us of computation.
  EXPECT_EQ(result.bottleneck.name, "start times");
  EXPECT_NEAR(result.bottleneck.share, 400.0 / 511, 1e-9);
}

// The link of `cluster` with this name.
fabric::LinkId link_named(const TestCluster& cluster, std::string_view from, std::string_view to) {
  const fabric::Fabric& fabric = *cluster.setup.fabric;
  return fabric.find_link(fabric.find(from).value(), fabric.find(to).value()).value();
}

TEST(FlowEngine, ALinkThatLosesHalfItsRateHalvesWhatIsLeft) {
  // n bytes at b bytes/s; at time t (after latency l) the link falls to b/2. Moved by then:
  // b (t - l). The rest takes (n - b (t - l)) / (b/2), so the end is t + 2 (n/b - (t - l)).
  TestCluster cluster(hgx());
  cluster.transfer(0, 8, 64_MiB);
  const fabric::DataPath path = cluster.path(0, 8);
  const Duration alone =
      Duration::from_seconds(64.0 * (1 << 20) / path.bandwidth.bytes_per_second());
  const Duration t = 500_us;
  const fabric::LinkId link = link_named(cluster, "leaf0", "c/nic0");
  cluster.setup.link_changes = {{Instant::at(t), link, 0.5}};
  const result::Result result = run(cluster);
  expect_time(result.completion, t + 2 * (alone - (t - path.latency)));
  EXPECT_NE(result.bottleneck.sentence.find("link_changes"), std::string::npos)
      << result.bottleneck.sentence;
  // Back to its full rate 200 us later: it moved half as much in these, so it ends 100 us late.
  cluster.setup.link_changes.push_back({Instant::at(t + 200_us), link, 1});
  expect_time(run(cluster).completion, path.latency + alone + 100_us);
}

TEST(FlowEngine, ALinkThatIsDownHoldsItsFlowsUntilItIsUp) {
  TestCluster cluster(hgx());
  cluster.transfer(0, 8, 64_MiB);
  cluster.transfer(1, 9, 64_MiB);  // by other NICs: not concerned
  const Duration alone = cluster.path(0, 8).time(64_MiB);
  const fabric::LinkId link = link_named(cluster, "a/nic0", "leaf0");
  cluster.setup.link_changes = {{Instant::at(100_us), link, 0}, {Instant::at(400_us), link, 1}};
  const result::Result result = run(cluster);
  expect_time(result.ops[0].end.since_start(), alone + 300_us);
  expect_time(result.ops[1].end.since_start(), cluster.path(1, 9).time(64_MiB));
  // Down from before the start, and never up again.
  cluster.setup.link_changes = {{Instant(), link, 0}};
  try {
    run(cluster);
    FAIL() << "nothing can end";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("op 0 never ends: a/nic0 -> leaf0 stays down"),
              std::string::npos)
        << error.what();
  }
}

TEST(FlowEngine, ComputationOverlapsCommunication) {
  // Backward of two layers, 1000 us each on ranks 0 and 1; the all-reduce of layer 1 (64 MiB) runs
  // under layer 0's computation, that of layer 0 after it. Only the second is seen.
  const auto step = [](bool overlap) {
    TestCluster cluster(hgx());
    std::vector<work::OpId> layer[2];
    for (int l = 0; l < 2; ++l)
      for (std::size_t rank = 0; rank < 2; ++rank)
        layer[l].push_back(cluster.add(
            work::Compute{work::RankId(rank), 1000_us},
            l == 0 ? std::vector<work::OpId>{} : std::vector<work::OpId>{layer[0][rank]}));
    work::CollectiveOp reduce;
    reduce.group = work::GroupId(std::size_t{0});
    reduce.size = 64_MiB;
    const auto first = cluster.add(reduce, overlap ? layer[0] : layer[1]);
    auto both = layer[1];
    both.push_back(first);
    cluster.add(reduce, both);
    return run(cluster).completion;
  };
  TestCluster alone(hgx());
  work::CollectiveOp reduce;
  reduce.group = work::GroupId(std::size_t{0});
  reduce.size = 64_MiB;
  alone.add(reduce);
  const Duration reduction = run(alone).completion;
  ASSERT_LT(reduction, 1000_us);
  EXPECT_EQ(step(true), 2000_us + reduction);
  EXPECT_EQ(step(false), 2000_us + 2 * reduction);
}

TEST(FlowEngine, SmallMessagesWaitForLatency) {
  TestCluster cluster(hgx());
  cluster.transfer(0, 8, Bytes(8));
  EXPECT_EQ(run(cluster).bottleneck.name, "latency");
}

TEST(FlowEngine, NothingToMoveTakesLatencyOnly) {
  TestCluster cluster(hgx());
  cluster.transfer(0, 8, Bytes(0));
  EXPECT_EQ(run(cluster).completion, cluster.path(0, 8).latency);
  TestCluster same(hgx());
  same.transfer(4, 4, 1_GiB);  // already there
  EXPECT_EQ(run(same).completion, Duration());
}

// Adds up rate x time of every op.
class ByteCounter : public result::Probe {
 public:
  void flow_rate(std::uint32_t flow, Instant when, BitRate rate) override {
    settle(flow, when);
    rate_[flow] = rate.bytes_per_second();
  }
  void op_ended(work::OpId op, Instant when) override {
    settle(op.value, when);
    rate_[op.value] = 0;
  }
  std::map<std::uint32_t, double> bytes;

 private:
  void settle(std::uint32_t flow, Instant when) {
    bytes[flow] += rate_[flow] * (when - since_[flow]).to_seconds();
    since_[flow] = when;
  }
  std::map<std::uint32_t, double> rate_;
  std::map<std::uint32_t, Instant> since_;
};

TEST(FlowEngine, DeliversEveryByteAskedFor) {
  TestCluster cluster(hgx(), false);
  for (std::size_t i = 0; i < 40; ++i)
    cluster.transfer(i * 7 % 16, (i * 5 + 3) % 16,
                     Bytes(static_cast<std::int64_t>(1'000'003 * (i + 1))));
  ByteCounter counter;
  const result::Result result = run(cluster, &counter);
  ASSERT_EQ(result.flows.size(), 40u);
  for (const result::FlowRecord& flow : result.flows) {
    if (flow.from == flow.to) continue;
    // Rates are reported to a bit per second, times to a picosecond.
    EXPECT_NEAR(counter.bytes[flow.op.value], flow.size.to_double(),
                1e-6 * flow.size.to_double() + 1);
  }
  for (const result::LinkLoad& load : result.links) EXPECT_LE(load.utilisation, 1 + 1e-9);
}

TEST(FlowEngine, LinksCarryTheFramedBytesOfTheirFlows) {
  // One leaf link carries both flows: twice the payload and its packet headers.
  TestCluster cluster(hgx());
  cluster.transfer(0, 8, 64_MiB);
  cluster.transfer(1, 8, 64_MiB);
  const result::Result result = run(cluster);
  const fabric::NetworkCosts& network = cluster.setup.costs.network;
  const double framed = (network.mtu + network.overhead).to_double() / network.mtu.to_double();
  double found = 0;
  for (const result::LinkLoad& load : result.links)
    if (cluster.setup.fabric->link_name(load.link) == "leaf0 -> c/nic0") found = load.wire_bytes;
  EXPECT_NEAR(found, 2.0 * (64 << 20) * framed, 1);
}

TEST(FlowEngine, QueuePairsOfOneConnectionShareItsLimit) {
  // All on one leaf: four queue pairs take the same links, so nothing is gained or lost.
  TestCluster one(hgx());
  one.transfer(0, 8, 64_MiB);
  TestCluster four(hgx());
  four.setup.options.queue_pairs = 4;
  four.transfer(0, 8, 64_MiB);
  for (TestCluster* cluster : {&one, &four}) cluster->setup.options.via = fabric::Via::tcp;
  const result::Result slow = run(one);
  expect_time(run(four).completion, slow.completion);
  EXPECT_FALSE(slow.bottleneck.link.valid());  // a core's copies, not a link
  EXPECT_FALSE(slow.bottleneck.name.empty());
}

TEST(FlowEngine, SaysWhyAnOpCannotRun) {
  TestCluster cluster(hgx());
  cluster.setup.options.via = fabric::Via::nvlink;
  cluster.transfer(0, 8, 1_MiB);
  cluster.setup.work.ops[0].label = "weights";
  try {
    run(cluster);
    FAIL() << "two servers have no NVLink between them";
  } catch (const InputError& error) {
    EXPECT_NE(error.diagnostics()[0].what.find("op 0 (weights) cannot run: no NVLink joins"),
              std::string::npos)
        << error.what();
  }
}

TEST(FlowEngine, OneEventSetIsOneSolve) {
  // 16 equal transfers in a ring of ranks start and end together: one solve when they begin to
  // move, one when they are gone.
  TestCluster cluster(hgx());
  for (std::size_t i = 0; i < 8; ++i) cluster.transfer(i, i + 8, 8_MiB);
  const result::Result result = run(cluster);
  EXPECT_EQ(result.engine.rate_solves, 2u);
  EXPECT_EQ(result.engine.events, 8u * 3);  // start, first byte, last byte
}

TEST(FlowEngine, RunsTheSameTwice) {
  TestCluster cluster(hgx(), false);
  for (std::size_t i = 0; i < 60; ++i)
    cluster.transfer(i * 3 % 16, (i * 11 + 5) % 16,
                     Bytes(static_cast<std::int64_t>(777'777 * (i + 1))));
  const result::Result a = run(cluster);
  const result::Result b = run(cluster);
  ASSERT_EQ(a.ops.size(), b.ops.size());
  for (std::size_t i = 0; i < a.ops.size(); ++i) EXPECT_EQ(a.ops[i].end, b.ops[i].end);
  EXPECT_EQ(a.engine.rate_solves, b.engine.rate_solves);
}

}  // namespace
}  // namespace weft::engine
