#include "base/histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/check.h"

namespace weft {

namespace {

constexpr int kExactBits = 11;                           // values below 2^11 keep every bit
constexpr std::uint64_t kHalf = 1u << (kExactBits - 1);  // buckets of each later doubling

int shift_of(std::uint64_t value) {
  return std::max(0, static_cast<int>(std::bit_width(value)) - kExactBits);
}

// For shift s > 0, value >> s lies in [1024, 2048), so that s * 1024 + it goes on where s - 1
// ended.
std::size_t bucket_of(std::uint64_t value) {
  const int shift = shift_of(value);
  return static_cast<std::size_t>(static_cast<std::uint64_t>(shift) * kHalf + (value >> shift));
}

// The middle of a bucket: at most half its width, 1/2048 of the value, from all that is in it.
std::uint64_t middle_of(std::size_t bucket) {
  if (bucket < 2 * kHalf) return bucket;
  const std::uint64_t shift = bucket / kHalf - 1;
  return ((bucket - shift * kHalf) << shift) + (std::uint64_t{1} << (shift - 1));
}

}  // namespace

void Histogram::add(std::uint64_t value, std::uint64_t times) {
  if (times == 0) return;
  const std::size_t bucket = bucket_of(value);
  if (bucket >= buckets_.size()) buckets_.resize(bucket + 1);
  buckets_[bucket] += times;
  count_ += times;
  min_ = std::min(min_, value);
  max_ = std::max(max_, value);
  sum_ += static_cast<Sum>(value) * times;
}

void Histogram::merge(const Histogram& other) {
  if (other.buckets_.size() > buckets_.size()) buckets_.resize(other.buckets_.size());
  for (std::size_t i = 0; i < other.buckets_.size(); ++i) buckets_[i] += other.buckets_[i];
  count_ += other.count_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
  sum_ += other.sum_;
}

double Histogram::mean() const {
  return count_ > 0 ? static_cast<double>(sum_) / static_cast<double>(count_) : 0;
}

std::uint64_t Histogram::percentile(double percent) const {
  CHECK(percent >= 0 && percent <= 100);
  if (count_ == 0) return 0;
  if (percent == 100) return max_;
  // 99.9 is not a binary fraction: without the nudge its rank among 1000 values would be 1000.
  const double wanted = std::ceil(percent * static_cast<double>(count_) / 100 * (1 - 1e-13));
  const std::uint64_t rank =
      std::clamp<std::uint64_t>(static_cast<std::uint64_t>(wanted), 1, count_);
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    seen += buckets_[i];
    if (seen >= rank) return std::clamp(middle_of(i), min_, max_);
  }
  return max_;
}

}  // namespace weft
