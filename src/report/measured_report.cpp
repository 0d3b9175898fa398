#include "report/measured_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace weft::report {
namespace {

// Measured over predicted time.
double slowness(const BenchRow& row) {
  return *row.measured_us / row.time_us;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

std::string percent_text(double ratio) {
  return fmt::format("{:.0f} % {}", std::abs(ratio - 1) * 100, ratio > 1 ? "slower" : "faster");
}

}  // namespace

std::string measured_verdict(const Bench& bench) {
  std::vector<const BenchRow*> rows;
  for (const BenchRow& row : bench.rows)
    if (row.measured_us && row.time_us > 0) rows.push_back(&row);
  if (rows.empty()) return {};
  std::vector<double> ratios;
  const BenchRow* worst = rows.front();
  std::size_t outside = 0;
  for (const BenchRow* row : rows) {
    ratios.push_back(slowness(*row));
    if (std::abs(slowness(*row) - 1) > std::abs(slowness(*worst) - 1)) worst = row;
    outside += row->error_band && std::abs(row->time_us / *row->measured_us - 1) > *row->error_band;
  }
  std::string out = fmt::format("measured is {} than predicted in the median of {} sizes, {} at {}",
                                percent_text(median(ratios)), rows.size(),
                                percent_text(slowness(*worst)), to_text(worst->size));
  if (outside * 2 <= rows.size())
    return out + fmt::format("; {} of {} within the band of this model: no sign of a fault",
                             rows.size() - outside, rows.size());
  const BenchRow& last = *rows.back();
  return out + fmt::format("; {} of {} are outside the band of this model: look at {} first",
                           outside, rows.size(),
                           last.bottleneck.name.empty() ? "the launch" : last.bottleneck.name);
}

}  // namespace weft::report
