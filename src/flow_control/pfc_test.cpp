// The arithmetic of pauses and headroom against the standard and against published tables.
#include "flow_control/pfc.h"

#include <gtest/gtest.h>

namespace weft::flow_control {
namespace {

// 65535 x 512 bit: 83.8848 us at 400 Gb/s, four times that at 100.
TEST(Pfc, LongestPause) {
  EXPECT_EQ(pause_time(kLongestPause, BitRate::gigabits_per_second(400)),
            Duration::picoseconds(83'884'800));
  EXPECT_EQ(pause_time(kLongestPause, BitRate::gigabits_per_second(100)),
            Duration::picoseconds(335'539'200));
  EXPECT_EQ(pause_time(0, BitRate::gigabits_per_second(100)), Duration());
}

// Xoff of the SN4700 in SONiC's pg_profile_lookup, by speed and cable.
TEST(Pfc, XoffOfSpectrum3) {
  struct Row {
    std::int64_t gbps;
    std::int64_t at_5_m, at_40_m, at_300_m;
  };
  constexpr Row kTable[] = {
      {10, 32768, 33792, 40960},   {25, 32768, 35840, 54272},   {40, 33792, 37888, 66560},
      {50, 33792, 38912, 75776},   {100, 33792, 44032, 117760}, {200, 35840, 55296, 203776},
      {400, 38912, 77824, 373760},
  };
  for (const Row& row : kTable) {
    const BitRate rate = BitRate::gigabits_per_second(row.gbps);
    EXPECT_EQ(spectrum_xoff(rate, 5).count(), row.at_5_m) << row.gbps;
    EXPECT_EQ(spectrum_xoff(rate, 40).count(), row.at_40_m) << row.gbps;
    EXPECT_EQ(spectrum_xoff(rate, 300).count(), row.at_300_m) << row.gbps;
  }
}

// 400 Gb/s, 1 us of wire: 2 x 50,000 B on the wires, 905 x 64 B until the peer heeds, two frames of
// 4178 B, and the pause's 84 B.
TEST(Pfc, HeadroomAddsUpWhatMayStillCome) {
  EXPECT_EQ(headroom(BitRate::gigabits_per_second(400), Duration::microseconds(1), Bytes(4178)),
            Bytes(100'000 + 57'920 + 8'356 + 84));
}

// Four queues with alpha 1 on 32 MB: each settles where q = 32 - 4q, at 6.4 MB, and 6.4 are free.
TEST(Pfc, DynamicThresholdSettlesAtItsShare) {
  double queue = 0;
  while (queue < dynamic_threshold(1, 32e6, 4 * queue)) queue += 1000;
  EXPECT_NEAR(queue, 6.4e6, 1000);
}

}  // namespace
}  // namespace weft::flow_control
