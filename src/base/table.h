// A table for terminals: columns as wide as their widest cell, numbers to the right, no lines but
// rules that are asked for. Widths are counted in terminal columns, so Chinese text lines up.
// Leaves out: wrapping and colour.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weft {

class TextTable {
 public:
  enum class Align { left, right };

  TextTable& column(std::string header, Align align = Align::left);
  TextTable& number_column(std::string header) { return column(std::move(header), Align::right); }
  // REQUIRES one cell a column.
  TextTable& row(std::vector<std::string> cells);
  TextTable& rule();  // a line of dashes between the rows added before and after

  [[nodiscard]] std::size_t rows() const { return rows_.size(); }
  // Header, rule and rows, each line ended and without blanks at its end.
  [[nodiscard]] std::string render(int gap = 2) const;

 private:
  struct Column {
    std::string header;
    Align align;
  };
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
  std::vector<std::size_t> rules_;  // before which row
};

}  // namespace weft
