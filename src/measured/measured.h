// Measurements read from the logs of other tools, so that a prediction can stand beside them. A
// reader is one file and one row of list.def. It takes the text as people paste it: log lines of
// NCCL or of a launcher in between, "[1,0]<stdout>:" in front, old and new columns.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/errors.h"
#include "work/work.h"

namespace weft::measured {

// One line of a log. Fields that a tool does not print stay empty.
struct Row {
  Bytes size;          // the tool's own size column, in bytes
  double time_us = 0;  // out of place where both are given
  std::optional<double> in_place_time_us;
  std::optional<double> busbw_gb_per_s;      // as printed; 1 GB = 1e9 B
  std::optional<double> bandwidth_gb_per_s;  // point-to-point tools: average bandwidth
  std::string type, redop;
  std::int64_t wrong = 0;  // elements that came out wrong
  int line = 0;
};

struct Table {
  std::string format;  // name of the reader
  std::string test;    // "all_reduce_perf", "ib_write_bw", "osu_latency"
  std::optional<work::CollectiveKind> kind;
  int ranks = 0;  // 0 when the log does not say
  std::vector<Row> rows;
  std::vector<std::string> notes;  // what had to be assumed, what looked wrong
};

class Reader {
 public:
  virtual ~Reader() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual std::string_view summary() const = 0;
  [[nodiscard]] virtual bool recognises(std::string_view text) const = 0;
  // Throws InputError with line and column when a row of the table cannot be read.
  [[nodiscard]] virtual Table read(std::string_view text, const std::string& file) const = 0;
};

std::span<const Reader* const> all_readers();
// Tries recognises() in order; InputError that names the formats when none does.
Table read_any(std::string_view text, const std::string& file);

}  // namespace weft::measured
