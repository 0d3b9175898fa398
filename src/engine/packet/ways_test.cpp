// Every link of a sprayed flow comes as often as the routes share out its bytes.
#include "engine/packet/ways.h"

#include <gtest/gtest.h>

#include <map>

#include "engine/packet/test_network.h"

namespace weft::engine::packet {
namespace {

using testing::TestNetwork;

std::map<fabric::LinkId, int> uses(const std::vector<WayLinks>& ways) {
  std::map<fabric::LinkId, int> out;
  for (const WayLinks& way : ways)
    for (const fabric::LinkId link : way) ++out[link];
  return out;
}

// Six spines: a round of 6k ways takes each k times. Random draws would not: of 60 draws over six
// links the fullest gets 14.
TEST(Ways, ComeAsOftenAsTheirShares) {
  routing::RouteOptions spray;
  spray.policy = routing::Policy::spray;
  for (const int spines : {1, 2, 3, 6, 8, 13}) {
    const TestNetwork network(2, 2, spines, spray);
    const auto nics = network.setup.fabric->of_kind(fabric::DeviceKind::nic);
    const auto ways = balanced_ways(*network.setup.routes, nics[0], nics[2], 7);
    ASSERT_FALSE(ways.empty());
    ASSERT_EQ(ways.size() % static_cast<std::size_t>(spines), 0u) << spines;
    for (const auto& [link, times] : uses(ways)) {
      const bool shared = network.setup.fabric->kind(network.setup.fabric->from(link)) ==
                              fabric::DeviceKind::network_switch &&
                          network.setup.fabric->kind(network.setup.fabric->to(link)) ==
                              fabric::DeviceKind::network_switch;
      const auto whole = static_cast<int>(ways.size());
      EXPECT_EQ(times, shared ? whole / spines : whole);
    }
  }
}

// In any run of as many packets as there are spines, no spine comes twice.
TEST(Ways, AreInterleaved) {
  routing::RouteOptions spray;
  spray.policy = routing::Policy::spray;
  const TestNetwork network(2, 2, 8, spray);
  const auto nics = network.setup.fabric->of_kind(fabric::DeviceKind::nic);
  const auto ways = balanced_ways(*network.setup.routes, nics[0], nics[2], 7);
  for (std::size_t i = 0; i + 8 <= ways.size(); i += 8) {
    const std::vector<WayLinks> run(ways.begin() + static_cast<std::ptrdiff_t>(i),
                                    ways.begin() + static_cast<std::ptrdiff_t>(i + 8));
    EXPECT_EQ(uses(run).size(), 2u + 8 * 2);
  }
}

}  // namespace
}  // namespace weft::engine::packet
