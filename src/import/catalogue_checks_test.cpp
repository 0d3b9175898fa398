// The capacity trap: makers count one way or both ways; ports x rate decides.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "import/catalogue.h"

namespace weft::import {
namespace {

// Faults of a catalogue with one record, as "what".
std::vector<std::string> faults(std::string_view section, std::string_view fields) {
  std::vector<std::string> out;
  try {
    Catalogue({{"c.yaml", fmt::format("weft: catalogue/1\nsources: {{s: S}}\n{}:\n  - {{{}, "
                                      "sources: {{all: s datasheet}}}}\n",
                                      section, fields)}});
  } catch (const InputError& error) {
    for (const Diagnostic& d : error.diagnostics()) {
      EXPECT_FALSE(d.hint.empty()) << d.what;
      EXPECT_GT(d.where.line, 0);
      out.push_back(d.what);
    }
  }
  return out;
}

std::vector<std::string> switch_faults(std::string_view fields) {
  return faults("switches", fmt::format("model: x, name: X, kind: network, {}", fields));
}

TEST(Capacity, OfBothWaysIsRefused) {
  // 64 x 400G = 25.6 Tb/s one way.
  EXPECT_TRUE(switch_faults("ports: {400Gbps: 64}, capacity: 25.6Tbps").empty());
  EXPECT_EQ(
      switch_faults("ports: {400Gbps: 64}, capacity: 51.2Tbps"),
      std::vector<std::string>{
          "capacity of 'x' is 51.2Tbps, but its ports carry 25.6Tbps one way (64 x 400Gbps)"});
}

TEST(Capacity, AHeadlineMustFitHowItWasCounted) {
  EXPECT_TRUE(switch_faults("ports: {400Gbps: 64}, headline: 51.2Tbps, headline_counts: both_ways")
                  .empty());
  EXPECT_TRUE(
      switch_faults("ports: {800Gbps: 128}, headline: 100Tbps, headline_counts: one_way").empty());
  EXPECT_EQ(switch_faults("ports: {400Gbps: 64}, headline: 51.2Tbps, headline_counts: one_way"),
            std::vector<std::string>{"headline of 'x' is 51.2Tbps counted one_way, but its ports "
                                     "carry 25.6Tbps one way (64 x 400Gbps)"});
  EXPECT_EQ(switch_faults("ports: {400Gbps: 64}, headline: 51.2Tbps"),
            std::vector<std::string>{"headline of 'x' does not say how it was counted"});
  EXPECT_TRUE(switch_faults("headline: 51.2Tbps, headline_counts: unclear").empty());
}

TEST(Capacity, CountsTheFastestChoiceAndMorePorts) {
  // 1024 lanes of 100G are no ports; 16 x 400G and 32 x 200G are 12.8 Tb/s.
  EXPECT_TRUE(
      switch_faults("ports: {400Gbps: 16}, more_ports: {200Gbps: 32}, capacity: 12.8Tbps").empty());
}

TEST(Sums, LinksTimesRateAndPowerBelowItsMaximum) {
  EXPECT_EQ(
      faults("links", "name: l, kind: nvlink, rate: 25GB/s, links_per_gpu: 18, per_gpu: 900GB/s"),
      std::vector<std::string>{"per_gpu of 'l' is not links_per_gpu x rate = 450GB/s"});
  EXPECT_EQ(switch_faults("power: 900W, power_max: 0.8kW"),
            std::vector<std::string>{"power_max of 'x' is below its power"});
}

}  // namespace
}  // namespace weft::import
