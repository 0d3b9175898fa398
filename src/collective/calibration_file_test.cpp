#include <gtest/gtest.h>

#include "base/errors.h"
#include "collective/calibration.h"

namespace weft::collective {
namespace {

TEST(CalibrationFile, WhatIsWrittenIsRead) {
  const Calibration written{1.25, 0.9, 1.5, {"a.log", "b.log"}, 42, 3.5};
  const Calibration read = parse_calibration(calibration_text(written, "my cluster"), "site.yaml");
  EXPECT_DOUBLE_EQ(read.latency, 1.25);
  EXPECT_DOUBLE_EQ(read.inside, 0.9);
  EXPECT_DOUBLE_EQ(read.network, 1.5);
  EXPECT_EQ(read.fitted_on, written.fitted_on);
  EXPECT_EQ(read.rows, 42);
}

TEST(CalibrationFile, FaultsAreNamedTogether) {
  try {
    parse_calibration("weft: cluster/1\ncluster: x\nlatency: 0\nrows: 1\nnetwrk: 2\n", "s.yaml");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(error.diagnostics().size(), 3u);  // the format, the factor 0, the unknown key
  }
}

}  // namespace
}  // namespace weft::collective
