#include "base/quantity.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "base/check.h"
#include "base/text.h"

namespace weft {
namespace {

using enum Dimension;

// Hours of a year: 365 days. Months are a twelfth of it, as operators' monthly rates count them.
constexpr double kYearHours = 8760;
constexpr double kHour = 3600;

constexpr auto kUnits = std::to_array<Unit>({
    {"", number, 1},
    {"%", number, 0.01},
    {"W", power, 1},
    {"kW", power, 1e3},
    {"MW", power, 1e6},
    {"kWh", energy, 1},
    {"MWh", energy, 1e3},
    {"TWh", energy, 1e9},
    {"pJ/bit", energy_per_bit, 1},
    {"W/cm2", power_density, 1},
    {"USD", money, 1},
    {"kUSD", money, 1e3},
    {"MUSD", money, 1e6},
    {"USD/kWh", money_per_energy, 1},
    {"USD/kW-month", money_per_power_time, 1},
    {"USD/m", money_per_length, 1},
    {"m", length, 1},
    {"mm", length, 1e-3},
    {"cm", length, 1e-2},
    {"km", length, 1e3},
    {"kg", mass, 1},
    {"U", height, 1},
    {"s", Dimension::time, 1},
    {"ps", Dimension::time, 1e-12},
    {"ns", Dimension::time, 1e-9},
    {"us", Dimension::time, 1e-6},
    {"ms", Dimension::time, 1e-3},
    {"min", Dimension::time, 60},
    {"h", Dimension::time, kHour},
    {"d", Dimension::time, 24 * kHour},
    {"weeks", Dimension::time, 7 * 24 * kHour},
    {"years", Dimension::time, kYearHours* kHour},
    {"/h", frequency, 1},
    {"/d", frequency, 1.0 / 24},
    {"/month", frequency, 12 / kYearHours},
    {"/year", frequency, 1 / kYearHours},
    {"FIT", frequency, 1e-9},
    {"bps", rate, 1},
    {"kbps", rate, 1e3},
    {"Mbps", rate, 1e6},
    {"Gbps", rate, 1e9},
    {"Tbps", rate, 1e12},
    {"Mb/s", rate, 1e6},
    {"Gb/s", rate, 1e9},
    {"Tb/s", rate, 1e12},
    {"MB/s", rate, 8e6},
    {"GB/s", rate, 8e9},
    {"TB/s", rate, 8e12},
    {"B", bytes, 1},
    {"kB", bytes, 1e3},
    {"KB", bytes, 1e3},
    {"MB", bytes, 1e6},
    {"GB", bytes, 1e9},
    {"TB", bytes, 1e12},
    {"KiB", bytes, 1024},
    {"MiB", bytes, 1048576},
    {"GiB", bytes, 1073741824},
    {"TFLOPS", compute, 1},
    {"TOPS", compute, 1},
    {"PFLOPS", compute, 1e3},
    {"GT/s", transfers, 1},
    {"Gpps", packets, 1},
    {"CFM", airflow, 1},
    {"dB", loss, 1},
});

std::optional<double> parse_number(std::string_view text) {
  // Only digits and one point: no sign, no exponent, no "inf".
  if (text.empty() || text.find_first_not_of("0123456789.") != std::string_view::npos) return {};
  const auto value = parse_double(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

}  // namespace

const Unit* find_unit(std::string_view name) {
  for (const Unit& unit : kUnits) {
    if (unit.name == name) return &unit;
  }
  return nullptr;
}

std::string unit_names(Dimension dimension) {
  std::string names;
  for (const Unit& unit : kUnits) {
    if (unit.dimension != dimension || unit.name.empty()) continue;
    names += (names.empty() ? "" : ", ") + std::string(unit.name);
  }
  return names;
}

Quantity Quantity::in(const Unit& other) const {
  CHECK(unit != nullptr && unit->dimension == other.dimension);
  const double factor = unit->scale / other.scale;
  return {low * factor, high * factor, &other};
}

std::optional<Quantity> parse_quantity(std::string_view text) {
  text = trim(text);
  const std::size_t after = text.find_first_not_of("0123456789.");
  const std::string_view digits = text.substr(0, after);
  const Unit* unit =
      find_unit(after == std::string_view::npos ? std::string_view() : trim(text.substr(after)));
  if (unit == nullptr) return {};
  const std::size_t dots = digits.find("..");
  const auto low = parse_number(digits.substr(0, dots));
  const auto high = dots == std::string_view::npos ? low : parse_number(digits.substr(dots + 2));
  if (!low || !high || *low > *high) return {};
  return Quantity{*low, *high, unit};
}

std::string to_text(const Quantity& quantity) {
  CHECK(quantity.unit != nullptr);
  const std::string_view name = quantity.unit->name;
  const std::string_view gap = name.empty() || name == "%" || name.starts_with('/') ? "" : " ";
  if (quantity.low == quantity.high) return fmt::format("{:.6g}{}{}", quantity.low, gap, name);
  return fmt::format("{:.6g}..{:.6g}{}{}", quantity.low, quantity.high, gap, name);
}

}  // namespace weft
