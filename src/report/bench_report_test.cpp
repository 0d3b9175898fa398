#include "report/bench_report.h"

#include <gtest/gtest.h>

namespace weft::report {
namespace {

using work::CollectiveKind;

TEST(NcclNumber, KeepsAsManyDecimalsAsFit) {
  EXPECT_EQ(nccl_number(12.345, 7), "  12.35");    // 2 digits < 7-2: two decimals
  EXPECT_EQ(nccl_number(12345.6, 7), "12345.6");   // 5 digits: one decimal
  EXPECT_EQ(nccl_number(123456.7, 7), " 123457");  // 6 digits: none
  EXPECT_EQ(nccl_number(480.3, 6), "480.30");
  EXPECT_EQ(nccl_number(0, 6), "  0.00");
}

TEST(SizeAndCount, AllReduceCountsElementsOfTheBuffer) {
  // 8 B of float: 2 elements.
  const SizeAndCount row = size_and_count(CollectiveKind::all_reduce, Bytes(8), 16, 4);
  EXPECT_EQ(row.size.count(), 8);
  EXPECT_EQ(row.count, 2);
}

TEST(SizeAndCount, GatherLikeKindsRoundEachRanksShareTo16Bytes) {
  // 1024 B over 16 ranks: 64 B = 16 floats each.
  EXPECT_EQ(size_and_count(CollectiveKind::all_gather, Bytes(1024), 16, 4).count, 16);
  // 8 B over 8 ranks is less than 16 B each: nothing moves.
  EXPECT_EQ(size_and_count(CollectiveKind::all_to_all, Bytes(8), 8, 4).size.count(), 0);
  // 1000 B over 8 ranks: 125 B -> 31 floats -> 28 floats (112 B) each: 896 B.
  EXPECT_EQ(size_and_count(CollectiveKind::reduce_scatter, Bytes(1000), 8, 4).size.count(), 896);
}

TEST(SweepSizes, FactorAndStep) {
  Bench bench;
  bench.begin = Bytes(8);
  bench.end = Bytes(64);
  EXPECT_EQ(sweep_sizes(bench), (std::vector{Bytes(8), Bytes(16), Bytes(32), Bytes(64)}));
  bench.step = 24;
  bench.step_is_factor = false;
  EXPECT_EQ(sweep_sizes(bench), (std::vector{Bytes(8), Bytes(32), Bytes(56)}));
}

TEST(NcclTable, IsByteCompatibleWithARealLog) {
  Bench bench;
  bench.begin = bench.end = Bytes(1048576);
  bench.ranks = 2;
  bench.devices = {{0, "nid007106", 0, "0009:01:00", "NVIDIA GH200 120GB"}};
  BenchRow row;
  row.size = Bytes(1048576);
  row.count = 262144;
  row.time_us = 339.61;
  row.algbw_gb_per_s = row.busbw_gb_per_s = 3.0876;
  bench.rows = {row};
  const std::string table = nccl_table(bench);
  // Header and row as printed by nccl-tests 2.18 on two GH200 nodes.
  for (const char* line :
       {"#                                                              out-of-place               "
        "        "
        "in-place          \n",
        "#       size         count      type   redop    root     time   algbw   busbw  "
        "#wrong     time   algbw   busbw  #wrong \n",
        "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             "
        "(us)  "
        "(GB/s)  (GB/s)         \n",
        "     1048576        262144     float     sum      -1   339.61    3.09    3.09  "
        "     0   339.61    3.09    3.09       0\n",
        "#  Rank  0 Group  0 Pid      0 on  nid007106 device  0 [0009:01:00] NVIDIA GH200",
        "# Avg bus bandwidth    : 3.0876 \n"}) {
    EXPECT_NE(table.find(line), std::string::npos) << line << "\nin\n" << table;
  }
}

}  // namespace
}  // namespace weft::report
