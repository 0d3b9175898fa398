#include "fabric/classes.h"

#include <gtest/gtest.h>

namespace weft::fabric {
namespace {

TEST(Classes, EveryKindHasAName) {
  EXPECT_EQ(to_text(DeviceKind::gpu), "gpu");
  EXPECT_EQ(to_text(DeviceKind::network_switch), "switch");
  EXPECT_EQ(to_text(DeviceKind::gateway), "gateway");
  EXPECT_EQ(to_text(LinkKind::pcie), "pcie");
  EXPECT_EQ(to_text(LinkKind::wide_area), "wide_area");
  EXPECT_EQ(to_text(FlowControl::credit), "credit");
  EXPECT_EQ(to_text(Vendor::google), "google");
}

TEST(Classes, OnlyLinksOutsideAServerAreNetworkLinks) {
  EXPECT_FALSE(is_network(LinkKind::on_die));
  EXPECT_FALSE(is_network(LinkKind::nvlink));
  EXPECT_TRUE(is_network(LinkKind::ethernet));
  EXPECT_TRUE(is_network(LinkKind::wide_area));
}

}  // namespace
}  // namespace weft::fabric
