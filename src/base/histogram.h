// A histogram of non-negative whole numbers over the whole 64-bit range: each power of two is cut
// into 256 equal steps, so that a value is known to 0.4 % or better, and exactly below 512. Memory
// grows with the largest value, at most 115 kB. Model: HDR Histogram (G. Tene). Leaves out:
// negative values, and deleting.
#pragma once

#include <cstdint>
#include <vector>

namespace weft {

class Histogram {
 public:
  void add(std::uint64_t value, std::uint64_t times = 1);
  void merge(const Histogram& other);
  [[nodiscard]] std::uint64_t count() const { return count_; }
  // Mean and largest are exact; 0 when nothing was added.
  [[nodiscard]] double mean() const;
  [[nodiscard]] std::uint64_t max() const { return max_; }
  // By nearest rank: the least value of the step that holds it, so never above the exact one and at
  // most 0.4 % below. `part` is 0..1; 1 gives max().
  [[nodiscard]] std::uint64_t quantile(double part) const;

  struct Step {
    std::uint64_t from = 0, to = 0;  // values from <= v < to
    std::uint64_t count = 0;
  };
  [[nodiscard]] std::vector<Step> steps() const;  // those that hold something, smallest first

 private:
  std::vector<std::uint64_t> counts_;
  std::uint64_t count_ = 0, max_ = 0;
  double sum_ = 0;
};

}  // namespace weft
