// The table of nccl-tests and rccl-tests, of every version since 2019. Old tables have an `error`
// column and no `root`; the header line says which columns there are.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "measured/lines.h"
#include "measured/measured.h"

namespace weft::measured {
namespace {

// Where the columns of a row are, from the header "# size count type redop root time algbw busbw
// ...".
struct Columns {
  bool redop = false, root = false;
  std::size_t half = 0;  // cells of one measurement: time algbw busbw and error or #wrong
  bool valid = false;
};

Columns columns_of(std::string_view header) {
  Columns columns;
  std::size_t times = 0, halves = 0;
  for (std::string_view name : split_whitespace(header)) {
    if (name == "redop") columns.redop = true;
    if (name == "root") columns.root = true;
    if (name == "time" || name == "cputime") ++times;
    if (times == 1) ++halves;
  }
  columns.half = halves;
  columns.valid = times == 2 && halves >= 3;
  return columns;
}

bool is_header(std::string_view line) {
  const auto cells = split_whitespace(line);
  return cells.size() > 6 && cells[0] == "#" && cells[1] == "size" && cells[2] == "count";
}

std::optional<work::CollectiveKind> kind_in(std::string_view line) {
  const std::size_t end = line.find("_perf");
  if (end == std::string_view::npos) return std::nullopt;
  std::size_t begin = end;
  while (begin > 0 &&
         (std::isalpha(static_cast<unsigned char>(line[begin - 1])) != 0 || line[begin - 1] == '_'))
    --begin;
  return work::parse_collective(line.substr(begin, end - begin));
}

class TableReader {
 public:
  TableReader(std::string_view text, std::string file) : text_(text), file_(std::move(file)) {}

  Table read() {
    table_.format = "nccl_tests";
    for (const Line& line : lines_of(text_)) read_line(line);
    diagnostics_.throw_if_any(text_);
    return std::move(table_);
  }

 private:
  void read_line(const Line& line) {
    if (is_header(line.text)) columns_ = columns_of(line.text);
    if (!table_.kind) {
      table_.kind = kind_in(line.text);
      if (table_.kind) table_.test = std::string(work::to_text(*table_.kind)) + "_perf";
    }
    if (line.text.starts_with("#")) {
      const auto words = split_whitespace(line.text);
      if (words.size() > 2 && words[1] == "Rank") ++table_.ranks;
      return;
    }
    if (columns_.valid) read_row(line);
  }

  // A row begins with two whole numbers; anything else between rows is log noise.
  void read_row(const Line& line) {
    const auto cells = split_whitespace(line.text);
    if (cells.size() < 3) return;
    const auto size = parse_int(cells[0]), count = parse_int(cells[1]);
    if (!size || !count) return;
    const std::size_t first =
        cells.size() >= 2 * columns_.half ? cells.size() - 2 * columns_.half : 0;
    if (first < 3) {
      diagnostics_.add({file_, line.number, line.column},
                       fmt::format("a row with {} cells, the header has more", cells.size()),
                       "the line may have been cut or wrapped; paste it whole");
      return;
    }
    Row row;
    row.size = Bytes(*size);
    row.type = cells[2];
    if (columns_.redop && first > 3) row.redop = cells[3];
    row.line = line.number;
    row.time_us = number(cells[first], line).value_or(0);
    row.busbw_gb_per_s = number(cells[first + 2], line);
    row.in_place_time_us = number(cells[first + columns_.half], line);
    if (columns_.half > 3) row.wrong = whole_number(number(cells[first + 3], line).value_or(0));
    table_.rows.push_back(row);
  }

  std::optional<double> number(std::string_view cell, const Line& line) {
    return cell_number(cell, line, file_, diagnostics_);
  }

  std::string_view text_;
  std::string file_;
  Columns columns_;
  Table table_;
  Diagnostics diagnostics_;
};

class NcclTestsReader final : public Reader {
 public:
  [[nodiscard]] std::string_view name() const override { return "nccl_tests"; }
  [[nodiscard]] std::string_view summary() const override {
    return "table of nccl-tests and rccl-tests, old and new";
  }
  [[nodiscard]] bool recognises(std::string_view text) const override {
    for (const Line& line : lines_of(text)) {
      if (is_header(line.text)) return true;
    }
    return false;
  }
  [[nodiscard]] Table read(std::string_view text, const std::string& file) const override {
    return TableReader(text, file).read();
  }
};

}  // namespace

const Reader& nccl_tests_reader() {
  static const NcclTestsReader kReader;
  return kReader;
}

}  // namespace weft::measured
