#include "report/roce_frames.h"

#include <array>

#include "base/check.h"

namespace weft::report {

namespace {

constexpr std::size_t kEthernet = 14, kIp = 20, kUdp = 8, kTransport = 12, kCrc = 4;
constexpr std::size_t kShortestFrame = 60;  // without its check sequence
constexpr std::uint16_t kPort = 4791;
// Differentiated services code points as RoCE is usually set up: 26 for data and acknowledgements,
// 48 for congestion notifications.
constexpr std::uint8_t kDataClass = 26, kNotificationClass = 48;

void put(std::string& out, std::uint64_t value, int bytes) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8)
    out += static_cast<char>(value >> shift & 0xff);
}

// Locally administered: 02:00 and the host's number.
void put_mac(std::string& out, std::uint32_t host) {
  put(out, 0x0200, 2);
  put(out, host, 4);
}

// CRC-32 of IEEE 802.3, a byte at a time by table.
constexpr std::array<std::uint32_t, 256> make_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0xedb88320u : 0);
    table[i] = crc;
  }
  return table;
}
constexpr std::array<std::uint32_t, 256> kTable = make_table();

std::uint32_t crc_on(std::uint32_t crc, std::uint8_t byte) {
  return crc >> 8 ^ kTable[(crc ^ byte) & 0xff];
}

// Fields that a router may change count as ones: type of service, time to live, both checksums, and
// the byte with FECN and BECN.
bool may_change(std::size_t at) {
  return at == 1 || at == 8 || at == 10 || at == 11 || at == kIp + 6 || at == kIp + 7 ||
         at == kIp + kUdp + 4;
}

void put_ip(std::string& out, const RoceFrame& frame, std::size_t length) {
  const bool notifies = frame.opcode == RoceOpcode::congestion_notification;
  const int ecn = frame.congestion ? 3 : frame.can_mark ? 2 : 0;
  std::string ip;
  put(ip, 0x45, 1);
  put(ip, static_cast<std::uint64_t>((notifies ? kNotificationClass : kDataClass) << 2 | ecn), 1);
  put(ip, length, 2);
  put(ip, 0, 2);
  put(ip, 0x4000, 2);  // don't fragment
  put(ip, 64, 1);
  put(ip, 17, 1);
  put(ip, 0, 2);
  put(ip, 0x0a000001u + frame.from, 4);
  put(ip, 0x0a000001u + frame.to, 4);
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < ip.size(); i += 2)
    sum += static_cast<std::uint32_t>(static_cast<std::uint8_t>(ip[i]) << 8 |
                                      static_cast<std::uint8_t>(ip[i + 1]));
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  ip[10] = static_cast<char>(~sum >> 8 & 0xff);
  ip[11] = static_cast<char>(~sum & 0xff);
  out += ip;
}

void put_transport(std::string& out, const RoceFrame& frame, std::uint32_t padding) {
  put(out, static_cast<std::uint64_t>(frame.opcode), 1);
  put(out, 0x40 | padding << 4, 1);  // migrated, as in a connection that never fails over
  put(out, 0xffff, 2);               // the default partition
  const bool notifies = frame.opcode == RoceOpcode::congestion_notification;
  put(out, notifies ? 0x40 : 0, 1);  // BECN
  put(out, frame.queue_pair & 0xffffff, 3);
  put(out, frame.urges_ack ? 0x80 : 0, 1);
  put(out, frame.sequence & 0xffffff, 3);
}

std::string extension(const RoceFrame& frame) {
  std::string out;
  switch (frame.opcode) {
    case RoceOpcode::write_first:
    case RoceOpcode::write_only:
      put(out, frame.address, 8);
      put(out, frame.key, 4);
      put(out, frame.length, 4);
      break;
    case RoceOpcode::acknowledge:
      put(out, frame.syndrome, 1);
      put(out, frame.messages & 0xffffff, 3);
      break;
    case RoceOpcode::congestion_notification:
      out.assign(16, '\0');  // reserved
      break;
    case RoceOpcode::write_middle:
    case RoceOpcode::write_last:
      break;
  }
  return out;
}

}  // namespace

std::uint32_t invariant_crc(std::string_view packet) {
  std::uint32_t crc = 0xffffffffu;
  for (int i = 0; i < 8; ++i) crc = crc_on(crc, 0xff);  // InfiniBand's local header, as ones
  for (std::size_t i = 0; i < packet.size(); ++i)
    crc = crc_on(crc, may_change(i) ? 0xff : static_cast<std::uint8_t>(packet[i]));
  return ~crc;
}

std::string roce_frame(const RoceFrame& frame) {
  CHECK(frame.from < 0xfffffe && frame.to < 0xfffffe);
  const std::uint32_t padding = (4 - frame.payload % 4) % 4;
  const std::string more = extension(frame);
  const std::size_t datagram = kUdp + kTransport + more.size() + frame.payload + padding + kCrc;
  std::string out;
  out.reserve(kEthernet + kIp + datagram);
  put_mac(out, frame.to);
  put_mac(out, frame.from);
  put(out, 0x0800, 2);
  put_ip(out, frame, kIp + datagram);
  put(out, frame.source_port, 2);
  put(out, kPort, 2);
  put(out, datagram, 2);
  put(out, 0, 2);  // no checksum, as the annex recommends
  put_transport(out, frame, padding);
  out += more;
  out.append(frame.payload + padding, '\0');
  const std::uint32_t crc = invariant_crc(std::string_view(out).substr(kEthernet));
  for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>(crc >> shift & 0xff);
  return out;
}

std::string pause_frame(std::uint32_t from, std::uint16_t quanta) {
  std::string out;
  put(out, 0x0180c2000001, 6);
  put_mac(out, from);
  put(out, 0x8808, 2);
  put(out, 0x0101, 2);
  put(out, 1 << 3, 2);
  for (int priority = 0; priority < 8; ++priority) put(out, priority == 3 ? quanta : 0, 2);
  out.resize(kShortestFrame, '\0');
  return out;
}

}  // namespace weft::report
