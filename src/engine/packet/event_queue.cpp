#include "engine/packet/event_queue.h"

#include <algorithm>
#include <bit>

namespace weft::engine::packet {

namespace {

// Buckets between two looks at the load, and the entries a bucket should hold: enough to see whom
// to prefetch, few enough to stay in the first-level cache while they are sorted.
constexpr std::uint64_t kRetuneEvery = 512;
constexpr std::uint64_t kFewest = 8, kMost = 256;
constexpr std::size_t kInsertionSort = 24;
constexpr int kSpreadBits = 10;

void insertion_sort(std::uint64_t* begin, std::uint64_t* end) {
  for (std::uint64_t* at = begin + 1; at < end; ++at) {
    const std::uint64_t entry = *at;
    std::uint64_t* hole = at;
    while (hole != begin && hole[-1] > entry) {
      *hole = hole[-1];
      --hole;
    }
    *hole = entry;
  }
}

}  // namespace

EventQueue::EventQueue() {
  first_.fill(kNone);
}

std::uint32_t EventQueue::add_chunk(std::uint64_t slot) {
  std::uint32_t chunk = free_chunk_;
  if (chunk == kNone) {
    chunk = static_cast<std::uint32_t>(chunks_.size());
    chunks_.emplace_back();
  } else {
    free_chunk_ = chunks_[chunk].next;
  }
  chunks_[chunk].count = 0;
  chunks_[chunk].next = first_[slot];
  first_[slot] = chunk;
  occupied_[slot / 64] |= 1ull << (slot % 64);
  return chunk;
}

// Into the bucket that is being emptied, or beyond the wheel.
void EventQueue::push_rare(Time when, std::uint32_t entity, std::uint64_t ahead) {
  if (ahead == 0) {
    const std::uint64_t entry = entry_of(when, entity);
    const auto begin = current_.begin() + static_cast<std::ptrdiff_t>(cursor_);
    current_.insert(std::upper_bound(begin, current_.end(), entry), entry);
    ++opened_entries_;
    return;
  }
  CHECK(ahead < 1ull << 62);  // not in the past
  ++far_entries_;
  far_.push_back({when, entity});
  std::push_heap(far_.begin(), far_.end(), later);
}

bool EventQueue::open_next() {
  if (size_ == 0) return false;
  if (opened_ >= kRetuneEvery) retune();
  current_.clear();
  cursor_ = 0;
  std::uint64_t ahead = kBuckets;
  const std::uint64_t start = (bucket_ + 1) & kMask;
  std::uint64_t word = start / 64;
  std::uint64_t bits = occupied_[word] & (~0ull << (start % 64));
  for (std::size_t i = 0; i <= occupied_.size(); ++i) {
    if (bits != 0) {
      const std::uint64_t slot = word * 64 + static_cast<std::uint64_t>(std::countr_zero(bits));
      ahead = (slot - start) & kMask;
      break;
    }
    word = (word + 1) % occupied_.size();
    bits = occupied_[word];
  }
  std::uint64_t next = ahead < kBuckets ? bucket_ + 1 + ahead : ~0ull;
  if (!far_.empty()) {
    next = std::min(next, static_cast<std::uint64_t>(far_.front().when) >> shift_);
  }
  CHECK(next != ~0ull);
  bucket_ = next;
  if (ahead < kBuckets && (occupied_[(next & kMask) / 64] >> (next & 63) & 1) != 0) {
    take_bucket(next & kMask);
  }
  take_far();
  ++opened_;
  opened_entries_ += current_.size();
  sort_current();
  return true;
}

void EventQueue::take_bucket(std::uint64_t slot) {
  for (std::uint32_t chunk = first_[slot]; chunk != kNone;) {
    Chunk& c = chunks_[chunk];
    const std::size_t at = current_.size();
    current_.resize(at + c.count);
    std::copy_n(c.entry.begin(), c.count, current_.begin() + static_cast<std::ptrdiff_t>(at));
    const std::uint32_t next = c.next;
    c.next = free_chunk_;
    free_chunk_ = chunk;
    chunk = next;
  }
  first_[slot] = kNone;
  occupied_[slot / 64] &= ~(1ull << (slot % 64));
}

void EventQueue::take_far() {
  while (!far_.empty() && static_cast<std::uint64_t>(far_.front().when) >> shift_ == bucket_) {
    current_.push_back(entry_of(far_.front().when, far_.front().entity));
    std::pop_heap(far_.begin(), far_.end(), later);
    far_.pop_back();
  }
}

void EventQueue::sort_current() {
  if (current_.size() > kInsertionSort) spread_current();
  if (current_.size() <= 1) return;
  insertion_sort(current_.data(), current_.data() + current_.size());
}

// Puts entries in order of the leading bits of their time, one or two a bin; what is left to do is
// among neighbours. Many entries at one instant (all flows start) would stay in disorder.
void EventQueue::spread_current() {
  const int bits =
      std::min({static_cast<int>(std::bit_width(current_.size())), kSpreadBits, shift_});
  const int drop = 32 + shift_ - bits;
  const std::size_t bins = std::size_t{1} << bits;
  const std::size_t crowd = std::max<std::size_t>(kInsertionSort, current_.size() / 8);
  std::array<std::uint32_t, 1 << kSpreadBits> begin;
  std::fill_n(begin.begin(), bins, 0u);
  for (const std::uint64_t entry : current_) ++begin[entry >> drop];
  std::uint32_t sum = 0, fullest = 0;
  for (std::size_t i = 0; i < bins; ++i) {
    const std::uint32_t count = begin[i];
    fullest = std::max(fullest, count);
    begin[i] = sum;
    sum += count;
  }
  if (fullest > crowd) {
    std::sort(current_.begin(), current_.end());
    return;
  }
  scratch_.resize(current_.size());
  for (const std::uint64_t entry : current_) scratch_[begin[entry >> drop]++] = entry;
  current_.swap(scratch_);
}

void EventQueue::retune() {
  const std::uint64_t mean = opened_entries_ / opened_;
  const bool reaches = far_entries_ < opened_entries_ / 16;  // the wheel, far enough ahead
  if (mean > kMost && reaches && shift_ > kMinShift) {
    change_width(shift_ - 1);
  } else if ((mean < kFewest || (!reaches && mean < kMost)) && shift_ < kMaxShift) {
    change_width(shift_ + 1);
  }
  opened_ = opened_entries_ = far_entries_ = 0;
}

// REQUIRES the current bucket to be empty.
void EventQueue::change_width(int shift) {
  std::vector<Far> all;
  all.swap(far_);
  const std::uint64_t first = bucket_ + 1;
  for (std::uint64_t b = first; b < first + kBuckets; ++b) {
    const std::uint64_t slot = b & kMask;
    if (first_[slot] == kNone) continue;
    current_.clear();
    take_bucket(slot);
    for (const std::uint64_t entry : current_) {
      all.push_back(
          {static_cast<Time>((b << shift_) + (entry >> 32)), static_cast<std::uint32_t>(entry)});
    }
  }
  current_.clear();
  cursor_ = 0;
  // Everything popped lies before the end of the old bucket, so the new one may hold entries that
  // are due: begin one before it.
  const std::uint64_t end = first << shift_;
  shift_ = shift;
  bucket_ = (end >> shift_) - 1;
  size_ -= all.size();
  for (const Far& event : all) push(event.when, event.entity);
}

}  // namespace weft::engine::packet
