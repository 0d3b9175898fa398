#include "validate/error_bands.h"

#include <gtest/gtest.h>

namespace weft::validate {
namespace {

// 9 rows of a class are too few: the class of all collectives answers.
TEST(ErrorBands, SmallClassesFallBack) {
  ErrorBands bands;
  bands.by_class["all_reduce inside large"] = {9, 0.01, 0.02, 0};
  bands.by_class["any inside large"] = {40, 0.03, 0.11, 0};
  EXPECT_EQ(bands.p90("all_reduce", 1, Bytes::mib(16)), 0.11);
  bands.by_class["all_reduce inside large"].rows = 10;
  EXPECT_EQ(bands.p90("all_reduce", 1, Bytes::mib(16)), 0.02);
  EXPECT_EQ(bands.p90("all_reduce", 2, Bytes::mib(16)), std::nullopt);
}

TEST(ErrorBands, WhatIsWrittenIsRead) {
  ErrorBands bands;
  bands.by_class["any across small"] = {12, 0.125, 0.25, 0};
  const ErrorBands read = parse_error_bands(error_bands_text(bands), "bands.yaml");
  EXPECT_EQ(read.p90("broadcast", 4, Bytes(8)), 0.25);
}

}  // namespace
}  // namespace weft::validate
