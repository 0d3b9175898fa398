#include "measured/lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace weft::measured {
namespace {

// Length of "[1,0]<stdout>:" or of "12: " / "host-3: " in front of a table line.
std::size_t prefix_length(std::string_view text) {
  if (text.starts_with('[')) {
    const std::size_t end = text.find(">:");
    if (end != std::string_view::npos && text.find("]<") < end) return end + 2;
  }
  const std::size_t colon = text.find(": ");
  if (colon == std::string_view::npos || colon == 0 || colon > 64) return 0;
  for (char c : text.substr(0, colon)) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       c == '-' || c == '.' || c == '_';
    if (!plain) return 0;
  }
  return colon + 2;
}

}  // namespace

std::vector<Line> lines_of(std::string_view text) {
  std::vector<Line> lines;
  int number = 0;
  for (std::string_view raw : split(text, '\n')) {
    const std::size_t prefix = prefix_length(raw);
    std::string_view rest = raw.substr(prefix);
    while (!rest.empty() && (rest.back() == '\r' || rest.back() == ' ' || rest.back() == '\t'))
      rest.remove_suffix(1);
    lines.push_back({rest, ++number, static_cast<int>(prefix) + 1});
  }
  return lines;
}

std::optional<double> cell_number(std::string_view cell, const Line& line, const std::string& file,
                                  Diagnostics& diagnostics) {
  if (cell == "N/A" || cell == "nan") return std::nullopt;
  if (const auto number = parse_double(cell)) return number;
  const int column = line.column + static_cast<int>(cell.data() - line.text.data());
  diagnostics.add({file, line.number, column}, fmt::format("'{}' is not a number", cell),
                  "the line looks like a table row; remove it, or mend the cell");
  return std::nullopt;
}

std::int64_t whole_number(double value) {
  constexpr double kMost = 4.611686018427387904e18;  // 2^62
  if (std::isnan(value)) return 0;
  return static_cast<std::int64_t>(std::floor(std::clamp(value, -kMost, kMost)));
}

}  // namespace weft::measured
