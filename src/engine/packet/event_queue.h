// The packet engine's calendar: who is due next, by (time, entity). An entity (a link, a sender, a
// timer) keeps at most a few entries; what happens when it is due it knows itself. Buckets of equal
// width hold 8-byte entries in chunks of a shared pool; a bucket is sorted when its turn comes.
// Times beyond the wheel wait in a heap. The width follows the load, which changes speed but never
// order. Model: calendar queues (Brown, CACM 31(10), 1988). Leaves out: cancelling; owners ignore
// entries that are no longer true.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "engine/packet/packet.h"

namespace weft::engine::packet {

class EventQueue {
 public:
  struct Event {
    Time when = 0;
    std::uint32_t entity = 0;
  };

  EventQueue();
  // REQUIRES when >= the time of the last event popped.
  void push(Time when, std::uint32_t entity) {
    const std::uint64_t bucket = static_cast<std::uint64_t>(when) >> shift_;
    const std::uint64_t ahead = bucket - bucket_;
    const std::uint64_t entry = entry_of(when, entity);
    ++size_;
    if (ahead - 1 < kBuckets - 1) [[likely]] {
      append(bucket & kMask, entry);
    } else {
      push_rare(when, entity, ahead);
    }
  }
  // False when nothing is left.
  bool pop(Event& out) {
    if (cursor_ == current_.size() && !open_next()) return false;
    const std::uint64_t entry = current_[cursor_++];
    out.when = static_cast<Time>((bucket_ << shift_) + (entry >> 32));
    out.entity = static_cast<std::uint32_t>(entry);
    --size_;
    return true;
  }
  // The entity `ahead` places behind the next one, as far as it is known; kNone if not.
  [[nodiscard]] std::uint32_t peek(std::size_t ahead) const {
    return cursor_ + ahead < current_.size() ? static_cast<std::uint32_t>(current_[cursor_ + ahead])
                                             : kNone;
  }
  // Time of the next event; kNever when nothing is left.
  Time next_time() {
    if (cursor_ == current_.size() && !open_next()) return kNever;
    return static_cast<Time>((bucket_ << shift_) + (current_[cursor_] >> 32));
  }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  static constexpr std::uint64_t kBuckets = 2048;
  static constexpr std::uint64_t kMask = kBuckets - 1;
  static constexpr std::uint32_t kChunkEntries = 15;
  static constexpr int kMinShift = 4, kMaxShift = 24;  // width 16 ps to 17 us
  struct alignas(64) Chunk {
    std::array<std::uint64_t, kChunkEntries> entry;
    std::uint32_t count;
    std::uint32_t next;
  };
  struct Far {
    Time when;
    std::uint32_t entity;
  };

  [[nodiscard]] std::uint64_t entry_of(Time when, std::uint32_t entity) const {
    const std::uint64_t offset = static_cast<std::uint64_t>(when) & ((1ull << shift_) - 1);
    return offset << 32 | entity;
  }
  void append(std::uint64_t slot, std::uint64_t entry) {
    std::uint32_t chunk = first_[slot];
    if (chunk == kNone || chunks_[chunk].count == kChunkEntries) [[unlikely]] {
      chunk = add_chunk(slot);
    }
    Chunk& c = chunks_[chunk];
    c.entry[c.count++] = entry;
  }
  std::uint32_t add_chunk(std::uint64_t slot);
  void push_rare(Time when, std::uint32_t entity, std::uint64_t ahead);
  bool open_next();
  void take_bucket(std::uint64_t slot);
  void take_far();
  void sort_current();
  void spread_current();
  void retune();
  void change_width(int shift);
  static bool later(const Far& a, const Far& b) {
    return a.when != b.when ? a.when > b.when : a.entity > b.entity;
  }

  int shift_ = 13;
  std::uint64_t bucket_ = 0;  // number of the bucket being emptied
  std::size_t cursor_ = 0;
  std::size_t size_ = 0;
  std::vector<std::uint64_t> current_, scratch_;
  std::vector<Chunk, HugePageAllocator<Chunk>> chunks_;
  std::uint32_t free_chunk_ = kNone;
  std::vector<Far> far_;
  std::array<std::uint32_t, kBuckets> first_;
  std::array<std::uint64_t, kBuckets / 64> occupied_{};
  std::uint64_t opened_ = 0, opened_entries_ = 0, far_entries_ = 0;  // since the last retune
};

}  // namespace weft::engine::packet
