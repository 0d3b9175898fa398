#include <gtest/gtest.h>

#include <map>

#include "engine/packet/test_network.h"

namespace weft::engine::packet {
namespace {

using testing::TestNetwork;

struct Recorder final : result::Probe {
  bool watches(fabric::LinkId) override { return true; }
  void flow_opened(const result::PacketFlow& flow, Instant) override { flows.push_back(flow); }
  void packet_joined(const result::SeenPacket&, Instant, Bytes queue, bool marked) override {
    ++joined;
    marks += marked ? 1 : 0;
    longest = std::max(longest, queue.count());
  }
  void packet_dropped(const result::SeenPacket&, Instant) override { ++drops; }
  void packet_sent(const result::SeenPacket& packet, Instant first, Instant last) override {
    bytes[packet.link] += packet.wire_bytes;
    EXPECT_LE(free[packet.link], first);  // a link sends one packet at a time, in order
    free[packet.link] = last;
    if (packet.kind == result::PacketKind::data) {
      again += packet.again ? 1 : 0;
      busy = last - first;
    }
  }
  void pause_sent(fabric::LinkId, Instant, bool stop) override { pauses += stop ? 1 : 0; }
  void link_held(fabric::LinkId link, Instant when, result::Hold, bool stop) override {
    EXPECT_NE(held.contains(link), stop);  // stop and go take turns
    if (stop) {
      held[link] = when;
    } else {
      held.erase(link);
      ++holds;
    }
  }

  std::vector<result::PacketFlow> flows;
  std::map<fabric::LinkId, std::int64_t> bytes;
  std::map<fabric::LinkId, Instant> free, held;
  std::uint64_t joined = 0, marks = 0, drops = 0, again = 0, pauses = 0, holds = 0;
  std::int64_t longest = 0;
  Duration busy;
};

result::Result run(const TestNetwork& network, Recorder& recorder) {
  return packet_engine().run(network.setup, &recorder);
}

TEST(Watch, SeesEveryPacketOfEveryLink) {
  TestNetwork network(1, 2, 0);
  network.transfer(0, 1, Bytes(4096 * 10 + 100));
  Recorder recorder;
  const result::Result result = run(network, recorder);
  ASSERT_EQ(recorder.flows.size(), 1u);
  EXPECT_EQ(recorder.flows[0].packets, 11u);
  EXPECT_EQ(recorder.flows[0].last_payload, 100u);
  EXPECT_EQ(network.setup.fabric->kind(recorder.flows[0].from), fabric::DeviceKind::nic);
  EXPECT_NE(recorder.flows[0].from, recorder.flows[0].to);
  // 11 packets over two links (host to leaf, leaf to host), and 3 acknowledgements (after the 4th,
  // the 8th and the last) over two as well.
  EXPECT_EQ(recorder.joined, 11u * 2 + 3u * 2);
  EXPECT_EQ(recorder.joined, result.engine.packet_hops);
  for (const result::LinkLoad& load : result.links) {
    if (!recorder.bytes.contains(load.link)) continue;  // inside the chain of another
    EXPECT_EQ(static_cast<double>(recorder.bytes[load.link]), load.wire_bytes);
  }
  // The last packet, 100 + 82 B, takes 182 x 20 ps at 400 Gb/s.
  EXPECT_EQ(recorder.busy.ps(), 182 * 20);
}

TEST(Watch, MarksAndDropsAreSeenWhereTheyAreCounted) {
  TestNetwork network(1, 9, 0);
  network.setup.packet.mark_from = Bytes(20'000);
  network.setup.packet.mark_all = Bytes(80'000);
  network.setup.packet.queue_limit = Bytes(200'000);
  for (std::size_t h = 1; h < 9; ++h) network.transfer(h, 0, Bytes(500'000));
  Recorder recorder;
  const result::Result result = run(network, recorder);
  EXPECT_GT(recorder.marks, 0u);
  EXPECT_EQ(recorder.marks, result.packets.marks);
  EXPECT_GT(recorder.drops, 0u);
  EXPECT_EQ(recorder.drops, result.packets.drops);
  EXPECT_GT(recorder.again, 0u);
  // What joins a queue finds no more than the limit (in steps of 2^10 ps: 51 B) before it.
  EXPECT_LE(recorder.longest, 200'000 + 52);
  EXPECT_GT(recorder.longest, 190'000);
}

TEST(Watch, PausesAreSeenBySenderAndReceiver) {
  TestNetwork network(1, 9, 0);
  network.setup.packet.flow_control = "pfc";
  network.setup.packet.switch_buffer = Bytes(2'000'000);
  network.setup.packet.window = 8;
  for (std::size_t h = 1; h < 9; ++h) network.transfer(h, 0, Bytes(2'000'000));
  Recorder recorder;
  const result::Result result = run(network, recorder);
  EXPECT_GT(recorder.pauses, 0u);
  EXPECT_EQ(recorder.pauses, result.packets.pauses);
  EXPECT_GT(recorder.holds, 0u);
  EXPECT_TRUE(recorder.held.empty());  // in the end every link may send
}

TEST(Watch, ChangesNothing) {
  TestNetwork network(2, 4, 2);
  network.setup.packet.mark_from = Bytes(20'000);
  network.setup.packet.mark_all = Bytes(80'000);
  for (std::size_t h = 1; h < 8; ++h) network.transfer(h, 0, Bytes(300'000));
  Recorder recorder;
  const result::Result seen = run(network, recorder), unseen = network.run();
  EXPECT_EQ(seen.completion, unseen.completion);
  EXPECT_EQ(seen.engine.events, unseen.engine.events);
  for (std::size_t i = 0; i < seen.flows.size(); ++i)
    EXPECT_EQ(seen.flows[i].end, unseen.flows[i].end);
}

TEST(Watch, ALoneFlowTakesTheTimeAlone) {
  for (const std::int64_t bytes : {1, 4096, 4097, 1'000'000}) {
    TestNetwork network(2, 2, 2);
    network.transfer(0, 3, Bytes(bytes));
    const result::Result result = network.run();
    const result::FlowRecord& flow = result.flows.at(0);
    EXPECT_NEAR(static_cast<double>((flow.end - flow.start).ps()),
                static_cast<double>(flow.alone.ps()), 10)
        << bytes;
  }
}

}  // namespace
}  // namespace weft::engine::packet
