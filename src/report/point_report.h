// What `weft bench` of a point-to-point test found, as our table, as the tool's own (perftest,
// OSU), JSON and CSV; with measured values beside the predicted ones when there are any.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/units.h"

namespace weft::report {

struct PointRow {
  Bytes size;
  double time_us = 0;
  double gb_per_s = 0;  // 0 when the test prints none
  std::string limit;
  std::optional<double> measured;  // in the unit of the test: us, or GB/s
};

struct PointBench {
  std::string test, summary, source, stack, from, to, way;
  bool latency = false;  // prints time, not bandwidth
  int pairs = 1, queue_pairs = 1;
  std::vector<std::string> assumptions;
  std::vector<PointRow> rows;

  [[nodiscard]] double predicted(const PointRow& row) const {
    return latency ? row.time_us : row.gb_per_s;
  }
};

std::string point_table(const PointBench& bench);
// perftest's or OSU's table for their tests, which measured/ reads back; else point_table.
std::string point_tool_table(const PointBench& bench);
std::string point_json(const PointBench& bench);  // schema weft/bench-point/1
std::string point_csv(const PointBench& bench);

}  // namespace weft::report
