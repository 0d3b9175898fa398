// Blocks of consecutive entries in one array, given back and taken again by size: no allocation
// once the array has grown to what a run needs. Sizes come in classes, four an octave (1 2 3 4 5 6
// 7 8 10 12 14 16 20 ...), so at most a quarter of a block is unused.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/check.h"

namespace weft::engine {

template <class Entry>
class BlockPool {
 public:
  [[nodiscard]] Entry& operator[](std::size_t i) { return entries_[i]; }
  [[nodiscard]] const Entry& operator[](std::size_t i) const { return entries_[i]; }

  // Entries that a block for `count` has room for.
  [[nodiscard]] static std::uint32_t room_for(std::uint32_t count) {
    return count == 0 ? 0 : static_cast<std::uint32_t>(class_size(size_class(count)));
  }
  // Where a block for `count` entries begins.
  std::uint32_t take(std::uint32_t count) {
    if (count == 0) return 0;
    auto& free = free_[size_class(count)];
    if (!free.empty()) {
      const std::uint32_t begin = free.back();
      free.pop_back();
      return begin;
    }
    const std::size_t begin = entries_.size();
    CHECK(begin + room_for(count) < UINT32_MAX);
    entries_.resize(begin + room_for(count));
    return static_cast<std::uint32_t>(begin);
  }
  void give_back(std::uint32_t begin, std::uint32_t count) {
    if (count > 0) free_[size_class(count)].push_back(begin);
  }
  [[nodiscard]] std::size_t memory_bytes() const { return entries_.capacity() * sizeof(Entry); }

 private:
  static std::size_t size_class(std::size_t count) {
    if (count <= 4) return count;
    const auto octave = static_cast<std::size_t>(std::bit_width(count - 1)) - 1;  // >= 2
    const std::size_t quarter = std::size_t{1} << (octave - 2);
    const std::size_t step = (count - (std::size_t{1} << octave) + quarter - 1) / quarter;
    return 4 + (octave - 2) * 4 + step;
  }
  static std::size_t class_size(std::size_t size_class) {
    if (size_class <= 4) return size_class;
    const std::size_t octave = (size_class - 5) / 4 + 2;
    const std::size_t step = (size_class - 5) % 4 + 1;
    return (std::size_t{1} << octave) + step * (std::size_t{1} << (octave - 2));
  }

  std::vector<Entry> entries_;
  std::array<std::vector<std::uint32_t>, std::size_t{32} * 4> free_;  // by size class
};

}  // namespace weft::engine
