// The tables of perftest (ib_write_bw, ib_read_lat, ...). The header names the unit: MiB/sec by
// default (2^20, printed as MB/sec by old versions), Gb/sec with --report_gbits. Latency tables
// give half the round trip in microseconds; the typical value is taken.
#include <fmt/format.h>

#include "base/text.h"
#include "measured/lines.h"
#include "measured/measured.h"

namespace weft::measured {
namespace {

enum class Unit { none, mebibytes, gigabits, microseconds };

Unit unit_of(std::string_view header) {
  if (header.find("[Gb/sec]") != std::string_view::npos) return Unit::gigabits;
  if (header.find("[MiB/sec]") != std::string_view::npos ||
      header.find("[MB/sec]") != std::string_view::npos)
    return Unit::mebibytes;
  return Unit::microseconds;
}

class PerftestReader final : public Reader {
 public:
  [[nodiscard]] std::string_view name() const override { return "perftest"; }
  [[nodiscard]] std::string_view summary() const override {
    return "tables of perftest (ib_write_bw, ib_read_lat, ...)";
  }
  [[nodiscard]] bool recognises(std::string_view text) const override {
    return text.find("#bytes") != std::string_view::npos &&
           text.find("#iterations") != std::string_view::npos;
  }
  [[nodiscard]] Table read(std::string_view text, const std::string& file) const override {
    Table table;
    table.format = name();
    Diagnostics diagnostics;
    Unit unit = Unit::none;
    for (const Line& line : lines_of(text)) {
      if (line.text.find("#bytes") != std::string_view::npos) {
        unit = unit_of(line.text);
      } else if (line.text.find(" Test") != std::string_view::npos && table.test.empty()) {
        table.test = std::string(trim(line.text));
      } else if (unit != Unit::none) {
        read_row(line, unit, file, table, diagnostics);
      }
    }
    diagnostics.throw_if_any(text);
    if (unit == Unit::mebibytes)
      table.notes.emplace_back("bandwidth column read as MiB/s (2^20 bytes), perftest's default");
    return table;
  }

 private:
  static void read_row(const Line& line, Unit unit, const std::string& file, Table& table,
                       Diagnostics& diagnostics) {
    const auto cells = split_whitespace(line.text);
    if (cells.size() < 4) return;
    const auto size = parse_int(cells[0]);
    if (!size || !parse_int(cells[1])) return;
    Row row;
    row.size = Bytes(*size);
    row.line = line.number;
    if (unit == Unit::microseconds) {
      const std::size_t typical =
          cells.size() > 4 ? 4 : 2;  // t_min t_max t_typical ...; -D prints t_avg only
      row.time_us = cell_number(cells[typical], line, file, diagnostics).value_or(0);
    } else if (const auto average = cell_number(cells[3], line, file, diagnostics)) {
      row.bandwidth_gb_per_s = unit == Unit::gigabits ? *average / 8 : *average * 1048576 / 1e9;
      if (*average > 0) row.time_us = row.size.to_double() / (*row.bandwidth_gb_per_s * 1e3);
    }
    table.rows.push_back(row);
  }
};

}  // namespace

const Reader& perftest_reader() {
  static const PerftestReader kReader;
  return kReader;
}

}  // namespace weft::measured
