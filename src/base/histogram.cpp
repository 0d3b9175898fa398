#include "base/histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/check.h"

namespace weft {

namespace {

constexpr int kStepBits = 8;  // steps to a power of two: 256
constexpr std::uint64_t kSteps = 1ull << kStepBits;

// Below 2 x 256 a value is its own step; above, the leading nine bits name it.
std::size_t step_of(std::uint64_t value) {
  if (value < kSteps) return value;
  const int shift = std::bit_width(value) - 1 - kStepBits;
  return (static_cast<std::size_t>(shift) << kStepBits) + (value >> shift);
}

std::uint64_t first_of(std::size_t step) {
  if (step < kSteps) return step;
  const auto shift = (step >> kStepBits) - 1;
  return (kSteps + (step & (kSteps - 1))) << shift;
}

std::uint64_t width_of(std::size_t step) {
  return step < kSteps ? 1 : 1ull << ((step >> kStepBits) - 1);
}

}  // namespace

void Histogram::add(std::uint64_t value, std::uint64_t times) {
  if (times == 0) return;
  const std::size_t step = step_of(value);
  if (step >= counts_.size()) counts_.resize(step + 1);
  counts_[step] += times;
  count_ += times;
  sum_ += static_cast<double>(value) * static_cast<double>(times);
  max_ = std::max(max_, value);
}

void Histogram::merge(const Histogram& other) {
  if (counts_.size() < other.counts_.size()) counts_.resize(other.counts_.size());
  for (std::size_t i = 0; i < other.counts_.size(); ++i) counts_[i] += other.counts_[i];
  count_ += other.count_;
  sum_ += other.sum_;
  max_ = std::max(max_, other.max_);
}

double Histogram::mean() const {
  return count_ == 0 ? 0 : sum_ / static_cast<double>(count_);
}

std::uint64_t Histogram::quantile(double part) const {
  CHECK(part >= 0 && part <= 1);
  if (count_ == 0) return 0;
  const auto rank = static_cast<std::uint64_t>(std::ceil(part * static_cast<double>(count_)));
  if (rank >= count_) return max_;
  std::uint64_t seen = 0;
  for (std::size_t step = 0; step < counts_.size(); ++step) {
    seen += counts_[step];
    if (seen >= std::max<std::uint64_t>(rank, 1)) return first_of(step);
  }
  return max_;
}

std::vector<Histogram::Step> Histogram::steps() const {
  std::vector<Step> out;
  for (std::size_t step = 0; step < counts_.size(); ++step) {
    if (counts_[step] > 0)
      out.push_back({first_of(step), first_of(step) + width_of(step), counts_[step]});
  }
  return out;
}

}  // namespace weft
