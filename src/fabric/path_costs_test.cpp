#include "fabric/path_costs.h"

#include <gtest/gtest.h>

#include "base/errors.h"
#include "base/text.h"
#include "fabric/pcie.h"

namespace weft::fabric {
namespace {

std::string shipped() {
  return read_file(std::string(WEFT_SOURCE_DIR) + "/data/constants/path_costs.yaml");
}

// The shipped file with one piece of text exchanged.
std::string changed(std::string_view what, std::string_view by) {
  std::string text = shipped();
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos);
  return text.replace(at, what.size(), by);
}

std::string fault(const std::string& text) {
  try {
    (void)read_path_costs(text, "path_costs.yaml");
  } catch (const InputError& error) {
    return error.diagnostics().front().what;
  }
  return {};
}

TEST(PathCosts, TheShippedFileHoldsTheDefaults) {
  EXPECT_EQ(read_path_costs(shipped(), "path_costs.yaml"), PathCosts());
}

TEST(PathCosts, AChangedValueIsTaken) {
  const PathCosts costs = read_path_costs(
      changed("copy_launch, value: 6us", "copy_launch, value: 9us"), "path_costs.yaml");
  EXPECT_EQ(costs.copy_launch, Duration::microseconds(9));
}

TEST(PathCosts, FaultsAreNamed) {
  EXPECT_NE(fault(changed("name: copy_launch", "name: copy_lunch")), "");
  EXPECT_NE(fault(changed("value: 6us", "value: six")), "");
  EXPECT_NE(fault(changed("name: doorbell", "name: post_wqe")), "");
  EXPECT_NE(fault(changed("confidence: measured", "confidence: hearsay")), "");
  EXPECT_NE(fault(changed("path_costs/1", "path_costs/2")), "");
  const std::string text = "weft: path_costs/1\nconstants: []\n";
  EXPECT_EQ(fault(text), "constant 'copy_launch' is missing");
}

TEST(PathCosts, RegisteringCostsByThePage) {
  // 16 us + 2^30 x 0.06 ns = 64.44 ms; 4 MiB: 16 + 251.7 us.
  EXPECT_NEAR(registration_time({}, Bytes::gib(1)).to_seconds() * 1e3, 64.44, 0.01);
  EXPECT_NEAR(registration_time({}, Bytes::mib(4)).to_microseconds(), 267.7, 0.1);
}

TEST(PathCosts, CopyingAloneLimitsACore) {
  // At 0.2 ns a byte and nothing else, 5 GB/s = 40 Gb/s.
  PathCosts costs;
  costs.socket_copy_ns_per_byte = 0.2;
  costs.system_call = costs.segment_cost = Duration();
  EXPECT_EQ(socket_rates(costs).send_per_segment, Duration::nanoseconds(12'800));
}

TEST(PathCosts, NvlinkEfficienciesGiveNcclsRates) {
  // GB/s a link: 20, 20, 20.6 and 40.1 for generations 2 to 5.
  EXPECT_NEAR(sm_nvlink_efficiency({}, 2) * 206.25 / 8 * 16 / 17, 20, 0.02);
  EXPECT_NEAR(sm_nvlink_efficiency({}, 3) * 25 * 16 / 17, 20, 0.02);
  EXPECT_NEAR(sm_nvlink_efficiency({}, 4) * 25, 20.6, 0.02);
  EXPECT_NEAR(sm_nvlink_efficiency({}, 5) * 50, 40.1, 0.02);
}

}  // namespace
}  // namespace weft::fabric
