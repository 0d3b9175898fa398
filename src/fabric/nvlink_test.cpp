#include "fabric/nvlink.h"

#include <gtest/gtest.h>

namespace weft::fabric {
namespace {

TEST(Nvlink, AHeaderFlitForEverySixteenOfData) {
  // 26.5625 x 16/17 = 25.0 GB/s a link; nvidia-smi shows the first figure, NVIDIA states the
  // second.
  EXPECT_NEAR(nvlink_wire_rate(4).gb_per_s(), 26.5625, 1e-9);
  EXPECT_NEAR(nvlink_payload_rate(4).gb_per_s(), 25.0, 1e-6);
  EXPECT_NEAR(nvlink_payload_rate(5).gb_per_s(), 50.0, 1e-6);
}

TEST(Nvlink, AGpuOfGeneration4HasAbout900GigabytesASecondBothWays) {
  EXPECT_NEAR(2 * 18 * nvlink_payload_rate(4).gb_per_s(), 900, 1e-3);
  EXPECT_NEAR(2 * 12 * nvlink_stated_rate(3).gb_per_s(), 600, 1e-9);
  EXPECT_NEAR(2 * 18 * nvlink_payload_rate(5).gb_per_s(), 1800, 1e-3);
}

TEST(Nvlink, MeasuredCopiesStayBelowThePayloadRate) {
  // V100, two links a pair: 48.45 GB/s each way measured; 2 x 25.78 x 16/17 = 48.53.
  EXPECT_NEAR(2 * nvlink_payload_rate(2).gb_per_s(), 48.45, 0.01 * 48.45);
  // A100, twelve links: 276 GB/s measured (nvbandwidth); 12 x 25 x 16/17 = 282.4.
  EXPECT_NEAR(12 * nvlink_payload_rate(3).gb_per_s(), 276.35, 0.03 * 276.35);
}

TEST(Nvlink, BundlesAddUp) {
  const LinkClass link = nvlink_link_class(4, 18);
  EXPECT_EQ(link.width, 18);
  EXPECT_EQ(link.generation, 4);
  EXPECT_EQ(link.name, "nvlink4 x18");
  EXPECT_NEAR(link.raw_rate.gb_per_s(), 18 * 26.5625, 1e-6);
}

TEST(Nvlink, SocketsGivePeersLessThanMemory) {
  LinkClass upi;
  upi.kind = LinkKind::inter_socket;
  upi.name = "upi";
  upi.raw_rate = BitRate::from_gigabytes_per_second(32);
  const LinkClass three = inter_socket_link_class(upi, 3, BitRate::from_gigabytes_per_second(22));
  EXPECT_NEAR(three.raw_rate.gb_per_s(), 96, 1e-9);
  EXPECT_NEAR(three.peer_rate.gb_per_s(), 22, 1e-9);
  EXPECT_EQ(three.width, 3);
}

}  // namespace
}  // namespace weft::fabric
