// Counts of non-negative values in log-linear buckets: exact below 2048, above that 1024 buckets to
// each doubling, so every answer is within 0.1 % (three significant digits) of the truth at any
// size, and two histograms add up exactly. The layout is that of HdrHistogram (G. Tene).
// Memory: 8 bytes for each bucket up to the largest value, at most 440 KiB.
// Leaves out: negative values and time windows.
#pragma once

#include <cstdint>
#include <vector>

namespace weft {

class Histogram {
 public:
  void add(std::uint64_t value, std::uint64_t times = 1);
  void merge(const Histogram& other);

  [[nodiscard]] std::uint64_t count() const { return count_; }
  // Exact. 0 when nothing was added.
  [[nodiscard]] std::uint64_t min() const { return count_ > 0 ? min_ : 0; }
  [[nodiscard]] std::uint64_t max() const { return max_; }
  [[nodiscard]] double mean() const;
  // The value that `percent` % of all values do not exceed (nearest rank). REQUIRES 0 <= percent <=
  // 100. 0 when nothing was added.
  [[nodiscard]] std::uint64_t percentile(double percent) const;

 private:
  __extension__ using Sum =
      unsigned __int128;  // of 2^64 values of 64 bits: the order cannot matter

  std::vector<std::uint64_t> buckets_;
  std::uint64_t count_ = 0;
  std::uint64_t min_ = UINT64_MAX;
  std::uint64_t max_ = 0;
  Sum sum_ = 0;
};

}  // namespace weft
