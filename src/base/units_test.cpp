#include "base/units.h"

#include <gtest/gtest.h>

namespace weft {
namespace {

using namespace literals;

TEST(Units, SerializationTimeIsExactAndRoundsUp) {
  // 1500 B = 12000 bits at 400e9 b/s: 12000 / 400e9 s = 30 ns exactly.
  EXPECT_EQ(serialization_time(1500_B, 400_Gbps), 30_ns);
  // 1 B = 8 bits at 800e9 b/s = 10 ps exactly; at 300e9 b/s 26.67 ps, which becomes 27 ps.
  EXPECT_EQ(serialization_time(1_B, 800_Gbps), 10_ps);
  EXPECT_EQ(serialization_time(1_B, BitRate::gigabits_per_second(300)), 27_ps);
  EXPECT_EQ(serialization_time(0_B, 1_Gbps), 0_ps);
  // 1 TiB at 3 bit/s: 2^40 * 8 / 3 s = 2.93e12 s, more than 2^63 ps = 9.2e6 s: saturates.
  EXPECT_EQ(serialization_time(1024_GiB, BitRate::bits_per_second(3)), Duration::max());
  // 64 GiB at 1 Gbps: 2^36 * 8 * 1e12 overflows 64 bits (5.5e23) but the answer does not:
  // 549755813888 bits / 1e9 = 549.755813888 s.
  EXPECT_EQ(serialization_time(64_GiB, 1_Gbps), Duration::nanoseconds(549'755'813'888));
}

TEST(Units, ScaledIsExactForLargeValues) {
  const auto big = Duration::picoseconds((std::int64_t{1} << 62) + 1);  // not a double
  EXPECT_EQ(big.scaled(1.0), big);
  EXPECT_EQ(big.scaled(0.5).ps(), (std::int64_t{1} << 61) + 1);  // ...0.5 rounds up
  EXPECT_EQ(big.scaled(4.0), Duration::max());
  EXPECT_EQ((-3 * 1_ps).scaled(0.5).ps(), -2);  // -1.5, halves go away from zero
  EXPECT_EQ(big.scaled(1e-300), 0_ps);
  EXPECT_EQ((400_Gbps).scaled(0.25), 100_Gbps);
}

TEST(Units, FromFloatingPointRoundsAndSaturates) {
  EXPECT_EQ(Duration::from_microseconds(1.5), Duration::nanoseconds(1500));
  EXPECT_EQ(Duration::from_nanoseconds(0.0014), 1_ps);  // 1.4 ps
  EXPECT_EQ(Duration::from_seconds(1e30), Duration::max());
  EXPECT_EQ(BitRate::from_gigabytes_per_second(50), 400_Gbps);
  EXPECT_EQ(BitRate::from_gigabits_per_second(53.125).bps(), 53'125'000'000);
}

TEST(Units, ParsesRates) {
  EXPECT_EQ(parse_bit_rate("400Gbps"), 400_Gbps);
  EXPECT_EQ(parse_bit_rate("50GB/s"), 400_Gbps);
  EXPECT_EQ(parse_bit_rate("50 GB/s"), 400_Gbps);
  EXPECT_EQ(parse_bit_rate("1.6Tbps"), 1600_Gbps);
  EXPECT_EQ(parse_bit_rate("0.5bps")->bps(), 1);  // half goes up
  EXPECT_EQ(parse_bit_rate("9.6kbps")->bps(), 9600);
}

TEST(Units, NeverGuessesBitsOrBytes) {
  for (const char* text : {"400", "400G", "400g", "400GB", "400Gb", "400gbps", "400GBps",
                           "400 GBPS", "", "Gbps", "-1Gbps", "+1Gbps", "1e999Gbps", "nan Gbps",
                           "1.Gbps.", "0x10Gbps", "1,5Gbps", "400Gbpsx"}) {
    EXPECT_EQ(parse_bit_rate(text), std::nullopt) << text;
  }
}

TEST(Units, ParsesSizesDecimalAndBinary) {
  EXPECT_EQ(parse_bytes("64kB"), Bytes(64'000));
  EXPECT_EQ(parse_bytes("64KB"), Bytes(64'000));
  EXPECT_EQ(parse_bytes("64KiB"), 64_KiB);
  EXPECT_EQ(parse_bytes("2MiB"), 2_MiB);
  EXPECT_EQ(parse_bytes("1.5GiB"), 1536_MiB);
  EXPECT_EQ(parse_bytes("9007199254740993B"), Bytes(9'007'199'254'740'993));  // 2^53 + 1, exact
  EXPECT_EQ(parse_bytes("1e3B"), Bytes(1000));
  for (const char* text : {"64", "64K", "64k", "64kb", "64Kb", "64kib", "8192PiB", "1e30B", "5b"}) {
    EXPECT_EQ(parse_bytes(text), std::nullopt) << text;  // 8192 PiB = 2^63 B does not fit
  }
}

TEST(Units, ParsesDurationsAndLengths) {
  EXPECT_EQ(parse_duration("1.5us"), Duration::nanoseconds(1500));
  EXPECT_EQ(parse_duration("1.5\u00b5s"), Duration::nanoseconds(1500));
  EXPECT_EQ(parse_duration("2min"), Duration::seconds(120));
  EXPECT_EQ(parse_duration("1d"), Duration::seconds(86'400));
  EXPECT_EQ(parse_duration("0.1234567890123456789s")->ps(), 123'456'789'012);
  EXPECT_EQ(parse_duration("5m"), std::nullopt);  // metres, or minutes?
  EXPECT_EQ(parse_duration("5"), std::nullopt);
  EXPECT_EQ(parse_duration("200d"), std::nullopt);  // more than 106 days
  EXPECT_EQ(parse_length_m("30m"), 30.0);
  EXPECT_EQ(parse_length_m("3mm"), 0.003);
  EXPECT_EQ(parse_length_m("2km"), 2000.0);
  EXPECT_EQ(parse_length_m("2"), std::nullopt);
}

TEST(Units, ParsesNcclSizes) {
  EXPECT_EQ(parse_nccl_size("8"), 8_B);
  EXPECT_EQ(parse_nccl_size("128M"), 128_MiB);
  EXPECT_EQ(parse_nccl_size("1g"), 1_GiB);
  EXPECT_EQ(parse_nccl_size("1GB"), std::nullopt);
  EXPECT_EQ(parse_nccl_size(""), std::nullopt);
}

TEST(Units, PrintsThreeDigitsAndAUnitThatFits) {
  EXPECT_EQ(to_text(Duration::picoseconds(1'949'600)), "1.95 us");
  EXPECT_EQ(to_text(Duration::picoseconds(999'600)), "1 us");  // not "1000 ns"
  EXPECT_EQ(to_text(999_ns), "999 ns");
  EXPECT_EQ(to_text(Duration::seconds(90)), "90 s");
  EXPECT_EQ(to_text(Duration::seconds(-90)), "-90 s");
  EXPECT_EQ(to_text(Duration::seconds(5400)), "90 min");
  EXPECT_EQ(to_text(Duration::seconds(86'400 * 3)), "3 d");
  EXPECT_EQ(to_text(0_ps), "0 s");
  EXPECT_EQ(to_text(2_MiB), "2 MiB");
  EXPECT_EQ(to_text(1023_B), "1023 B");
  EXPECT_EQ(to_text(400_Gbps), "400 Gbps");
  EXPECT_EQ(to_text_bytes(400_Gbps), "50 GB/s");
  EXPECT_EQ(to_text_bytes(BitRate::from_gigabytes_per_second(55.2)), "55.2 GB/s");
}

}  // namespace
}  // namespace weft
