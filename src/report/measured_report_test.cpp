#include "report/measured_report.h"

#include <gtest/gtest.h>

namespace weft::report {
namespace {

Bench two_rows(double measured_small, double measured_large) {
  Bench bench;
  for (const auto& [size, time, measured] : {std::tuple(Bytes::kib(1), 10.0, measured_small),
                                             std::tuple(Bytes::gib(1), 1000.0, measured_large)}) {
    BenchRow row;
    row.size = size;
    row.time_us = time;
    row.measured_us = measured;
    row.error_band = 0.2;
    row.bottleneck.name = "node0/nic0 -> leaf0";
    bench.rows.push_back(row);
  }
  return bench;
}

// 11 for 10 us and 1050 for 1000 us: 10 and 5 % slower, both within 20 %.
TEST(MeasuredVerdict, WithinTheBand) {
  EXPECT_EQ(
      measured_verdict(two_rows(11, 1050)),
      "measured is 10 % slower than predicted in the median of 2 sizes, 10 % slower at 1 KiB; "
      "2 of 2 within the band of this model: no sign of a fault");
}

// Twice the time at both sizes: predictions are off by half of what was measured, beyond 20 %.
TEST(MeasuredVerdict, SaysWhereToLook) {
  const std::string verdict = measured_verdict(two_rows(20, 2000));
  EXPECT_NE(verdict.find("100 % slower"), std::string::npos) << verdict;
  EXPECT_NE(verdict.find("look at node0/nic0 -> leaf0 first"), std::string::npos) << verdict;
}

TEST(MeasuredVerdict, NothingMeasuredNothingSaid) {
  Bench bench;
  bench.rows.emplace_back();
  EXPECT_EQ(measured_verdict(bench), "");
}

}  // namespace
}  // namespace weft::report
