#include "report/pcap.h"

#include <algorithm>

#include "base/check.h"

namespace weft::report {

using result::PacketKind;
using result::SeenPacket;

namespace {

constexpr std::uint32_t kMessage = 1u << 30;  // bytes of a write; the format allows 2^31
constexpr std::uint16_t kLongestPause = 0xffff;

void put_little(std::string& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> 8 * i & 0xff);
}

std::uint32_t packets_of_message(const result::PacketFlow& flow) {
  return std::max(1u, kMessage / flow.payload);
}

std::uint64_t bytes_of(const result::PacketFlow& flow) {
  return std::uint64_t{flow.packets - 1} * flow.payload + flow.last_payload;
}

// Queue pairs of the sender and the receiver of a flow; 0 and 1 are reserved.
std::uint32_t sender_pair(std::uint32_t flow) {
  return (2 * flow + 0x100) & 0xffffff;
}
std::uint32_t receiver_pair(std::uint32_t flow) {
  return (2 * flow + 0x101) & 0xffffff;
}

void fill_write(RoceFrame& out, const result::PacketFlow& flow, const SeenPacket& packet) {
  const std::uint32_t whole = packets_of_message(flow);
  const std::uint32_t place = packet.sequence % whole, message = packet.sequence / whole;
  const bool last_of_flow = packet.sequence + 1 == flow.packets;
  const bool first = place == 0, last = place + 1 == whole || last_of_flow;
  out.opcode = first && last ? RoceOpcode::write_only
               : first       ? RoceOpcode::write_first
               : last        ? RoceOpcode::write_last
                             : RoceOpcode::write_middle;
  out.payload = last_of_flow ? flow.last_payload : flow.payload;
  const std::uint64_t offset = std::uint64_t{message} * whole * flow.payload;
  out.address = 0x100000000ull + offset;
  out.key = sender_pair(flow.flow);
  out.length = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(std::uint64_t{whole} * flow.payload, bytes_of(flow) - offset));
}

}  // namespace

Pcap::Pcap(const fabric::Fabric& fabric, LinkChoice links, std::uint32_t snap, bool marks,
           Sink sink)
    : fabric_(&fabric),
      links_(std::move(links)),
      snap_(snap),
      marks_(marks),
      sink_(std::move(sink)) {
  std::string header;
  put_little(header, 0xa1b23c4d, 4);
  put_little(header, 2, 2);
  put_little(header, 4, 2);
  put_little(header, 0, 8);
  put_little(header, snap_, 4);
  put_little(header, 1, 4);  // Ethernet
  sink_(header);
}

void Pcap::flow_opened(const result::PacketFlow& flow, Instant) {
  CHECK(flow.flow == flows_.size());
  flows_.push_back(flow);
}

void Pcap::packet_joined(const SeenPacket&, Instant when, Bytes, bool) {
  write_until(when);
}

void Pcap::packet_sent(const SeenPacket& packet, Instant first, Instant) {
  if (links_.has(packet.link) && flows_[packet.flow].from.valid())
    hold(first, packet, false, false);
}

void Pcap::pause_sent(fabric::LinkId link, Instant when, bool stop) {
  if (!links_.has(link)) return;
  SeenPacket asks;
  asks.link = link;
  hold(when, asks, true, stop);
}

void Pcap::hold(Instant when, const SeenPacket& packet, bool is_pause, bool stop) {
  held_.push({when, order_++, packet, is_pause, stop});
}

void Pcap::write_until(Instant now) {
  for (; !held_.empty() && held_.top().when <= now; held_.pop()) write(held_.top());
}

void Pcap::finish() {
  write_until(Instant::never());
}

std::string Pcap::frame_of(const SeenPacket& packet) const {
  const result::PacketFlow& flow = flows_[packet.flow];
  RoceFrame out;
  out.source_port = static_cast<std::uint16_t>(0xc000 | (packet.flow & 0x3fff));
  out.sequence = packet.sequence;
  out.congestion = packet.congestion;
  if (packet.kind == PacketKind::data) {
    out.from = flow.from.value;
    out.to = flow.to.value;
    out.queue_pair = receiver_pair(packet.flow);
    out.can_mark = marks_;
    out.urges_ack = packet.urges_ack;
    fill_write(out, flow, packet);
    return roce_frame(out);
  }
  out.from = flow.to.value;
  out.to = flow.from.value;
  out.queue_pair = sender_pair(packet.flow);
  if (packet.kind == PacketKind::notification) {
    out.opcode = RoceOpcode::congestion_notification;
    out.sequence = 0;
    return roce_frame(out);
  }
  out.opcode = RoceOpcode::acknowledge;
  const bool missing = packet.kind == PacketKind::nack;
  out.syndrome = missing ? kSequenceErrorSyndrome : kAckSyndrome;
  // An acknowledgement names the last packet that it confirms, a NAK the one that is missing.
  out.sequence = packet.sequence - (missing ? 0 : 1);
  const std::uint32_t whole = packets_of_message(flow);
  out.messages = packet.sequence / whole +
                 (packet.sequence == flow.packets && packet.sequence % whole != 0 ? 1 : 0);
  return roce_frame(out);
}

void Pcap::write(const Held& held) {
  const std::string frame = held.is_pause ? pause_frame(fabric_->to(held.packet.link).value,
                                                        held.stop ? kLongestPause : 0)
                                          : frame_of(held.packet);
  const auto nanoseconds = static_cast<std::uint64_t>(held.when.since_start().ps() / 1000);
  const std::size_t kept = std::min<std::size_t>(frame.size(), snap_);
  std::string record;
  put_little(record, nanoseconds / 1'000'000'000, 4);
  put_little(record, nanoseconds % 1'000'000'000, 4);
  put_little(record, kept, 4);
  put_little(record, frame.size(), 4);
  record.append(frame, 0, kept);
  sink_(record);
  ++frames_;
}

}  // namespace weft::report
