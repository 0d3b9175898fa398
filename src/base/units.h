// Time, size and rate as distinct types. Time is a signed 64-bit count of picoseconds (range
// about 106 days; one bit at 800 Gb/s lasts 1.25 ps), size a count of bytes, rate a count of bits
// per second. Conversions are named and say how they round. Nothing converts silently to or from
// a plain number, so "bytes plus a time" does not compile.
// Leaves out: fractional picoseconds (long trains of packets carry the remainder themselves).
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weft {

// A length of time, in picoseconds. May be negative (a difference).
class Duration {
 public:
  constexpr Duration() = default;
  static constexpr Duration picoseconds(std::int64_t n) { return Duration(n); }
  static constexpr Duration nanoseconds(std::int64_t n) { return Duration(n * 1'000); }
  static constexpr Duration microseconds(std::int64_t n) { return Duration(n * 1'000'000); }
  static constexpr Duration milliseconds(std::int64_t n) { return Duration(n * 1'000'000'000); }
  static constexpr Duration seconds(std::int64_t n) { return Duration(n * 1'000'000'000'000); }
  // Rounds to the nearest picosecond; saturates at the ends of the range.
  static Duration from_seconds(double seconds);
  static Duration from_microseconds(double us) { return from_seconds(us * 1e-6); }
  static Duration from_nanoseconds(double ns) { return from_seconds(ns * 1e-9); }
  static constexpr Duration max() { return Duration(INT64_MAX); }

  [[nodiscard]] constexpr std::int64_t ps() const { return ps_; }
  [[nodiscard]] constexpr double to_seconds() const { return static_cast<double>(ps_) * 1e-12; }
  [[nodiscard]] constexpr double to_microseconds() const { return static_cast<double>(ps_) * 1e-6; }
  [[nodiscard]] constexpr double to_nanoseconds() const { return static_cast<double>(ps_) * 1e-3; }

  friend constexpr auto operator<=>(Duration, Duration) = default;
  friend constexpr Duration operator+(Duration a, Duration b) { return Duration(a.ps_ + b.ps_); }
  friend constexpr Duration operator-(Duration a, Duration b) { return Duration(a.ps_ - b.ps_); }
  friend constexpr Duration operator*(Duration a, std::int64_t n) { return Duration(a.ps_ * n); }
  friend constexpr Duration operator*(std::int64_t n, Duration a) { return a * n; }
  constexpr Duration& operator+=(Duration b) { return *this = *this + b; }
  constexpr Duration& operator-=(Duration b) { return *this = *this - b; }
  [[nodiscard]] Duration scaled(double factor) const;  // nearest picosecond

 private:
  constexpr explicit Duration(std::int64_t ps) : ps_(ps) {}
  std::int64_t ps_ = 0;
};

// A point on the simulation clock, counted from its start.
class Instant {
 public:
  constexpr Instant() = default;
  static constexpr Instant at(Duration since_start) { return Instant(since_start); }
  static constexpr Instant never() { return Instant(Duration::max()); }
  [[nodiscard]] constexpr Duration since_start() const { return since_start_; }

  friend constexpr auto operator<=>(Instant, Instant) = default;
  friend constexpr Instant operator+(Instant a, Duration d) { return Instant(a.since_start_ + d); }
  friend constexpr Instant operator-(Instant a, Duration d) { return Instant(a.since_start_ - d); }
  friend constexpr Duration operator-(Instant a, Instant b) {
    return a.since_start_ - b.since_start_;
  }

 private:
  constexpr explicit Instant(Duration d) : since_start_(d) {}
  Duration since_start_;
};

// A number of bytes.
class Bytes {
 public:
  constexpr Bytes() = default;
  constexpr explicit Bytes(std::int64_t n) : n_(n) {}
  static constexpr Bytes kib(std::int64_t n) { return Bytes(n << 10); }
  static constexpr Bytes mib(std::int64_t n) { return Bytes(n << 20); }
  static constexpr Bytes gib(std::int64_t n) { return Bytes(n << 30); }

  [[nodiscard]] constexpr std::int64_t count() const { return n_; }
  [[nodiscard]] constexpr double to_double() const { return static_cast<double>(n_); }
  [[nodiscard]] constexpr std::int64_t bits() const { return n_ * 8; }

  friend constexpr auto operator<=>(Bytes, Bytes) = default;
  friend constexpr Bytes operator+(Bytes a, Bytes b) { return Bytes(a.n_ + b.n_); }
  friend constexpr Bytes operator-(Bytes a, Bytes b) { return Bytes(a.n_ - b.n_); }
  friend constexpr Bytes operator*(Bytes a, std::int64_t n) { return Bytes(a.n_ * n); }
  friend constexpr Bytes operator*(std::int64_t n, Bytes a) { return a * n; }
  constexpr Bytes& operator+=(Bytes b) { return *this = *this + b; }
  constexpr Bytes& operator-=(Bytes b) { return *this = *this - b; }
  // How many pieces of `piece` bytes hold this many: ceil(this / piece). REQUIRES piece > 0.
  [[nodiscard]] constexpr std::int64_t pieces_of(Bytes piece) const {
    return (n_ + piece.n_ - 1) / piece.n_;
  }

 private:
  std::int64_t n_ = 0;
};

// Bits per second, one direction.
class BitRate {
 public:
  constexpr BitRate() = default;
  static constexpr BitRate bits_per_second(std::int64_t n) { return BitRate(n); }
  static constexpr BitRate gigabits_per_second(std::int64_t n) {
    return BitRate(n * 1'000'000'000);
  }
  static BitRate from_gigabits_per_second(double gbps);       // nearest bit per second
  static BitRate from_gigabytes_per_second(double gb_per_s);  // 1 GB = 1e9 B

  [[nodiscard]] constexpr std::int64_t bps() const { return bps_; }
  [[nodiscard]] constexpr double bytes_per_second() const {
    return static_cast<double>(bps_) / 8.0;
  }
  [[nodiscard]] constexpr double gb_per_s() const { return static_cast<double>(bps_) / 8e9; }
  [[nodiscard]] constexpr double gbps() const { return static_cast<double>(bps_) / 1e9; }

  friend constexpr auto operator<=>(BitRate, BitRate) = default;
  friend constexpr BitRate operator+(BitRate a, BitRate b) { return BitRate(a.bps_ + b.bps_); }
  friend constexpr BitRate operator*(BitRate a, std::int64_t n) { return BitRate(a.bps_ * n); }
  [[nodiscard]] BitRate scaled(double factor) const;  // nearest bit per second

 private:
  constexpr explicit BitRate(std::int64_t bps) : bps_(bps) {}
  std::int64_t bps_ = 0;
};

// Time to put `size` on a wire of `rate`, rounded up to a whole picosecond (saturates at
// Duration::max()). REQUIRES rate > 0, size >= 0.
Duration serialization_time(Bytes size, BitRate rate);

// Text with a unit, as a user writes it: "400Gbps" "50GB/s" "2MiB" "64kB" "1.5us" "30m" (length).
// nullopt when the text is not a number followed by a unit of that kind; base/yaml.h turns that
// into an error with a position. B is bytes and b is bits; K/M/G are 10^3n, Ki/Mi/Gi are 2^10n.
// Spaces between number and unit are allowed, a sign is not. Results are exact, or rounded to the
// nearest picosecond, byte or bit per second when the text is finer than that.
std::optional<Duration> parse_duration(std::string_view text);  // ps ns us ms s min h d
std::optional<Bytes> parse_bytes(std::string_view text);  // B kB KB KiB MB MiB GB GiB TB TiB PB PiB
// bps kbps Mbps Gbps Tbps Pbps, the same with "b/s", and B/s kB/s KB/s MB/s GB/s TB/s PB/s.
std::optional<BitRate> parse_bit_rate(std::string_view text);
std::optional<double> parse_length_m(std::string_view text);  // mm cm m km; metres
// nccl-tests sizes: a plain number of bytes, or K/M/G/T (either case) meaning 1024^n.
std::optional<Bytes> parse_nccl_size(std::string_view text);

// For people: three significant digits and a unit that fits ("1.95 us", "55.2 GB/s", "2 MiB").
std::string to_text(Duration d);
std::string to_text(Bytes b);
std::string to_text(BitRate r);        // bits: "400 Gbps"
std::string to_text_bytes(BitRate r);  // bytes: "50 GB/s"

namespace literals {
constexpr Duration operator""_ps(unsigned long long n) {
  return Duration::picoseconds(static_cast<std::int64_t>(n));
}
constexpr Duration operator""_ns(unsigned long long n) {
  return Duration::nanoseconds(static_cast<std::int64_t>(n));
}
constexpr Duration operator""_us(unsigned long long n) {
  return Duration::microseconds(static_cast<std::int64_t>(n));
}
constexpr Bytes operator""_B(unsigned long long n) {
  return Bytes(static_cast<std::int64_t>(n));
}
constexpr Bytes operator""_KiB(unsigned long long n) {
  return Bytes::kib(static_cast<std::int64_t>(n));
}
constexpr Bytes operator""_MiB(unsigned long long n) {
  return Bytes::mib(static_cast<std::int64_t>(n));
}
constexpr Bytes operator""_GiB(unsigned long long n) {
  return Bytes::gib(static_cast<std::int64_t>(n));
}
constexpr BitRate operator""_Gbps(unsigned long long n) {
  return BitRate::gigabits_per_second(static_cast<std::int64_t>(n));
}
}  // namespace literals

}  // namespace weft
