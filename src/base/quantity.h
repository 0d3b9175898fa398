// A number, or a range of numbers, with a unit: "940W", "450..500W", "0.078USD/kWh", "17". For
// figures of parts (power, price, weight, reach) that need no type of their own; time, bytes and
// rates that a simulation computes with are in base/units.h. Units of one dimension convert into
// each other; a number without unit is a count or a ratio, and "%" is a ratio.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace weft {

enum class Dimension {
  number,
  power,
  energy,
  energy_per_bit,
  power_density,
  money,
  money_per_energy,
  money_per_power_time,
  money_per_length,
  length,
  mass,
  height,
  time,
  frequency,
  rate,
  bytes,
  compute,
  transfers,
  packets,
  airflow,
  loss,
};

struct Unit {
  std::string_view name;  // "kW"
  Dimension dimension = Dimension::number;
  double scale = 1;  // one of it in the first unit of its dimension
};
// nullptr when unknown. "" is the unit of plain numbers.
const Unit* find_unit(std::string_view name);
// Names of the units of a dimension: "W, kW, MW".
std::string unit_names(Dimension dimension);

struct Quantity {
  double low = 0, high = 0;  // equal when a single number was written; low <= high
  const Unit* unit = nullptr;

  [[nodiscard]] double middle() const { return (low + high) / 2; }
  // The same in another unit. REQUIRES one of the same dimension.
  [[nodiscard]] Quantity in(const Unit& other) const;
};

// nullopt when the text is not of the form above, or not finite. Spaces before the unit are
// allowed, a sign is not. A unit may be followed by nothing.
std::optional<Quantity> parse_quantity(std::string_view text);
// "450..500 W", "940 W", "0.95": at most six significant digits.
std::string to_text(const Quantity& quantity);

}  // namespace weft
