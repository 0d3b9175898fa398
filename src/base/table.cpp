#include "base/table.h"

#include <algorithm>

#include "base/check.h"
#include "base/text.h"

namespace weft {

TextTable& TextTable::column(std::string header, Align align) {
  CHECK(rows_.empty());
  columns_.push_back({std::move(header), align});
  return *this;
}

TextTable& TextTable::row(std::vector<std::string> cells) {
  CHECK(cells.size() == columns_.size());
  rows_.push_back(std::move(cells));
  return *this;
}

TextTable& TextTable::rule() {
  rules_.push_back(rows_.size());
  return *this;
}

std::string TextTable::render(int gap) const {
  std::vector<int> widths;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    int width = display_width(columns_[c].header);
    for (const auto& cells : rows_) width = std::max(width, display_width(cells[c]));
    widths.push_back(width);
  }
  const std::string between(static_cast<std::size_t>(gap), ' ');
  std::string out;
  const auto line = [&](auto&& cell_of) {
    std::string text;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const std::string& cell = cell_of(c);
      const std::string padding(static_cast<std::size_t>(widths[c] - display_width(cell)), ' ');
      if (c > 0) text += between;
      text += columns_[c].align == Align::right ? padding + cell : cell + padding;
    }
    text.erase(text.find_last_not_of(' ') + 1);
    out += text + '\n';
  };
  std::vector<std::string> dashes;
  for (const int width : widths) dashes.emplace_back(static_cast<std::size_t>(width), '-');
  const auto rule = [&](std::size_t c) -> const std::string& { return dashes[c]; };

  line([&](std::size_t c) -> const std::string& { return columns_[c].header; });
  line(rule);
  for (std::size_t r = 0; r <= rows_.size(); ++r) {
    if (std::find(rules_.begin(), rules_.end(), r) != rules_.end()) line(rule);
    if (r < rows_.size()) line([&](std::size_t c) -> const std::string& { return rows_[r][c]; });
  }
  return out;
}

}  // namespace weft
