#include "pointtest/pointtest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "base/errors.h"
#include "fabric/test_servers.h"

namespace weft::pointtest {
namespace {

using fabric::testing::cluster;
using fabric::testing::hgx;
using fabric::testing::small_server;
using ::testing::HasSubstr;

std::string shipped_text() {
  std::ifstream file(WEFT_SOURCE_DIR "/data/constants/point_to_point.yaml");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

class PointTest : public ::testing::Test {
 protected:
  [[nodiscard]] Question question(const fabric::Fabric& f, std::string_view from,
                                  std::string_view to) const {
    Question q;
    q.fabric = &f;
    q.costs = &costs;
    q.constants = &constants;
    q.route = fabric::testing::shortest_route(f);
    q.path.source = f.find(from).value();
    q.path.destination = f.find(to).value();
    return q;
  }
  static Answer ask(std::string_view test, const Question& question, Bytes size) {
    const auto found = find_test(test);
    EXPECT_TRUE(found.has_value()) << test;
    Answer answer = found->family->answer(*found->test, question, size);
    EXPECT_EQ(answer.refusal, "");
    return answer;
  }
  fabric::PathCosts costs;
  Constants constants = read_constants(shipped_text(), "point_to_point.yaml");
};

TEST_F(PointTest, ShortWriteIsTheSumOfItsParts) {
  const auto c = cluster(small_server(), fabric::LinkKind::infiniband, true);
  const auto q = question(c.fabric, "a/cpu0", "c/cpu0");
  // post 40 + doorbell 40 + PCIe 125 + both NICs 420 + two cables of 130 + 5 m x 4.9 ns and a
  // switch of 130 + PCIe 125 + poll 20 = 1209 ns; 2 B store and forward add 2 x (1/54 + 1/49.7 +
  // 1/54).
  const Answer answer = ask("ib_write_lat", q, Bytes(2));
  EXPECT_NEAR(answer.time.to_nanoseconds(), 1209 + 0.1, 0.5);
}

TEST_F(PointTest, PayloadThatDoesNotRideWithTheDoorbellIsFetched) {
  const auto c = cluster(small_server(), fabric::LinkKind::infiniband, true);
  const auto q = question(c.fabric, "a/cpu0", "c/cpu0");
  const double step =
      (ask("ib_write_lat", q, Bytes(189)).time - ask("ib_write_lat", q, Bytes(188)).time)
          .to_nanoseconds();
  // PCIe out and back 250, memory 100, gather 180.
  EXPECT_NEAR(step, 530, 0.2);
}

TEST_F(PointTest, TheFirst4KiBAreStoredAndForwardedTheRestStreams) {
  const auto c = cluster(small_server(), fabric::LinkKind::infiniband, true);
  const auto q = question(c.fabric, "a/cpu0", "c/cpu0");
  const auto at = [&](std::int64_t n) {
    return ask("ib_write_lat", q, Bytes(n)).time.to_nanoseconds();
  };
  // Beyond 4 KiB the 400 Gb/s wire sets the pace: 50 GB/s x 4096/4122.
  EXPECT_NEAR((at(1 << 20) - at(1 << 19)) / (1 << 19), 1 / (50.0 * 4096 / 4122), 1e-4);
  EXPECT_GT((at(4096) - at(2048)) / 2048, 2.5 * (at(1 << 20) - at(1 << 19)) / (1 << 19));
}

TEST_F(PointTest, ReadIsARoundTripWriteIsHalfOne) {
  const auto c = cluster(small_server(), fabric::LinkKind::infiniband, true);
  const auto q = question(c.fabric, "a/cpu0", "c/cpu0");
  const double write = ask("ib_write_lat", q, Bytes(8)).time.to_nanoseconds();
  const double read = ask("ib_read_lat", q, Bytes(8)).time.to_nanoseconds();
  // The way back (NICs 420, network 439) and the far DMA read (250 + 100); the far posted write of
  // 125 becomes the near one.
  EXPECT_NEAR(read - write, 420 + 439 + 350, 0.5);
}

TEST_F(PointTest, GpuMemoryCostsMoreAndCannotRideWithTheDoorbell) {
  const auto c = cluster(hgx(), fabric::LinkKind::infiniband, true);
  const double host =
      ask("ib_write_lat", question(c.fabric, "a/cpu0", "c/cpu0"), Bytes(8)).time.to_nanoseconds();
  const double gpu =
      ask("ib_write_lat", question(c.fabric, "a/gpu0", "c/gpu0"), Bytes(8)).time.to_nanoseconds();
  EXPECT_NEAR(gpu - host, 530 + 2 * 240, 1);  // the DMA read, and 240 ns at each end
}

TEST_F(PointTest, QueuePairsRaiseTheRateOfShortMessagesOnly) {
  const auto c = cluster(small_server(), fabric::LinkKind::infiniband, true);
  auto q = question(c.fabric, "a/cpu0", "c/cpu0");
  const double one = ask("ib_write_bw", q, Bytes(64)).gb_per_s;
  const double large = ask("ib_write_bw", q, Bytes::mib(1)).gb_per_s;
  q.queue_pairs = 4;
  EXPECT_NEAR(ask("ib_write_bw", q, Bytes(64)).gb_per_s / one, 4, 0.01);
  EXPECT_NEAR(ask("ib_write_bw", q, Bytes::mib(1)).gb_per_s, large, 0.001 * large);
  EXPECT_NEAR(one, 64 / 125.0, 0.001);  // one message each 125 ns
}

TEST_F(PointTest, BidirectionalPrintsTheSum) {
  const auto c = cluster(small_server(), fabric::LinkKind::infiniband, true);
  auto q = question(c.fabric, "a/cpu0", "c/cpu0");
  const double one = ask("ib_write_bw", q, Bytes::mib(1)).gb_per_s;
  q.bidirectional = true;
  EXPECT_DOUBLE_EQ(ask("ib_write_bw", q, Bytes::mib(1)).gb_per_s, 2 * one);
}

TEST_F(PointTest, StagedCopiesPayForEachChunk) {
  const auto f = hgx({.pcie_generation = 5});
  auto q = question(f, "gpu0", "gpu4");
  const double direct = ask("p2p_bandwidth", q, Bytes::mib(512)).gb_per_s;
  q.peer_access = false;
  q.chunk = Bytes::mib(1);
  const double one = ask("p2p_bandwidth", q, Bytes::mib(512)).gb_per_s;
  q.chunk = Bytes::mib(8);
  const double eight = ask("p2p_bandwidth", q, Bytes::mib(512)).gb_per_s;
  // t = C / r + o, with o = 8 us: the times of a byte differ by o x (1/1 MiB - 1/8 MiB).
  EXPECT_NEAR(1 / one - 1 / eight, 8000 * (1 / 1048576.0) * 7 / 8, 1e-5);
  EXPECT_GT(direct, 5 * eight);
}

TEST_F(PointTest, CopyInsideAGpuCountsOnceOrTwice) {
  const auto f = hgx();
  const auto q = question(f, "gpu0", "gpu0");
  // p2pBandwidthLatencyTest counts reads and writes, a copy test the bytes copied.
  EXPECT_NEAR(ask("p2p_bandwidth", q, Bytes::gib(1)).gb_per_s,
              2 * ask("memcpy", q, Bytes::gib(1)).gb_per_s, 1e-6);
}

TEST_F(PointTest, CopiesBothWaysAtOnceShareHostMemory) {
  const auto f = hgx({.pcie_generation = 4, .nvlink_generation = 0});
  auto q = question(f, "cpu0", "gpu0");
  const double one = ask("memcpy", q, Bytes::gib(4)).gb_per_s;
  q.bidirectional = true;
  // Each way 0.71 of what it has alone; the sum is printed.
  EXPECT_NEAR(ask("memcpy", q, Bytes::gib(4)).gb_per_s / one, 2 * 0.71, 1e-3);
}

TEST_F(PointTest, LargeMpiMessagesUseTwoNics) {
  const auto c = cluster(hgx(), fabric::LinkKind::infiniband, true);
  const auto q = question(c.fabric, "a/cpu0", "c/cpu0");
  const double verbs = ask("ib_write_bw", q, Bytes::mib(64)).gb_per_s;
  const double mpi = ask("osu_bw", q, Bytes::mib(64)).gb_per_s;
  EXPECT_NEAR(mpi / verbs, constants.mpi.fallback.rails, 0.01);
  EXPECT_GT(ask("osu_latency", q, Bytes(8)).time, ask("ib_write_lat", q, Bytes(8)).time);
}

TEST_F(PointTest, NcclStagingFillsItsPipelineOnce) {
  const auto c = cluster(hgx({.pcie_generation = 4}), fabric::LinkKind::infiniband, true);
  auto q = question(c.fabric, "a/gpu0", "c/gpu0");
  const auto time = [&](std::int64_t mib) {
    return ask("nccl_sendrecv", q, Bytes::mib(mib)).time.to_microseconds();
  };
  // Once the pipeline is full, each chunk of 2 MiB costs its slowest leg and one step of 2.5 us.
  const double slowest = constants.staging.host_share *
                         fabric::pcie_write_rate(fabric::pcie_link_class(4, 16)).gb_per_s();
  EXPECT_NEAR(time(64) - time(32), 33554.432 / slowest + 16 * 2.5, 0.5);
  q.chunk = Bytes::kib(128);
  EXPECT_NEAR(time(64) - time(32), 33554.432 / slowest + 256 * 2.5, 0.5);
}

TEST_F(PointTest, RefusalsSayWhy) {
  const auto f = hgx();
  const auto found = find_test("ib_write_lat");
  const Answer answer = found->family->answer(*found->test, question(f, "gpu0", "gpu4"), Bytes(8));
  EXPECT_THAT(answer.refusal, HasSubstr("one server"));
  EXPECT_FALSE(find_test("ib_fly_lat").has_value());
}

TEST(PointConstants, LookUpByCapabilityThenModel) {
  const Constants c = read_constants(shipped_text(), "f");
  EXPECT_EQ(c.gpu("h100-sxm5-80gb", 90).peer_store, c.gpu("h200-sxm-141gb", 90).peer_store);
  EXPECT_NE(c.gpu("", 80).peer_store, c.gpu("", 70).peer_store);
  // A named row has its capability's other constants.
  EXPECT_EQ(c.gpu("a100-sxm4-40gb", 80).staged_store, c.gpu("", 80).staged_store);
  EXPECT_NE(c.gpu("a100-sxm4-40gb", 80).local_copy, c.gpu("", 80).local_copy);
  EXPECT_EQ(c.nics.of("no such adapter").pair, c.nics.fallback.pair);
}

std::string faults_of(const std::string& text) {
  try {
    (void)read_constants(text, "f");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(PointConstants, EveryConstantNeedsItsOrigin) {
  std::string text = shipped_text();
  const std::string origin = ", residual: \"3 %\"}";
  text.replace(text.find(origin), origin.size(), "}");
  EXPECT_THAT(faults_of(text), HasSubstr("residual"));
}

TEST(PointConstants, DefaultRowMustBeCompleteAndKeysKnown) {
  std::string text = shipped_text();
  const std::string name = "    copy_gap: {";
  text.replace(text.find(name), name.size(), "    copy_gab: {");
  EXPECT_THAT(faults_of(text), HasSubstr("copy_gap"));
}

}  // namespace
}  // namespace weft::pointtest
