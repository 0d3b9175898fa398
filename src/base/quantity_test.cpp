#include "base/quantity.h"

#include <gtest/gtest.h>

namespace weft {
namespace {

TEST(Quantity, ReadsNumbersAndRangesWithTheirUnit) {
  const auto power = parse_quantity("1.2kW");
  ASSERT_TRUE(power);
  EXPECT_DOUBLE_EQ(power->in(*find_unit("W")).low, 1200);
  const auto price = parse_quantity("36000..50000 USD");
  ASSERT_TRUE(price);
  EXPECT_DOUBLE_EQ(price->middle(), 43000);  // (36000 + 50000) / 2
  EXPECT_EQ(to_text(*price), "36000..50000 USD");
  EXPECT_EQ(to_text(*parse_quantity("17")), "17");
  EXPECT_DOUBLE_EQ(parse_quantity("95%")->in(*find_unit("")).low, 0.95);
}

TEST(Quantity, ConvertsWithinADimension) {
  // A byte is 8 bits: 50 GB/s = 400 Gb/s.
  EXPECT_DOUBLE_EQ(parse_quantity("50GB/s")->in(*find_unit("Gbps")).low, 400);
  // 0.00057 a month is 0.00057 / 730 an hour.
  EXPECT_DOUBLE_EQ(parse_quantity("0.00057/month")->in(*find_unit("/h")).low, 0.00057 / 730);
  // 100 failures in 1e9 hours is one in 1e7 hours.
  EXPECT_DOUBLE_EQ(parse_quantity("100FIT")->in(*find_unit("/h")).low, 1e-7);
  EXPECT_EQ(unit_names(Dimension::power), "W, kW, MW");
}

TEST(Quantity, RefusesWhatIsNotOne) {
  for (const char* wrong : {"", "W", "-3W", "3Watt", "5..W", "5..3W", "1.2.3W", "1e3W", "..", "."})
    EXPECT_FALSE(parse_quantity(wrong)) << wrong;
}

}  // namespace
}  // namespace weft
