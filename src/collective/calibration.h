// What one site's logs say of it: three factors on the collective model's constants, fitted by
// `weft calibrate`, written to a file (weft: calibration/1) and applied by --calibration. Three,
// because a log of one collective holds no more: what small messages cost and what large ones reach
// inside a server or between servers. Leaves out: factors by algorithm or protocol.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weft::collective {

struct Calibration {
  double latency = 1;  // on the time of small messages
  double inside = 1;   // on the time that bytes take inside a server
  double network = 1;  // on the time that bytes take between servers
  // Where the factors come from.
  std::vector<std::string> fitted_on;  // names of the logs
  int rows = 0;
  double residual_percent = 0;  // median absolute error after the fit
};

// Reads a calibration file. Throws InputError with every fault of it.
Calibration parse_calibration(std::string_view text, const std::string& file);
std::string calibration_text(const Calibration& calibration, std::string_view cluster);

}  // namespace weft::collective
