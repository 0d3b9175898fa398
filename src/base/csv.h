// CSV with a header line (RFC 4180): quoted cells, doubled quotes, LF or CRLF. Every cell knows its
// line, so that a reader can say where a number went wrong. Stricter than most: a row with more or
// fewer cells than the header, an unknown column asked for, or an open quote is an error.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/errors.h"

namespace weft {

class CsvTable {
 public:
  struct Row {
    int line = 0;
    std::vector<std::string> cells;
  };

  // Throws InputError with every fault of the file.
  static CsvTable parse(std::string_view text, const std::string& file);

  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] const std::vector<std::string>& columns() const { return columns_; }
  [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }
  [[nodiscard]] std::optional<std::size_t> column(std::string_view name) const;
  // Empty text when there is no such column.
  [[nodiscard]] std::string_view cell(const Row& row, std::string_view column) const;
  // nullopt when the cell is empty or the column is missing; complains when it is not a number.
  [[nodiscard]] std::optional<double> number(const Row& row, std::string_view column,
                                             Diagnostics& diagnostics) const;

 private:
  std::string file_;
  std::vector<std::string> columns_;
  std::vector<Row> rows_;
};

}  // namespace weft
