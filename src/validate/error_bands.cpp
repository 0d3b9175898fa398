#include "validate/error_bands.h"

#include <fmt/format.h>

#include "base/text.h"
#include "base/yaml.h"

namespace weft::validate {
namespace {

constexpr std::size_t kFewestRows = 10;

std::string class_of(std::string_view collective, int nodes, Bytes size) {
  const std::string bySize = size_class("", size);  // "_small"
  return fmt::format("{} {} {}", collective, nodes > 1 ? "across" : "inside", bySize.substr(1));
}

}  // namespace

std::optional<double> ErrorBands::p90(std::string_view collective, int nodes, Bytes size) const {
  for (const std::string& name :
       {class_of(collective, nodes, size), class_of("any", nodes, size)}) {
    const auto found = by_class.find(name);
    if (found != by_class.end() && found->second.rows >= kFewestRows)
      return found->second.p90_abs_error;
  }
  return std::nullopt;
}

ErrorBands error_bands(const Map& map, const std::vector<Point>& points) {
  std::map<std::string, std::vector<double>> errors;
  for (const Point& point : points) {
    if (!map.sets[point.set].judged() || !starts_with(point.measure_class, "collectives")) continue;
    errors[class_of(point.what, point.nodes, point.size)].push_back(point.error());
    errors[class_of("any", point.nodes, point.size)].push_back(point.error());
  }
  ErrorBands bands;
  for (auto& [name, values] : errors) bands.by_class[name] = score_of(std::move(values));
  return bands;
}

std::string error_bands_text(const ErrorBands& bands) {
  std::string out =
      "# Errors of collective predictions on published rows (data/validation), by collective, "
      "inside "
      "a\n# server or across servers, and size (small below 64 KiB, large from 16 MiB).\n"
      "# Generated: weft validate data/validation/collectives.yaml --write_bands FILE\n"
      "version: 1\nclasses:\n";
  for (const auto& [name, score] : bands.by_class) {
    out += fmt::format("  - {{class: {}, rows: {}, median: {:.3f}, p90: {:.3f}}}\n", name,
                       score.rows, score.median_abs_error, score.p90_abs_error);
  }
  return out;
}

ErrorBands parse_error_bands(std::string_view text, const std::string& file) {
  const YamlNode root = parse_yaml(text, file);
  Diagnostics diagnostics;
  ErrorBands bands;
  Fields fields(root, "error bands", diagnostics);
  (void)fields.required_int("version", 1, 1);
  for (const YamlNode& node : fields.optional_list("classes")) {
    Fields row(node, "class", diagnostics);
    Score& score = bands.by_class[row.required_string("class")];
    score.rows = static_cast<std::size_t>(row.required_int("rows", 1, 1'000'000));
    score.median_abs_error = row.optional_double("median", 0, 100).value_or(0);
    score.p90_abs_error = row.optional_double("p90", 0, 100).value_or(0);
    row.finish();
  }
  fields.finish();
  diagnostics.throw_if_any(text);
  return bands;
}

}  // namespace weft::validate
