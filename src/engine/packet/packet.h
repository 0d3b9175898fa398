// A packet in flight: one cache line in a pool, named by its 32-bit index. Packets that a link has
// taken (queued, on the wire, or both) form that link's ring through `next`. Leaves out: payload.
#pragma once

#include <cstdint>
#include <vector>

#include "base/check.h"
#include "engine/packet/huge_pages.h"

namespace weft::engine::packet {

using Time = std::int64_t;  // picoseconds since the start
inline constexpr std::uint32_t kNone = 0xffffffffu;
inline constexpr Time kNever = INT64_MAX;

enum class PacketKind : std::uint8_t { data, ack, nack, cnp };

struct alignas(64) Packet {
  Time arrival = 0;            // of its last bit at the far end of the link it is on
  Time next_arrival = 0;       // of the packet behind it on the same link
  Time sent = 0;               // when the sender gave it to its NIC; acks echo the data packet's
  std::uint32_t next = kNone;  // behind it on the same link
  std::uint32_t link_next = kNone;  // the link after this one; kNone: the next node is its end
  std::uint32_t path = 0;           // place of link_next in the path pool
  std::uint32_t flow = kNone;
  std::uint32_t sequence = 0;     // data: packet number in its flow; ack, nack: next one expected
  std::uint32_t received = 0;     // ack: packets the receiver has; nack: the one that came instead
  std::uint32_t marked = 0;       // ack: data packets of those since the last ack that were marked
  std::uint32_t ingress = kNone;  // link by which it came to where it is queued
  std::uint32_t wire_bytes = 0;
  PacketKind kind = PacketKind::data;
  bool congestion = false;  // ECN CE, or FECN
  bool urges_ack = false;   // last of its message: acknowledged at once
  bool again = false;       // retransmitted: gives no round-trip sample
};
static_assert(sizeof(Packet) == 64);

// Freed packets are used again last in, first out: the line is still in the cache.
class PacketPool {
 public:
  std::uint32_t take() {
    ++used_;
    if (free_ == kNone) {
      CHECK(packets_.size() < kNone);
      packets_.emplace_back();
      return static_cast<std::uint32_t>(packets_.size() - 1);
    }
    const std::uint32_t packet = free_;
    free_ = packets_[packet].next;
    return packet;
  }
  void give_back(std::uint32_t packet) {
    --used_;
    packets_[packet].next = free_;
    free_ = packet;
  }
  Packet& operator[](std::uint32_t packet) { return packets_[packet]; }
  const Packet& operator[](std::uint32_t packet) const { return packets_[packet]; }
  void prefetch(std::uint32_t packet) const { __builtin_prefetch(packets_.data() + packet, 1); }
  [[nodiscard]] std::size_t used() const { return used_; }
  [[nodiscard]] std::size_t peak() const { return packets_.size(); }

 private:
  std::vector<Packet, HugePageAllocator<Packet>> packets_;
  std::uint32_t free_ = kNone;
  std::size_t used_ = 0;
};

}  // namespace weft::engine::packet
