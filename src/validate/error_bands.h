// How far predictions were off on published measurements, by collective, place and size: what
// `weft bench` prints as its band. Written by `weft validate --write_bands`, shipped as
// data/constants/error_bands.yaml. A class of fewer than 10 rows falls back to all collectives of
// that place and size.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "validate/score.h"

namespace weft::validate {

class ErrorBands {
 public:
  // 90 of 100 published rows of this class were predicted within this ratio; nullopt: nothing was
  // measured there.
  [[nodiscard]] std::optional<double> p90(std::string_view collective, int nodes, Bytes size) const;

  std::map<std::string, Score> by_class;  // "all_reduce inside large", "any across small"
};

ErrorBands error_bands(const Map& map, const std::vector<Point>& points);
std::string error_bands_text(const ErrorBands& bands);
// Throws InputError with every fault of the file.
ErrorBands parse_error_bands(std::string_view text, const std::string& file);

}  // namespace weft::validate
