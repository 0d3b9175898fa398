#include "base/errors.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/check.h"
#include "base/text.h"

namespace weft {

namespace {

constexpr std::size_t kStride = 1024;  // bytes; a file of one long line must not cost more
constexpr std::size_t kMaxCopiedBytes = 1 << 20;  // of source lines, by all faults of a file
constexpr int kMaxShownColumns = 100;  // of a source line; minified files have lines of megabytes

bool is_continuation(char c) {
  return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

std::size_t count_code_points(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !is_continuation(c); }));
}

// What a terminal may be given: no escape sequences or line breaks out of a user's file.
std::string printable(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const CodePoint c = code_point_at(text, i);
    const bool control = c.value < 0x20 || (c.value >= 0x7f && c.value < 0xa0);
    if (c.value == '\t') {
      out += ' ';
    } else if (control || c.value == 0xfffd) {
      out += '?';
    } else {
      out += text.substr(i, c.bytes);
    }
    i += c.bytes;
  }
  return out;
}

// The part of `line` to show, and how many columns stand before code point `column` in it.
std::pair<std::string, int> excerpt(std::string_view line, int column) {
  std::size_t target = 0;
  for (int c = 1; c < column && target < line.size(); ++c) {
    target += code_point_at(line, target).bytes;
  }
  std::size_t begin = 0;
  if (target > kMaxShownColumns * 3 / 4) {
    begin = target - kMaxShownColumns / 2;
    while (begin < target && is_continuation(line[begin])) ++begin;
  }
  std::size_t end = std::min(line.size(), begin + kMaxShownColumns);
  while (end < line.size() && is_continuation(line[end])) ++end;
  const std::string_view dots = "...";
  std::string before(begin > 0 ? dots : "");
  before += printable(line.substr(begin, target - begin));
  const int width = display_width(before);
  std::string shown = before + printable(line.substr(target, end > target ? end - target : 0));
  if (end < line.size()) shown += dots;
  return {std::move(shown), width};
}

void render_one(std::string& out, const Diagnostic& d) {
  out += fmt::format("error: {}\n", printable(d.what));
  const std::string number = d.where.line > 0 ? std::to_string(d.where.line) : "";
  const std::string margin(std::max<std::size_t>(number.size(), 2), ' ');
  if (!d.where.file.empty()) {
    out += fmt::format("{}--> {}", margin, printable(d.where.file));
    if (d.where.line > 0) out += fmt::format(":{}", d.where.line);
    if (d.where.line > 0 && d.where.column > 0) out += fmt::format(":{}", d.where.column);
    out += '\n';
  }
  if (d.where.line > 0 && !d.source_line.empty()) {
    const auto [shown, before] = excerpt(d.source_line, d.where.column);
    out += fmt::format("{} |\n{:>2} | {}\n", margin, number, shown);
    if (d.where.column > 0) out += fmt::format("{} | {:{}}^\n", margin, "", before);
  }
  if (!d.hint.empty()) out += fmt::format("{} = help: {}\n", margin, printable(d.hint));
}

// Files keep the order in which they first appear; within one, faults go by position.
void sort_by_position(std::vector<Diagnostic>& list) {
  std::vector<std::string> files;
  for (const Diagnostic& d : list) {
    if (std::find(files.begin(), files.end(), d.where.file) == files.end()) {
      files.push_back(d.where.file);
    }
  }
  const auto key = [&](const Diagnostic& d) {
    const auto file = std::find(files.begin(), files.end(), d.where.file);
    return std::tuple(file - files.begin(), d.where.line, d.where.column);
  };
  std::stable_sort(list.begin(), list.end(),
                   [&](const Diagnostic& a, const Diagnostic& b) { return key(a) < key(b); });
}

}  // namespace

LineIndex::LineIndex(std::string_view text) : text_(text), starts_{0}, checkpoints_{0} {
  for (std::size_t i = 0; i + kStride <= text.size(); i += kStride) {
    checkpoints_.push_back(checkpoints_.back() + count_code_points(text.substr(i, kStride)));
  }
  for (std::size_t i = text.find_first_of("\r\n"); i < text.size();
       i = text.find_first_of("\r\n", i)) {
    const bool pair = text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n';
    i += pair ? 2 : 1;
    starts_.push_back(i);
  }
}

SourcePosition LineIndex::at(std::size_t offset, const std::string& file) const {
  offset = std::min(offset, text_.size());
  const auto after = std::upper_bound(starts_.begin(), starts_.end(), offset);
  const std::size_t column = code_points_before(offset) - code_points_before(*std::prev(after)) + 1;
  return {file, static_cast<int>(after - starts_.begin()), static_cast<int>(column)};
}

std::size_t LineIndex::code_points_before(std::size_t offset) const {
  return checkpoints_[offset / kStride] +
         count_code_points(text_.substr(offset / kStride * kStride, offset % kStride));
}

std::string_view LineIndex::line(int line) const {
  if (line < 1 || static_cast<std::size_t>(line) > starts_.size()) return {};
  const std::string_view rest = text_.substr(starts_[static_cast<std::size_t>(line) - 1]);
  return rest.substr(0, rest.find_first_of("\r\n"));
}

SourcePosition position_at(std::string_view text, std::size_t offset, const std::string& file) {
  return LineIndex(text).at(offset, file);
}

std::string_view line_of(std::string_view text, int line) {
  return LineIndex(text).line(line);
}

InputError::InputError(std::vector<Diagnostic> diagnostics) : diagnostics_(std::move(diagnostics)) {
  sort_by_position(diagnostics_);
  text_ = render(*this);
}

InputError::InputError(SourcePosition where, std::string what, std::string hint)
    : InputError(std::vector{Diagnostic{std::move(where), std::move(what), std::move(hint), {}}}) {}

void Diagnostics::add(SourcePosition where, std::string what, std::string hint) {
  list_.push_back({std::move(where), std::move(what), std::move(hint), {}});
}

void Diagnostics::throw_all(std::string_view text) {
  CHECK(!list_.empty());
  sort_by_position(list_);
  const LineIndex lines(text);
  // A file of one long line must not be copied for each of its thousand faults.
  std::size_t copied = 0;
  for (Diagnostic& d : list_) {
    if (copied > kMaxCopiedBytes) break;
    if (d.source_line.empty() && d.where.line > 0) d.source_line = lines.line(d.where.line);
    copied += d.source_line.size();
  }
  throw InputError(std::move(list_));
}

std::string render(const InputError& error, std::size_t max_shown) {
  std::string out;
  const auto& list = error.diagnostics();
  const std::size_t shown = std::min(max_shown, list.size());
  for (std::size_t i = 0; i < shown; ++i) {
    if (i > 0) out += '\n';
    render_one(out, list[i]);
  }
  if (shown < list.size()) out += fmt::format("\nand {} more\n", list.size() - shown);
  return out;
}

}  // namespace weft
