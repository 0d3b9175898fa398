#include "collective/constants.h"

#include <gtest/gtest.h>

#include "base/errors.h"
#include "base/text.h"

namespace weft::collective {
namespace {

constexpr std::string_view kGood = R"(version: 1
generations:
  - compute_capability: 80
    gpus: A100
    latency_scale: {value: 1.5, confidence: assumed, source: ""}
    ring:
      - {kinds: [all_reduce, all_gather], efficiency: 0.9, confidence: measured, source: a table}
  - compute_capability: 90
    gpus: H100
    latency_scale: {value: 1, confidence: measured, source: a table}
    nvls_latency_scale: {value: 2, confidence: measured, source: a table}
nics:
  - {name: aws, efficiency: 0.8, confidence: assumed, source: ""}
  - {name: efa-v9, efficiency: 0.7, confidence: assumed, source: ""}
  - {name: default, efficiency: 0.9, confidence: assumed, source: ""}
)";

double ring(const GenerationConstants& of, work::CollectiveKind kind) {
  return of.ring[static_cast<std::size_t>(kind)].efficiency;
}

TEST(Constants, WhatIsNotGivenIsOne) {
  const Constants constants = parse_constants(kGood, "c.yaml");
  const GenerationConstants& a100 = constants.of(80);
  EXPECT_DOUBLE_EQ(ring(a100, work::CollectiveKind::all_gather), 0.9);
  EXPECT_DOUBLE_EQ(ring(a100, work::CollectiveKind::broadcast), 1);
  EXPECT_DOUBLE_EQ(a100.nvls_latency_scale, 1.5);  // as latency_scale
  EXPECT_DOUBLE_EQ(constants.of(90).nvls_latency_scale, 2);
}

TEST(Constants, TheNearestGenerationAtOrBelowCounts) {
  const Constants constants = parse_constants(kGood, "c.yaml");
  EXPECT_EQ(constants.of(89).compute_capability, 80);
  EXPECT_EQ(constants.of(120).compute_capability, 90);
  EXPECT_EQ(constants.of(60).compute_capability, 80);  // below all: the oldest
}

TEST(Constants, NicsByModelThenVendorThenDefault) {
  const Constants constants = parse_constants(kGood, "c.yaml");
  EXPECT_DOUBLE_EQ(constants.nic("efa-v9-400g", fabric::Vendor::aws).efficiency, 0.7);
  EXPECT_DOUBLE_EQ(constants.nic("efa-v2", fabric::Vendor::aws).efficiency, 0.8);
  EXPECT_DOUBLE_EQ(constants.nic("cx7", fabric::Vendor::mellanox).efficiency, 0.9);
}

TEST(Constants, EveryFaultIsReportedWithItsLine) {
  const std::string_view bad = R"(version: 1
generations:
  - compute_capability: 80
    gpus: A100
    latency_scale: {value: 1.5, confidence: guessed, source: x}
    ring:
      - {kinds: [all_reduc], efficiency: 0.9, confidence: fitted, source: a table}
)";
  try {
    (void)parse_constants(bad, "c.yaml");
    FAIL() << "accepted";
  } catch (const InputError& error) {
    ASSERT_EQ(error.diagnostics().size(), 3u);
    EXPECT_EQ(error.diagnostics()[0].what, "unknown confidence 'guessed'");
    EXPECT_EQ(error.diagnostics()[0].where.line, 5);
    EXPECT_EQ(error.diagnostics()[1].what, "a fitted figure needs fitted_on and residual_percent");
    EXPECT_EQ(error.diagnostics()[2].what, "unknown collective 'all_reduc'");
    EXPECT_EQ(error.diagnostics()[2].hint, "did you mean 'all_reduce'?");
  }
}

TEST(Constants, TheShippedFileIsSoundAndHasEveryGeneration) {
  const Constants constants =
      parse_constants(read_file(WEFT_SOURCE_DIR "/data/constants/collective.yaml"),
                      "data/constants/collective.yaml");
  for (int generation : {70, 80, 86, 89, 90, 100, 942})
    EXPECT_EQ(constants.of(generation).compute_capability, generation);
  EXPECT_LT(constants.nic("connectx7", fabric::Vendor::mellanox).efficiency, 1);
}

}  // namespace
}  // namespace weft::collective
