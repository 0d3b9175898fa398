// Frames of RoCEv2 and of Ethernet's priority pauses, byte by byte, as a capture shows them:
// Ethernet, IPv4, UDP, base transport header, its extension, payload of zeros, invariant CRC; no
// frame check sequence. Sources: IBTA volume 1 chapter 9 and Annex A17 (RoCEv2), IEEE 802.1Qbb.
// Leaves out: IPv6, VLAN tags, what the payload says.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace weft::report {

enum class RoceOpcode : std::uint8_t {
  write_first = 0x06,
  write_middle = 0x07,
  write_last = 0x08,
  write_only = 0x0a,
  acknowledge = 0x11,
  congestion_notification = 0x81,
};

struct RoceFrame {
  std::uint32_t from = 0, to = 0;  // hosts: MAC 02:00:..., address 10.x.y.z; below 2^24 - 2
  std::uint16_t source_port = 0xc000;
  RoceOpcode opcode = RoceOpcode::write_only;
  std::uint32_t queue_pair = 0;  // of the receiver, 24 bits
  std::uint32_t sequence = 0;    // packet sequence number; its lower 24 bits count
  bool can_mark = false;         // ECN capable
  bool congestion = false;       // ECN: congestion experienced
  bool urges_ack = false;
  std::uint32_t payload = 0;  // bytes
  // Write, first and only: where the message goes, and all its bytes.
  std::uint64_t address = 0;
  std::uint32_t key = 0, length = 0;
  // Acknowledgement.
  std::uint8_t syndrome = 0;
  std::uint32_t messages = 0;
};

inline constexpr std::uint8_t kAckSyndrome = 0x1f;  // no end-to-end credits are counted
inline constexpr std::uint8_t kSequenceErrorSyndrome = 0x60;

std::string roce_frame(const RoceFrame& frame);
// Stops priority 3 (or lets it go on, with 0 quanta) of whoever is at the other end.
std::string pause_frame(std::uint32_t from, std::uint16_t quanta);
// Of an IPv4 packet from its first byte up to, and without, the ICRC; as it stands in the packet,
// least significant byte first.
std::uint32_t invariant_crc(std::string_view ip_packet);

}  // namespace weft::report
