// The table of Ascend hccl_test: "data_size(Bytes): | aveg_time(us): | alg_bandwidth(GB/s): |
// check_result:" and rows of the same cells. Its bandwidth is the algorithm's, so busbw stays
// empty.
#include "base/text.h"
#include "measured/lines.h"
#include "measured/measured.h"

namespace weft::measured {
namespace {

class HcclTestReader final : public Reader {
 public:
  [[nodiscard]] std::string_view name() const override { return "hccl_test"; }
  [[nodiscard]] std::string_view summary() const override { return "table of Ascend hccl_test"; }
  [[nodiscard]] bool recognises(std::string_view text) const override {
    return text.find("data_size(Bytes)") != std::string_view::npos;
  }
  [[nodiscard]] Table read(std::string_view text, const std::string& file) const override {
    Table table;
    table.format = name();
    Diagnostics diagnostics;
    bool after_header = false;
    for (const Line& line : lines_of(text)) {
      if (line.text.find("data_size(Bytes)") != std::string_view::npos) {
        after_header = true;
      } else if (after_header) {
        read_row(line, file, table, diagnostics);
      }
    }
    diagnostics.throw_if_any(text);
    return table;
  }

 private:
  static void read_row(const Line& line, const std::string& file, Table& table,
                       Diagnostics& diagnostics) {
    std::string plain(line.text);
    const auto cells = split(line.text, '|');
    if (cells.size() < 3) return;
    const auto size = parse_int(trim(cells[0]));
    if (!size) return;
    Row row;
    row.size = Bytes(*size);
    row.time_us = cell_number(trim(cells[1]), line, file, diagnostics).value_or(0);
    row.bandwidth_gb_per_s = cell_number(trim(cells[2]), line, file, diagnostics);
    row.wrong = cells.size() > 3 && trim(cells[3]) == "failed" ? 1 : 0;
    row.line = line.number;
    table.rows.push_back(row);
  }
};

}  // namespace

const Reader& hccl_reader() {
  static const HcclTestReader kReader;
  return kReader;
}

}  // namespace weft::measured
