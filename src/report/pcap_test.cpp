#include "report/pcap.h"

#include <gtest/gtest.h>

#include "fabric/fabric_builder.h"
#include "fabric/test_servers.h"

namespace weft::report {
namespace {

std::string from_hex(std::string_view hex) {
  std::string out;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    out += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  return out;
}

std::uint64_t big(std::string_view frame, std::size_t at, std::size_t bytes) {
  std::uint64_t out = 0;
  for (std::size_t i = 0; i < bytes; ++i) out = out << 8 | static_cast<std::uint8_t>(frame[at + i]);
  return out;
}

// A captured unreliable-connection SEND of Linux's RoCE driver, the vector of Scapy's test of its
// RoCE layer; its ICRC stands in the packet as 78 f3 53 f3.
TEST(Roce, InvariantCrcOfACapturedPacket) {
  std::string packet = from_hex(
      "4501004004784000"          // IPv4: ECT(1), 64 B, id 1144, don't fragment
      "4011b4e2c0a80007c0a80007"  // ttl 64, UDP, checksum, 192.168.0.7 twice
      "c00012b7002c0000"          // ports 49152 and 4791, 44 B
      "2460ffff000000d300cf1710"  // UC SEND only, 2 B of padding, queue pair 211, number 13571856
      "4630818be28935d90e9a95505401be885e500000");
  EXPECT_EQ(invariant_crc(packet), 0xf353f378u);
  // What routers change does not change it: ECN, time to live, the IP checksum, FECN.
  packet[1] = 0x03;
  packet[8] = 0x3f;
  packet[10] = packet[11] = 0;
  packet[32] = static_cast<char>(0x80);
  EXPECT_EQ(invariant_crc(packet), 0xf353f378u);
  packet[40] ^= 1;
  EXPECT_NE(invariant_crc(packet), 0xf353f378u);
}

// On the wire come 4 B of check sequence and 20 B of preamble and gap: the sizes the engine counts.
TEST(Roce, FramesHaveTheSizesThatTheEngineCounts) {
  RoceFrame frame;
  frame.opcode = RoceOpcode::write_middle;
  frame.payload = 4096;
  EXPECT_EQ(roce_frame(frame).size() + 24, 4096u + 82);
  frame.payload = 0;
  frame.opcode = RoceOpcode::acknowledge;
  EXPECT_EQ(roce_frame(frame).size() + 24, 86u);
  frame.opcode = RoceOpcode::congestion_notification;
  EXPECT_EQ(roce_frame(frame).size() + 24, 98u);
  EXPECT_EQ(pause_frame(1, 0).size(), 60u);
}

TEST(Roce, APayloadIsPaddedToFourBytes) {
  RoceFrame frame;
  frame.opcode = RoceOpcode::write_last;
  frame.payload = 101;
  const std::string bytes = roce_frame(frame);
  EXPECT_EQ(bytes.size(), 14u + 20 + 8 + 12 + 104 + 4);
  EXPECT_EQ(big(bytes, 43, 1) >> 4 & 3, 3u);  // 3 B of padding
  EXPECT_EQ(big(bytes, 16, 2), bytes.size() - 14);
  EXPECT_EQ(big(bytes, 38, 2), bytes.size() - 34);
}

TEST(Roce, APauseStopsPriorityThree) {
  const std::string frame = pause_frame(0x0102, 0xffff);
  EXPECT_EQ(big(frame, 0, 6), 0x0180c2000001u);
  EXPECT_EQ(big(frame, 6, 6), 0x020000000102u);
  EXPECT_EQ(big(frame, 12, 4), 0x88080101u);
  EXPECT_EQ(big(frame, 16, 2), 0x0008u);          // bit 3 of the class-enable vector
  EXPECT_EQ(big(frame, 18 + 2 * 3, 2), 0xffffu);  // and its timer
  EXPECT_EQ(big(frame, 18, 6), 0u);
}

struct Capture {
  Capture() {
    fabric::FabricBuilder b;
    const auto kind = b.device_class(fabric::testing::device(fabric::DeviceKind::nic, "nic"));
    const auto x = b.add_device(kind, {.name = "x"}), y = b.add_device(kind, {.name = "y"});
    b.add_link({x, y}, b.link_class(fabric::testing::cable(fabric::LinkKind::ethernet, 5)));
    fabric = std::make_unique<fabric::Fabric>(std::move(b).build());
    pcap = std::make_unique<Pcap>(*fabric, LinkChoice(*fabric, {}), 128, true,
                                  [this](std::string_view bytes) { file += bytes; });
    flow.from = x;
    flow.to = y;
    flow.packets = 3;
    flow.payload = flow.last_payload = 1000;
    pcap->flow_opened(flow, Instant());
  }
  void send(std::uint32_t sequence, std::int64_t ns, result::PacketKind kind = {}) {
    result::SeenPacket packet;
    packet.link = fabric::LinkId(std::size_t{kind == result::PacketKind::data ? 0u : 1u});
    packet.kind = kind;
    packet.sequence = sequence;
    const Instant when = Instant::at(Duration::nanoseconds(ns));
    pcap->packet_sent(packet, when, when + Duration::nanoseconds(20));
  }
  // Of the n-th record: time in ns, and the frame kept.
  std::pair<std::uint64_t, std::string> record(std::size_t n) const {
    std::size_t at = 24;
    const auto little = [&](std::size_t from) {
      std::uint64_t out = 0;
      for (std::size_t i = 4; i-- > 0;) out = out << 8 | static_cast<std::uint8_t>(file[from + i]);
      return out;
    };
    for (; n > 0; --n) at += 16 + little(at + 8);
    return {little(at) * 1'000'000'000 + little(at + 4), file.substr(at + 16, little(at + 8))};
  }

  std::unique_ptr<fabric::Fabric> fabric;
  std::unique_ptr<Pcap> pcap;
  result::PacketFlow flow;
  std::string file;
};

TEST(Pcap, FramesComeOutInTheOrderOfTheirTimes) {
  Capture capture;
  capture.send(0, 100);
  capture.send(1, 2'000'000'300);  // queued: known before the acknowledgement, leaves after it
  capture.send(1, 200, result::PacketKind::ack);
  capture.pcap->finish();
  EXPECT_EQ(capture.pcap->frames(), 3u);
  EXPECT_EQ(capture.record(0).first, 100u);
  EXPECT_EQ(capture.record(1).first, 200u);
  EXPECT_EQ(capture.record(2).first, 2'000'000'300u);
  EXPECT_EQ(capture.record(0).second.size(), 128u);  // 1074 B on the wire, 128 kept
}

TEST(Pcap, AFlowIsAWriteAndItsAcknowledgementsCountIt) {
  Capture capture;
  for (std::uint32_t n = 0; n < 3; ++n) capture.send(n, 100 + n);
  capture.send(3, 200, result::PacketKind::ack);
  capture.send(1, 300, result::PacketKind::nack);
  capture.send(0, 400, result::PacketKind::notification);
  capture.pcap->finish();
  const auto opcode = [&](std::size_t n) { return big(capture.record(n).second, 42, 1); };
  EXPECT_EQ(opcode(0), 0x06u);
  EXPECT_EQ(opcode(1), 0x07u);
  EXPECT_EQ(opcode(2), 0x08u);
  EXPECT_EQ(big(capture.record(0).second, 54 + 12, 4), 3000u);  // bytes of the write
  EXPECT_EQ(opcode(3), 0x11u);
  EXPECT_EQ(big(capture.record(3).second, 51, 3), 2u);           // confirms packet 2
  EXPECT_EQ(big(capture.record(3).second, 54, 4), 0x1f000001u);  // one message is complete
  EXPECT_EQ(big(capture.record(4).second, 51, 3), 1u);           // packet 1 is missing
  EXPECT_EQ(big(capture.record(4).second, 54, 4), 0x60000000u);
  EXPECT_EQ(opcode(5), 0x81u);
  EXPECT_EQ(big(capture.record(5).second, 46, 1), 0x40u);  // BECN
  // Both directions name the other end's queue pair.
  EXPECT_EQ(big(capture.record(0).second, 47, 3), big(capture.record(3).second, 47, 3) + 1);
}

}  // namespace
}  // namespace weft::report
