#include "fabric/pcie.h"

#include <gtest/gtest.h>

namespace weft::fabric {
namespace {

TEST(Pcie, RatesFollowTransfersLanesAndCoding) {
  // lanes x transfers x coding / 8: 16 x 8 x 128/130 / 8 = 15.754 GB/s.
  EXPECT_NEAR(pcie_rate(1, 16).gb_per_s(), 4.0, 1e-9);     // 8b/10b
  EXPECT_NEAR(pcie_rate(2, 8).gb_per_s(), 4.0, 1e-9);      // 8b/10b
  EXPECT_NEAR(pcie_rate(3, 16).gb_per_s(), 15.754, 5e-4);  // 128b/130b from here
  EXPECT_NEAR(pcie_rate(4, 16).gb_per_s(), 31.508, 5e-4);
  EXPECT_NEAR(pcie_rate(5, 1).gb_per_s(), 3.9385, 5e-5);
  EXPECT_NEAR(pcie_rate(5, 16).gb_per_s(), 63.015, 5e-4);
  // Flits of 256 B give packets 236: 128 x 236/256 = 118 GB/s.
  EXPECT_NEAR(pcie_rate(6, 16).gb_per_s(), 118.0, 1e-9);
  EXPECT_NEAR(pcie_rate(7, 16).gb_per_s(), 236.0, 1e-9);
}

TEST(Pcie, Generation5BothWaysIsAbout126GigabytesASecond) {
  EXPECT_NEAR(2 * pcie_rate(5, 16).gb_per_s(), 126.03, 0.01);
}

TEST(Pcie, WritePayloadRate) {
  LinkClass link = pcie_link_class(5, 16, {.max_payload = Bytes(256)});
  // Tax: 8/168 + 8/168 + 4/1538 = 9.784 %; 63.015 x 0.90216 x 256/(256+24) = 51.98 GB/s.
  EXPECT_NEAR(pcie_write_rate(link).gb_per_s(), 51.98, 0.05);
  // Without the reverse direction's acknowledgements: 63.015 x 256/280 = 57.61 GB/s.
  link.framing.link_layer_tax = 0;
  EXPECT_NEAR(pcie_write_rate(link).gb_per_s(), 57.61, 0.005);
}

TEST(Pcie, ReadPayloadRate) {
  // 63.015 x 0.90216 x 256/(256+20) = 52.73 GB/s; with 512 B 63.015 x 0.90948 x 512/532 = 55.16.
  EXPECT_NEAR(pcie_read_rate(pcie_link_class(5, 16, {})).gb_per_s(), 52.73, 0.05);
  EXPECT_NEAR(pcie_read_rate(pcie_link_class(5, 16)).gb_per_s(), 55.16, 0.05);
  EXPECT_NEAR(pcie_read_rate(pcie_link_class(4, 16)).gb_per_s(), 26.37, 0.03);
  EXPECT_NEAR(pcie_write_rate(pcie_link_class(4, 16)).gb_per_s(), 25.99, 0.03);
  EXPECT_NEAR(pcie_write_rate(pcie_link_class(3, 8)).gb_per_s(), 6.615, 0.007);
}

TEST(Pcie, MeasuredCopiesAreWithinFivePercent) {
  // H2D 55.37 and D2H 55.2 GB/s on an HGX H100 (nvbandwidth 0.10); 26.0 on A100, generation 4.
  EXPECT_NEAR(pcie_read_rate(pcie_link_class(5, 16)).gb_per_s(), 55.37, 0.05 * 55.37);
  EXPECT_NEAR(pcie_read_rate(pcie_link_class(5, 16, {})).gb_per_s(), 55.37, 0.05 * 55.37);
  EXPECT_NEAR(pcie_write_rate(pcie_link_class(5, 16)).gb_per_s(), 55.2, 0.05 * 55.2);
  EXPECT_NEAR(pcie_read_rate(pcie_link_class(4, 16)).gb_per_s(), 26.0, 0.05 * 26.0);
}

TEST(Pcie, WireBytesOfOneTransfer) {
  const Framing framing = pcie_link_class(5, 16, {}).framing;
  // A 512 B read: one request of 24 B one way, two completions of 20 + 256 B the other.
  EXPECT_EQ(pcie_read_wire_bytes(Bytes(512), framing).requests, Bytes(24));
  EXPECT_EQ(pcie_read_wire_bytes(Bytes(512), framing).completions, Bytes(552));
  // A 600 B write: three packets, 600 + 3 x 24.
  EXPECT_EQ(pcie_write_wire_bytes(Bytes(600), framing), Bytes(672));
}

TEST(Pcie, LargerPayloadsWasteLess) {
  Framing framing = pcie_link_class(5, 16, {.max_payload = Bytes(4096)}).framing;
  // 4096 / (4096 + 24) = 0.9942.
  EXPECT_NEAR(4096.0 / static_cast<double>(pcie_write_wire_bytes(Bytes(4096), framing).count()),
              0.9942, 5e-5);
}

TEST(Pcie, FewReadsInFlightCannotFillALink) {
  // One read of 512 B per 600 ns is 0.853 GB/s whatever the link.
  EXPECT_NEAR(pcie_tag_limited_rate(1, Bytes(512), Duration::nanoseconds(600)).gb_per_s(), 0.8533,
              1e-4);
  // 74 of them are the first number to reach 63 GB/s.
  EXPECT_GT(pcie_tag_limited_rate(74, Bytes(512), Duration::nanoseconds(600)).gb_per_s(), 63.0);
  EXPECT_LT(pcie_tag_limited_rate(73, Bytes(512), Duration::nanoseconds(600)).gb_per_s(), 63.0);
}

TEST(Pcie, NarrowLinksAcknowledgeLessOften) {
  EXPECT_NEAR(pcie_link_layer_tax(5, 16, Bytes(256)), 16.0 / 168 + 4.0 / 1538, 1e-12);
  EXPECT_NEAR(pcie_link_layer_tax(3, 8, Bytes(256)), 16.0 / 203 + 4.0 / 1538, 1e-12);
  EXPECT_NEAR(pcie_link_layer_tax(3, 1, Bytes(2048)), 16.0 / 1167 + 4.0 / 1538, 1e-12);
  EXPECT_EQ(pcie_link_layer_tax(6, 16, Bytes(256)), 0);
}

}  // namespace
}  // namespace weft::fabric
