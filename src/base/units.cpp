#include "base/units.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <span>

#include "base/check.h"
#include "base/text.h"

namespace weft {

namespace {

__extension__ using Int128 = __int128;

constexpr std::int64_t kPower10[] = {1,
                                     10,
                                     100,
                                     1'000,
                                     10'000,
                                     100'000,
                                     1'000'000,
                                     10'000'000,
                                     100'000'000,
                                     1'000'000'000,
                                     10'000'000'000,
                                     100'000'000'000,
                                     1'000'000'000'000,
                                     10'000'000'000'000,
                                     100'000'000'000'000,
                                     1'000'000'000'000'000,
                                     10'000'000'000'000'000,
                                     100'000'000'000'000'000,
                                     1'000'000'000'000'000'000};

std::int64_t saturate(Int128 value) {
  if (value > INT64_MAX) return INT64_MAX;
  if (value < INT64_MIN) return INT64_MIN;
  return static_cast<std::int64_t>(value);
}

std::int64_t nearest(double value) {
  CHECK(!std::isnan(value));
  if (value >= 0x1p63) return INT64_MAX;
  if (value < -0x1p63) return INT64_MIN;
  return std::llround(value);
}

// value * factor to the nearest integer, halves away from zero, exact in the product: factor is
// mantissa * 2^exponent, so the product is a 116-bit integer that is only shifted.
std::int64_t scale(std::int64_t value, double factor) {
  CHECK(!std::isnan(factor));
  if (value == 0 || factor == 0) return 0;
  if (std::isinf(factor)) return (value > 0) == (factor > 0) ? INT64_MAX : INT64_MIN;
  int exponent = 0;
  const auto mantissa = static_cast<std::int64_t>(std::ldexp(std::frexp(factor, &exponent), 53));
  exponent -= 53;
  const Int128 product = static_cast<Int128>(value) * mantissa;
  const bool negative = product < 0;
  const Int128 magnitude = negative ? -product : product;
  if (exponent >= 64) return negative ? INT64_MIN : INT64_MAX;
  if (exponent >= 0) {
    if (magnitude > (static_cast<Int128>(INT64_MAX) >> exponent)) {
      return negative ? INT64_MIN : INT64_MAX;
    }
    const auto shifted = static_cast<std::int64_t>(magnitude << exponent);
    return negative ? -shifted : shifted;
  }
  if (exponent < -120) return 0;
  const Int128 half = static_cast<Int128>(1) << (-exponent - 1);
  const Int128 rounded = (magnitude + half) >> -exponent;
  return saturate(negative ? -rounded : rounded);
}

struct Unit {
  std::string_view name;
  std::int64_t factor;  // in the smallest unit of its kind
};

// A plain decimal (digits, optional fraction, optional exponent) split from the unit after it.
struct Decimal {
  std::int64_t mantissa = 0;
  int exponent = 0;  // power of ten
  double approximate = 0;
  std::string_view unit;
};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::optional<Decimal> read_decimal(std::string_view text) {
  text = trim(text);
  if (text.empty() || !is_digit(text.front())) return std::nullopt;
  Decimal out;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), out.approximate);
  if (error != std::errc{}) return std::nullopt;
  std::string_view digits = text.substr(0, static_cast<std::size_t>(end - text.data()));
  out.unit = trim(text.substr(digits.size()));
  if (const auto e = digits.find_first_of("eE"); e != std::string_view::npos) {
    std::string_view power = digits.substr(e + 1);
    if (power.starts_with('+')) power.remove_prefix(1);
    const auto value = parse_int(power);
    if (!value || *value > 30 || *value < -30) return std::nullopt;
    out.exponent = static_cast<int>(*value);
    digits = digits.substr(0, e);
  }
  bool fraction = false;
  for (const char c : digits) {
    if (c == '.') {
      fraction = true;
      continue;
    }
    const int digit = c - '0';
    if (out.mantissa > (INT64_MAX - digit) / 10) {
      if (!fraction) return std::nullopt;
      break;  // digits of a fraction beyond 18 cannot matter
    }
    out.mantissa = out.mantissa * 10 + digit;
    if (fraction) --out.exponent;
  }
  return out;
}

// mantissa * 10^exponent * factor to the nearest integer; nullopt when it does not fit.
std::optional<std::int64_t> evaluate(const Decimal& number, std::int64_t factor) {
  if (number.mantissa == 0) return 0;
  Int128 value = static_cast<Int128>(number.mantissa) * factor;
  int exponent = number.exponent;
  while (exponent > 0) {
    if (value > INT64_MAX) return std::nullopt;
    value *= 10;
    --exponent;
  }
  while (exponent < -18) {  // below 2^127 / 10^18 nothing is lost that rounding would see
    value /= 10;
    ++exponent;
  }
  if (exponent < 0) {
    const std::int64_t divisor = kPower10[-exponent];
    value = value / divisor + (value % divisor >= (divisor + 1) / 2 ? 1 : 0);
  }
  if (value > INT64_MAX) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

std::optional<std::int64_t> parse_with(std::string_view text, std::span<const Unit> units) {
  const auto number = read_decimal(text);
  if (!number) return std::nullopt;
  for (const Unit& unit : units) {
    if (unit.name == number->unit) return evaluate(*number, unit.factor);
  }
  return std::nullopt;
}

constexpr std::int64_t kKilo = 1'000;
constexpr std::int64_t kMega = 1'000'000;
constexpr std::int64_t kGiga = 1'000'000'000;
constexpr std::int64_t kTera = 1'000'000'000'000;
constexpr std::int64_t kPeta = 1'000'000'000'000'000;

constexpr Unit kDurations[] = {
    {"ps", 1},     {"ns", kKilo}, {"us", kMega},       {"\u00b5s", kMega},  {"\u03bcs", kMega},
    {"ms", kGiga}, {"s", kTera},  {"min", 60 * kTera}, {"h", 3600 * kTera}, {"d", 86'400 * kTera}};

constexpr Unit kBytes[] = {
    {"B", 1},
    {"kB", kKilo},
    {"KB", kKilo},
    {"MB", kMega},
    {"GB", kGiga},
    {"TB", kTera},
    {"PB", kPeta},
    {"KiB", std::int64_t{1} << 10},
    {"MiB", std::int64_t{1} << 20},
    {"GiB", std::int64_t{1} << 30},
    {"TiB", std::int64_t{1} << 40},
    {"PiB", std::int64_t{1} << 50},
};

constexpr Unit kRates[] = {
    {"bps", 1},          {"kbps", kKilo},     {"Mbps", kMega},     {"Gbps", kGiga},
    {"Tbps", kTera},     {"Pbps", kPeta},     {"b/s", 1},          {"kb/s", kKilo},
    {"Mb/s", kMega},     {"Gb/s", kGiga},     {"Tb/s", kTera},     {"Pb/s", kPeta},
    {"B/s", 8},          {"kB/s", 8 * kKilo}, {"KB/s", 8 * kKilo}, {"MB/s", 8 * kMega},
    {"GB/s", 8 * kGiga}, {"TB/s", 8 * kTera}, {"PB/s", 8 * kPeta},
};

struct Length {
  std::string_view name;
  int power_of_ten;  // of a metre
};
constexpr Length kLengths[] = {{"mm", -3}, {"cm", -2}, {"m", 0}, {"km", 3}};

// Three significant digits, trailing zeros dropped: 1.95, 55.2, 400, 2. REQUIRES value >= 0.
std::string three_digits(double value) {
  const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  std::string text = fmt::format("{:.{}f}", value, decimals);
  if (decimals > 0) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
  }
  return text;
}

struct PrintUnit {
  std::string_view name;
  double factor;
  double limit;  // used while the rounded value in this unit is below it; the last always
};

std::string print_with(double value, std::span<const PrintUnit> units) {
  for (std::size_t i = 0; i < units.size(); ++i) {
    const double scaled = value / units[i].factor;
    // 999.6 rounds to 1000 in three digits and belongs to the next unit.
    if (scaled < units[i].limit - 0.5 || i + 1 == units.size()) {
      return fmt::format("{} {}", three_digits(scaled), units[i].name);
    }
  }
  return {};
}

}  // namespace

Duration Duration::from_seconds(double seconds) {
  return Duration(nearest(seconds * 1e12));
}

Duration Duration::scaled(double factor) const {
  return Duration(scale(ps_, factor));
}

BitRate BitRate::from_gigabits_per_second(double gbps) {
  return BitRate(nearest(gbps * 1e9));
}

BitRate BitRate::from_gigabytes_per_second(double gb_per_s) {
  return BitRate(nearest(gb_per_s * 8e9));
}

BitRate BitRate::scaled(double factor) const {
  return BitRate(scale(bps_, factor));
}

Duration serialization_time(Bytes size, BitRate rate) {
  CHECK(rate.bps() > 0);
  CHECK(size.count() >= 0);
  const Int128 bit_picoseconds = static_cast<Int128>(size.count()) * 8 * kTera;
  return Duration::picoseconds(saturate((bit_picoseconds + rate.bps() - 1) / rate.bps()));
}

std::optional<Duration> parse_duration(std::string_view text) {
  const auto ps = parse_with(text, kDurations);
  return ps ? std::optional(Duration::picoseconds(*ps)) : std::nullopt;
}

std::optional<Bytes> parse_bytes(std::string_view text) {
  const auto count = parse_with(text, kBytes);
  return count ? std::optional(Bytes(*count)) : std::nullopt;
}

std::optional<BitRate> parse_bit_rate(std::string_view text) {
  const auto bps = parse_with(text, kRates);
  return bps ? std::optional(BitRate::bits_per_second(*bps)) : std::nullopt;
}

std::optional<double> parse_length_m(std::string_view text) {
  const auto number = read_decimal(text);
  if (!number) return std::nullopt;
  for (const Length& unit : kLengths) {
    if (unit.name != number->unit) continue;
    // Dividing by a power of ten is correctly rounded; multiplying by 0.001 would not be.
    const double power = static_cast<double>(kPower10[std::abs(unit.power_of_ten)]);
    return unit.power_of_ten < 0 ? number->approximate / power : number->approximate * power;
  }
  return std::nullopt;
}

std::optional<Bytes> parse_nccl_size(std::string_view text) {
  static constexpr Unit kSizes[] = {
      {"", 1},
      {"K", std::int64_t{1} << 10},
      {"M", std::int64_t{1} << 20},
      {"G", std::int64_t{1} << 30},
      {"T", std::int64_t{1} << 40},
      {"k", std::int64_t{1} << 10},
      {"m", std::int64_t{1} << 20},
      {"g", std::int64_t{1} << 30},
      {"t", std::int64_t{1} << 40},
  };
  const auto count = parse_with(text, kSizes);
  return count ? std::optional(Bytes(*count)) : std::nullopt;
}

std::string to_text(Duration d) {
  static constexpr PrintUnit kUnits[] = {
      {"ps", 1, 1000},  {"ns", 1e3, 1000},   {"us", 1e6, 1000},  {"ms", 1e9, 1000},
      {"s", 1e12, 600}, {"min", 60e12, 120}, {"h", 3600e12, 48}, {"d", 86'400e12, 1e9}};
  if (d.ps() == 0) return "0 s";
  const double ps = static_cast<double>(d.ps());
  return (ps < 0 ? "-" : "") + print_with(std::abs(ps), kUnits);
}

std::string to_text(Bytes b) {
  static constexpr PrintUnit kUnits[] = {{"B", 1, 1024},        {"KiB", 0x1p10, 1024},
                                         {"MiB", 0x1p20, 1024}, {"GiB", 0x1p30, 1024},
                                         {"TiB", 0x1p40, 1024}, {"PiB", 0x1p50, 1e9}};
  const double count = b.to_double();
  return (count < 0 ? "-" : "") + print_with(std::abs(count), kUnits);
}

std::string to_text(BitRate r) {
  static constexpr PrintUnit kUnits[] = {{"bps", 1, 1000},     {"kbps", 1e3, 1000},
                                         {"Mbps", 1e6, 1000},  {"Gbps", 1e9, 1000},
                                         {"Tbps", 1e12, 1000}, {"Pbps", 1e15, 1e9}};
  const double bps = static_cast<double>(r.bps());
  return (bps < 0 ? "-" : "") + print_with(std::abs(bps), kUnits);
}

std::string to_text_bytes(BitRate r) {
  static constexpr PrintUnit kUnits[] = {{"B/s", 8, 1000},     {"kB/s", 8e3, 1000},
                                         {"MB/s", 8e6, 1000},  {"GB/s", 8e9, 1000},
                                         {"TB/s", 8e12, 1000}, {"PB/s", 8e15, 1e9}};
  const double bps = static_cast<double>(r.bps());
  return (bps < 0 ? "-" : "") + print_with(std::abs(bps), kUnits);
}

}  // namespace weft
