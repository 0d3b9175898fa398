#include "report/packet_series.h"

#include <gtest/gtest.h>

#include "base/csv.h"
#include "base/text.h"
#include "fabric/fabric_builder.h"
#include "fabric/test_servers.h"

namespace weft::report {
namespace {

// a -> b and back, 400 Gb/s.
fabric::Fabric two_switches() {
  fabric::FabricBuilder b;
  const auto kind =
      b.device_class(fabric::testing::device(fabric::DeviceKind::network_switch, "switch"));
  const auto first = b.add_device(kind, {.name = "a"}), second = b.add_device(kind, {.name = "b"});
  b.add_link({first, second}, b.link_class(fabric::testing::cable(fabric::LinkKind::ethernet, 5)));
  return std::move(b).build();
}

Instant us(double time) {
  return Instant::at(Duration::from_microseconds(time));
}

TEST(PacketSeries, APacketAcrossABorderCountsInBothIntervals) {
  const fabric::Fabric fabric = two_switches();
  PacketSeries series(fabric, LinkChoice(fabric, {"a -> b"}), Duration::microseconds(1));
  result::SeenPacket packet;
  packet.link = fabric::LinkId(std::size_t{0});
  packet.wire_bytes = 50'000;  // 1 us at 400 Gb/s
  series.packet_joined(packet, us(0.25), Bytes(12'500), true);
  series.packet_sent(packet, us(0.75), us(1.75));
  series.pause_sent(packet.link, us(1.5), true);
  series.link_held(packet.link, us(1.75), result::Hold::pause, true);
  series.finish(us(2.5));  // held to the end: 0.25 us and 0.5 us
  // 12,500 of 50,000 B go in the first interval, which is a quarter of what it can take.
  EXPECT_EQ(
      series.csv(),
      "start_us,from,to,wire_bytes,utilisation_ratio,queue_max_bytes,queue_mean_bytes,packets,"
      "marks,drops,pauses,held_us,notifications,retransmitted\n"
      "0,a,b,12500,0.25,62500,12500,1,1,0,0,0,0,0\n"
      "1,a,b,37500,0.75,0,0,0,0,0,1,0.25,0,0\n"
      "2,a,b,0,0,0,0,0,0,0,0,0.5,0,0\n");
  EXPECT_EQ(series.queues().max(), 12'500u);
}

TEST(PacketSeries, PassesOverLinksThatItDidNotAskFor) {
  const fabric::Fabric fabric = two_switches();
  PacketSeries series(fabric, LinkChoice(fabric, {"a -> b"}), Duration::microseconds(1));
  result::SeenPacket packet;
  packet.link = fabric::LinkId(std::size_t{1});
  EXPECT_FALSE(series.watches(packet.link));
  series.packet_joined(packet, us(0), Bytes(), false);
  series.packet_dropped(packet, us(0));
  EXPECT_EQ(series.json_lines(), "");
}

TEST(PacketSeries, JsonLinesHaveTheColumnsOfTheTable) {
  const fabric::Fabric fabric = two_switches();
  PacketSeries series(fabric, LinkChoice(fabric, {}), Duration::microseconds(10));
  result::SeenPacket packet;
  packet.link = fabric::LinkId(std::size_t{0});
  series.packet_dropped(packet, us(12));
  const std::string lines = series.json_lines();
  EXPECT_EQ(lines.find('\n'), lines.size() - 1);  // one line
  const std::string header = series.csv().substr(0, series.csv().find('\n'));
  for (const std::string_view column : split(header, ','))
    EXPECT_NE(lines.find("\"" + std::string(column) + "\""), std::string::npos) << column;
  EXPECT_NE(lines.find("\"drops\":1,"), std::string::npos) << lines;
}

TEST(LinkChoice, PatternsNameLinksOrTheirEnds) {
  const fabric::Fabric fabric = two_switches();
  const fabric::LinkId there(std::size_t{0}), back(std::size_t{1});
  EXPECT_TRUE(LinkChoice(fabric, {"a ->*"}).has(there));
  EXPECT_FALSE(LinkChoice(fabric, {"a ->*"}).has(back));
  EXPECT_TRUE(LinkChoice(fabric, {"b"}).has(back));  // both links touch b
  EXPECT_TRUE(LinkChoice(fabric, {"b"}).has(there));
  EXPECT_TRUE(LinkChoice(fabric, {}).has(back));
  EXPECT_EQ(LinkChoice(fabric, {"c", "a"}).unused(), std::vector<std::string>{"c"});
}

}  // namespace
}  // namespace weft::report
