#include "measured/measured.h"

#include <gtest/gtest.h>

namespace weft::measured {
namespace {

TEST(NcclTests, NewTableWithLogLinesBetween) {
  const Table table = read_any(R"(# Collective test starting: all_reduce_perf
#  Rank  0 Group  0 Pid  15784 on  nid007106 device  0 [0009:01:00] NVIDIA GH200 120GB
#  Rank  1 Group  0 Pid  24926 on  nid007109 device  0 [0009:01:00] NVIDIA GH200 120GB
# out-of-place in-place
# size count type redop root time algbw busbw #wrong time algbw busbw #wrong
# (B) (elements) (us) (GB/s) (GB/s) (us) (GB/s) (GB/s)
     1048576 262144 float sum -1 339.61 3.09 3.09 0 335.85 3.12 3.12 0
nid007106:15784:15784 [0] NCCL INFO something
     2097152 524288 float sum -1 355.53 5.90 5.90 0 361.77 5.80 5.80 N/A
)",
                               "log");
  EXPECT_EQ(table.format, "nccl_tests");
  EXPECT_EQ(table.kind, work::CollectiveKind::all_reduce);
  EXPECT_EQ(table.ranks, 2);
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.rows[0].size.count(), 1048576);
  EXPECT_DOUBLE_EQ(table.rows[0].time_us, 339.61);
  EXPECT_DOUBLE_EQ(*table.rows[1].in_place_time_us, 361.77);
  EXPECT_EQ(table.rows[1].line, 9);
}

TEST(NcclTests, OldTableWithoutRootBehindALaunchersPrefix) {
  const Table table = read_any(
      "[1,0]<stdout>:#       size         count    type   redop     time   algbw   busbw  error    "
      " time   algbw   busbw  error\n"
      "[1,0]<stdout>:   536870912      16777216   float           2236.6  240.04  210.03    N/A   "
      "2197.4  244.32  213.78    N/A\n",
      "log");
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_DOUBLE_EQ(table.rows[0].time_us, 2236.6);
  EXPECT_DOUBLE_EQ(*table.rows[0].busbw_gb_per_s, 210.03);
}

TEST(NcclTests, ACutRowIsReportedWithItsPosition) {
  try {
    read_any(
        "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n 8 2 float "
        "sum -1 10.0 0.00\n",
        "log");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(error.diagnostics()[0].where.line, 2);
    EXPECT_FALSE(error.diagnostics()[0].hint.empty());
  }
}

TEST(NcclTestsJson, Version3WithStringBooleansAndNan) {
  const Table table = read_any(
      R"({"version":3,"args":["./build/alltoall_perf","-b","8"],"config":{"devices":[{},{}]},
    "results":[{"size":1024,"count":16,"type":"float","redop":"none","root":"    -1",
      "out_of_place":{"time":54.5,"alg_bw":0.02,"bus_bw":0.01,"nwrong":"nan"},
    "in_place":{"time":53.0}}]})",
      "log");
  EXPECT_EQ(table.kind, work::CollectiveKind::all_to_all);
  EXPECT_EQ(table.ranks, 2);
  EXPECT_DOUBLE_EQ(table.rows[0].time_us, 54.5);
  EXPECT_DOUBLE_EQ(*table.rows[0].in_place_time_us, 53.0);
}

TEST(RcclJsonLines, JoinsInPlaceToItsSize) {
  const Table table = read_any(
      R"({"name":"AllReduce","size":8,"type":"float","inPlace":0,"time":20.5,"busBw":0,"gpus":8}
{"name":"AllReduce","size":8,"type":"float","inPlace":1,"time":21.0,"busBw":0,"gpus":8}
)",
      "log");
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(table.ranks, 8);
  EXPECT_DOUBLE_EQ(*table.rows[0].in_place_time_us, 21.0);
}

TEST(HcclTest, CellsBetweenBars) {
  const Table table = read_any(
      "data_size(Bytes): | aveg_time(us): | alg_bandwidth(GB/s): | check_result:\n"
      "16777216          | 154.02         | 108.93               | success\n",
      "log");
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_DOUBLE_EQ(table.rows[0].time_us, 154.02);
  EXPECT_DOUBLE_EQ(*table.rows[0].bandwidth_gb_per_s, 108.93);
}

TEST(Perftest, MebibytesByDefaultGigabitsWhenAsked) {
  // 23500 MiB/s = 23500 x 1048576 B/s = 24.64 GB/s.
  const Table bytes = read_any(
      "                    RDMA_Write BW Test\n #bytes     #iterations    BW peak[MB/sec]    BW "
      "average[MB/sec]   MsgRate[Mpps]\n"
      " 8388608    5000             23510.0            23500.0              0.002937\n",
      "log");
  EXPECT_NEAR(*bytes.rows[0].bandwidth_gb_per_s, 24.6415, 1e-3);
  // 196.5 Gb/s = 24.5625 GB/s.
  const Table bits = read_any(
      " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n"
      " 65536      5000             196.60             196.50               0.374\n",
      "log");
  EXPECT_DOUBLE_EQ(*bits.rows[0].bandwidth_gb_per_s, 24.5625);
}

TEST(Perftest, LatencyTakesTheTypicalValue) {
  const Table table = read_any(
      " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    "
      "t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec] \n"
      " 2       1000          0.95           3.14         0.98     	       0.99        	"
      "0.05   		1.10    		3.14   \n",
      "log");
  EXPECT_DOUBLE_EQ(table.rows[0].time_us, 0.98);
}

// A cell that slipped into the wrong column: no run takes -1 us. Found by fuzzing.
TEST(ReadAny, RefusesRowsThatNoRunCanGive) {
  for (const char* typical : {"-1", "inf", "1e999"}) {
    const std::string log = std::string("# OSU MPI Latency Test v7.3\n# Size Latency (us)\n8 ") +
                            typical + "\n16 1.6\n";
    try {
      read_any(log, "log");
      FAIL() << typical;
    } catch (const InputError& error) {
      ASSERT_EQ(error.diagnostics().size(), 1u);
      EXPECT_EQ(error.diagnostics()[0].where.line, 3);
      EXPECT_FALSE(error.diagnostics()[0].hint.empty());
    }
  }
}

TEST(Osu, LatencyAndBandwidth) {
  const Table latency = read_any(
      "# OSU MPI Latency Test v7.3\n# Size          Latency (us)\n8                       1.52\n",
      "log");
  EXPECT_DOUBLE_EQ(latency.rows[0].time_us, 1.52);
  const Table bandwidth = read_any(
      "# OSU MPI Bandwidth Test v7.3\n# Size      Bandwidth (MB/s)\n1048576             24500.00\n",
      "log");
  EXPECT_DOUBLE_EQ(*bandwidth.rows[0].bandwidth_gb_per_s, 24.5);
}

}  // namespace
}  // namespace weft::measured
