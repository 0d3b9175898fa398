#include "base/csv.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace weft {
namespace {

class Lexer {
 public:
  Lexer(std::string_view text, const std::string& file, Diagnostics& diagnostics)
      : text_(text), file_(file), diagnostics_(&diagnostics) {}

  [[nodiscard]] bool done() const { return at_ >= text_.size(); }

  // One record; quoted cells may hold line ends.
  CsvTable::Row record() {
    CsvTable::Row row{line_, {}};
    while (true) {
      row.cells.push_back(text_.substr(at_, 1) == "\"" ? quoted() : plain());
      if (done()) return row;
      const char separator = text_[at_++];
      if (separator == ',') continue;
      if (separator == '\r' && !done() && text_[at_] == '\n') ++at_;
      ++line_;
      return row;
    }
  }

 private:
  std::string plain() {
    const std::size_t end = std::min(text_.find_first_of(",\r\n", at_), text_.size());
    std::string cell(text_.substr(at_, end - at_));
    at_ = end;
    return cell;
  }

  std::string quoted() {
    const int opened = line_;
    std::string cell;
    for (++at_; !done(); ++at_) {
      if (text_[at_] == '\n') ++line_;
      if (text_[at_] != '"') {
        cell += text_[at_];
      } else if (text_.substr(at_ + 1, 1) == "\"") {
        cell += text_[at_++];
      } else {
        ++at_;
        if (!done() && text_.find_first_of(",\r\n", at_) != at_) {
          diagnostics_->add({file_, line_, 0}, "text follows a closing quote",
                            "double the quotes inside a quoted cell");
          cell += plain();
        }
        return cell;
      }
    }
    diagnostics_->add({file_, opened, 0}, "a quoted cell is not closed", "add the closing \"");
    return cell;
  }

  std::string_view text_;
  const std::string& file_;
  Diagnostics* diagnostics_;
  std::size_t at_ = 0;
  int line_ = 1;
};

bool blank(const CsvTable::Row& row) {
  return row.cells.size() == 1 && trim(row.cells[0]).empty();
}

}  // namespace

CsvTable CsvTable::parse(std::string_view text, const std::string& file) {
  if (starts_with(text, "\xef\xbb\xbf")) text.remove_prefix(3);  // a byte order mark
  Diagnostics diagnostics;
  Lexer lexer(text, file, diagnostics);
  CsvTable table;
  table.file_ = file;
  if (!lexer.done()) table.columns_ = lexer.record().cells;
  for (std::string& name : table.columns_) name = std::string(trim(name));
  if (table.columns_.empty() || table.columns_.front().empty())
    diagnostics.add({file, 1, 1}, "a CSV file begins with its column names");
  while (!lexer.done()) {
    Row row = lexer.record();
    if (blank(row)) continue;
    if (row.cells.size() != table.columns_.size()) {
      diagnostics.add(
          {file, row.line, 0},
          fmt::format("{} cells in a table of {} columns", row.cells.size(), table.columns_.size()),
          "quote cells that hold commas");
    }
    table.rows_.push_back(std::move(row));
  }
  diagnostics.throw_if_any(text);
  return table;
}

std::optional<std::size_t> CsvTable::column(std::string_view name) const {
  const auto found = std::find(columns_.begin(), columns_.end(), name);
  if (found == columns_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - columns_.begin());
}

std::string_view CsvTable::cell(const Row& row, std::string_view name) const {
  const auto index = column(name);
  return index ? trim(row.cells[*index]) : std::string_view();
}

std::optional<double> CsvTable::number(const Row& row, std::string_view name,
                                       Diagnostics& diagnostics) const {
  const std::string_view text = cell(row, name);
  if (text.empty()) return std::nullopt;
  const auto value = parse_double(text);
  if (!value)
    diagnostics.add({file_, row.line, 0}, fmt::format("{} is not a number in {}", text, name));
  return value;
}

}  // namespace weft
