// The fabric as the packet engine runs it: directed links with a transmitter each, made when a path
// first uses them, and paths as runs of link numbers. A chain whose inner devices pass traffic
// straight through (GPU, NIC, first switch) becomes one link with the rate of its slowest part and
// the latency of the whole. Rates inside servers count bytes as the network's packets have them:
// what PCIe or NVLink spends on a packet's payload is part of the rate. Leaves out: queues and
// time, which are the simulator's.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "engine/packet/packet.h"
#include "fabric/fabric.h"

namespace weft::engine::packet {

// A transmitter and the wire behind it: one cache line. A FIFO that is neither paused nor out of
// credit knows when a packet leaves as soon as it joins, so the queue is a time: free - now.
struct alignas(64) Link {
  Time free = 0;               // when the last bit of all it has taken has left
  std::uint32_t head = kNone;  // ring of packets queued or on the wire
  std::uint32_t tail = kNone;
  Time latency = 0;                     // wire, and the device behind it when that forwards
  std::uint64_t ps_per_byte_fixed = 0;  // times 2^kRateBits
  std::uint32_t fraction = 0;           // of a picosecond that serialisation still owes
  std::uint32_t packets = 0;            // sent so far; also the counter of its random stream
  std::uint64_t bytes = 0;              // sent so far
  // Queue lengths, as times in units of 2^kQueueBits ps: packets may be marked above mark_from, are
  // marked above mark_all, dropped above limit.
  std::uint32_t mark_from = kNone, mark_all = kNone, limit = kNone;
  bool gated = false;    // can be paused: gates.h
  bool watched = false;  // an observer wants to see its packets: watch.cpp
  bool apart = false;    // either of the two
  bool loses = false;    // packets, at random
};
static_assert(sizeof(Link) == 64);
inline constexpr int kRateBits = 20;
// Entries of a path from here on, but for kNone, are no links but places where a switch chooses.
inline constexpr std::uint32_t kFirstChoice = 0x80000000u;
inline constexpr int kQueueBits = 10;

// One link of the fabric as a path uses it.
struct Segment {
  fabric::LinkId link;
  // Raw-rate bytes it spends on a byte of a full packet as the network has it. Where paths differ
  // (reads and writes of PCIe), the link keeps the most.
  double spent_per_byte = 1;
  Time latency = 0;
};

inline double ps_per_byte(const Link& link) {
  return static_cast<double>(link.ps_per_byte_fixed) / (1 << kRateBits);
}

class Network {
 public:
  explicit Network(const fabric::Fabric& fabric);

  // A tree of these ways, which begin with one link: where they part a switch chooses. kNone when
  // they do not begin so.
  std::uint32_t add_tree(std::span<const std::vector<Segment>> ways);
  // The beginnings of the ways on, for an entry that is no link.
  [[nodiscard]] std::span<const std::uint32_t> choices(std::uint32_t entry) const {
    return choices_[entry - kFirstChoice];
  }
  // The number of a path over these links, chains folded: kNone-terminated in path_entry().
  std::uint32_t add_path(std::span<const Segment> segments);
  [[nodiscard]] const std::uint32_t* path(std::uint32_t begin) const {
    return path_pool_.data() + begin;
  }
  [[nodiscard]] std::uint32_t path_entry(std::uint32_t at) const { return path_pool_[at]; }

  using Links = std::vector<Link, HugePageAllocator<Link>>;
  Links& links() { return links_; }
  [[nodiscard]] std::size_t link_count() const { return links_.size(); }
  // Fabric links that a link stands for, in order.
  [[nodiscard]] std::span<const fabric::LinkId> parts(std::uint32_t link) const {
    return std::span(part_pool_)
        .subspan(part_begin_[link], part_begin_[link + 1] - part_begin_[link]);
  }
  // The device at the far end.
  [[nodiscard]] fabric::DeviceId far_end(std::uint32_t link) const {
    return fabric_->to(parts(link).back());
  }
  // Time to send `bytes`, rounded down.
  [[nodiscard]] Time serialization(std::uint32_t link, std::uint32_t bytes) const {
    return static_cast<Time>(bytes * links_[link].ps_per_byte_fixed >> kRateBits);
  }

 private:
  [[nodiscard]] bool passes_through(fabric::DeviceId device) const;
  std::uint32_t link_of(std::span<const Segment> chain);
  std::vector<std::uint32_t> links_of(std::span<const Segment> segments);
  using Ways = std::span<const std::vector<std::uint32_t>>;
  std::uint32_t grow(Ways ways, std::size_t depth);

  const fabric::Fabric* fabric_;
  std::vector<bool> lone_server_;  // by server: one GPU and at most one NIC
  Links links_;
  std::vector<std::uint32_t> part_begin_ = {0};
  std::vector<fabric::LinkId> part_pool_;
  std::map<std::pair<fabric::LinkId, fabric::LinkId>, std::uint32_t> known_;  // first, last
  std::vector<std::uint32_t> path_pool_;
  std::vector<std::vector<std::uint32_t>> choices_;
};

}  // namespace weft::engine::packet
