// The tables of the OSU micro-benchmarks: "# OSU MPI Latency Test v7.3", "# Size  Latency (us)" or
// "# Size  Bandwidth (MB/s)" (10^6 bytes) or "# Size  Avg Latency(us)" of collectives.
#include "base/text.h"
#include "measured/lines.h"
#include "measured/measured.h"

namespace weft::measured {
namespace {

std::optional<work::CollectiveKind> collective_in(std::string_view title) {
  using enum work::CollectiveKind;
  const std::string lower = to_lower(title);
  if (lower.find("allreduce") != std::string::npos) return all_reduce;
  if (lower.find("allgather") != std::string::npos) return all_gather;
  if (lower.find("all-to-all") != std::string::npos || lower.find("alltoall") != std::string::npos)
    return all_to_all;
  if (lower.find("broadcast") != std::string::npos || lower.find("bcast") != std::string::npos)
    return broadcast;
  return std::nullopt;
}

class OsuReader final : public Reader {
 public:
  [[nodiscard]] std::string_view name() const override { return "osu"; }
  [[nodiscard]] std::string_view summary() const override {
    return "tables of the OSU micro-benchmarks";
  }
  [[nodiscard]] bool recognises(std::string_view text) const override {
    return text.find("# OSU ") != std::string_view::npos;
  }
  [[nodiscard]] Table read(std::string_view text, const std::string& file) const override {
    Table table;
    table.format = name();
    Diagnostics diagnostics;
    bool bandwidth = false, in_table = false;
    for (const Line& line : lines_of(text)) {
      if (line.text.starts_with("# OSU")) {
        table.test = std::string(trim(line.text.substr(2)));
        table.kind = collective_in(table.test);
      } else if (line.text.starts_with("# Size")) {
        in_table = true;
        bandwidth = line.text.find("MB/s") != std::string_view::npos;
      } else if (in_table) {
        read_row(line, bandwidth, file, table, diagnostics);
      }
    }
    diagnostics.throw_if_any(text);
    return table;
  }

 private:
  static void read_row(const Line& line, bool bandwidth, const std::string& file, Table& table,
                       Diagnostics& diagnostics) {
    const auto cells = split_whitespace(line.text);
    if (cells.size() < 2) return;
    const auto size = parse_int(cells[0]);
    if (!size) return;
    const auto value = cell_number(cells[1], line, file, diagnostics);
    if (!value) return;
    Row row;
    row.size = Bytes(*size);
    row.line = line.number;
    if (bandwidth) {
      row.bandwidth_gb_per_s = *value / 1e3;
      if (*value > 0) row.time_us = row.size.to_double() / *value;
    } else {
      row.time_us = *value;
    }
    table.rows.push_back(row);
  }
};

}  // namespace

const Reader& osu_reader() {
  static const OsuReader kReader;
  return kReader;
}

}  // namespace weft::measured
