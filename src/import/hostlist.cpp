#include "import/hostlist.h"

#include <fmt/format.h>

#include "base/text.h"

namespace weft::import {

namespace {

// Splits at commas outside brackets. nullopt when brackets do not match.
std::optional<std::vector<std::string_view>> split_names(std::string_view text) {
  std::vector<std::string_view> pieces;
  std::size_t begin = 0;
  bool inside = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '[') {
      if (inside) return std::nullopt;
      inside = true;
    } else if (text[i] == ']') {
      if (!inside) return std::nullopt;
      inside = false;
    } else if (text[i] == ',' && !inside) {
      pieces.push_back(text.substr(begin, i - begin));
      begin = i + 1;
    }
  }
  if (inside) return std::nullopt;
  pieces.push_back(text.substr(begin));
  return pieces;
}

struct Range {
  std::int64_t first = 0, last = 0;
  int width = 0;  // digits to pad to
};

std::optional<Range> parse_range(std::string_view text) {
  const std::size_t dash = text.find('-');
  const std::string_view low = text.substr(0, dash);
  const std::string_view high = dash == std::string_view::npos ? low : text.substr(dash + 1);
  constexpr std::size_t kMostDigits = 9;
  for (const std::string_view digits : {low, high}) {
    const bool number = !digits.empty() && digits.size() <= kMostDigits &&
                        digits.find_first_not_of("0123456789") == std::string_view::npos;
    if (!number) return std::nullopt;
  }
  const bool padded = low.size() > 1 && low[0] == '0';
  const Range range{*parse_int(low), *parse_int(high), padded ? static_cast<int>(low.size()) : 0};
  return range.first <= range.last ? std::optional(range) : std::nullopt;
}

std::string fault_of_range(std::string_view text) {
  return fmt::format("'{}' is not a range of numbers", text);
}

// One name with any number of brackets, appended to `out`.
std::string expand_one(std::string_view text, std::size_t most, std::vector<std::string>& out) {
  std::vector<std::string> built = {""};
  while (!text.empty()) {
    const std::size_t open = text.find('[');
    const std::string_view plain = text.substr(0, open);
    for (std::string& name : built) name += plain;
    if (open == std::string_view::npos) break;
    const std::size_t close = text.find(']');
    std::vector<std::string> next;
    for (const std::string_view piece : split(text.substr(open + 1, close - open - 1), ',')) {
      const auto range = parse_range(trim(piece));
      if (!range) return fault_of_range(piece);
      const auto count = static_cast<std::size_t>(range->last - range->first + 1);
      if (out.size() + next.size() + built.size() * count > most) {
        return fmt::format("more than {} names", most);
      }
    }
    for (const std::string& name : built) {
      for (const std::string_view piece : split(text.substr(open + 1, close - open - 1), ',')) {
        const Range range = *parse_range(trim(piece));
        for (std::int64_t n = range.first; n <= range.last; ++n) {
          next.push_back(fmt::format("{}{:0{}}", name, n, range.width));
        }
        if (out.size() + next.size() > most) return fmt::format("more than {} names", most);
      }
    }
    built = std::move(next);
    text = text.substr(close + 1);
  }
  out.insert(out.end(), built.begin(), built.end());
  return {};
}

}  // namespace

Hostlist expand_hostlist(std::string_view text, std::size_t most) {
  const auto pieces = split_names(text);
  if (!pieces) return {{}, "the brackets do not match"};
  Hostlist list;
  for (const std::string_view piece : *pieces) {
    const std::string_view name = trim(piece);
    if (name.empty()) return {{}, "a name is missing between commas"};
    if (const std::string fault = expand_one(name, most, list.names); !fault.empty()) {
      return {{}, fault};
    }
    if (list.names.size() > most) return {{}, fmt::format("more than {} names", most)};
  }
  return list;
}

namespace {

// A name as letters and the number at its end.
struct Numbered {
  std::string_view prefix, digits;  // no digits: not to be counted
  std::int64_t number = 0;
  int width = 0;
};

Numbered numbered(std::string_view name) {
  constexpr std::size_t kMostDigits = 9;
  std::size_t at = name.size();
  while (at > 0 && name.size() - at < kMostDigits && name[at - 1] >= '0' && name[at - 1] <= '9')
    --at;
  Numbered n{name.substr(0, at), name.substr(at), 0, 0};
  if (n.digits.empty()) return n;
  n.number = *parse_int(n.digits);
  if (n.digits.size() > 1 && n.digits[0] == '0') n.width = static_cast<int>(n.digits.size());
  return n;
}

}  // namespace

std::string compress_hostlist(std::span<const std::string> names) {
  std::string out;
  for (std::size_t i = 0; i < names.size();) {
    const Numbered first = numbered(names[i]);
    std::vector<std::string> ranges;
    std::size_t at = i;
    while (at < names.size()) {  // ranges of one prefix
      const Numbered low = numbered(names[at]);
      if (low.digits.empty() || low.prefix != first.prefix) break;
      Numbered high = low;
      for (++at; at < names.size(); ++at) {
        const Numbered next = numbered(names[at]);
        const bool follows = next.prefix == low.prefix && !next.digits.empty() &&
                             next.digits == fmt::format("{:0{}}", high.number + 1, low.width);
        if (!follows) break;
        high = next;
      }
      ranges.push_back(low.number == high.number ? std::string(low.digits)
                                                 : fmt::format("{}-{}", low.digits, high.digits));
    }
    if (!out.empty()) out += ',';
    if (at <= i + 1) {  // one name, as it is
      out += names[i];
      at = i + 1;
    } else {
      out += fmt::format("{}[{}]", first.prefix, join(ranges, ","));
    }
    i = at;
  }
  return out;
}

std::optional<std::vector<int>> parse_index_list(std::string_view text, int limit) {
  std::vector<int> out;
  for (const std::string_view piece : split(text, ',')) {
    const auto range = parse_range(trim(piece));
    if (!range || range->last >= limit) return std::nullopt;
    for (std::int64_t n = range->first; n <= range->last; ++n) out.push_back(static_cast<int>(n));
    if (out.size() > static_cast<std::size_t>(limit)) return std::nullopt;  // overlapping ranges
  }
  return out;
}

}  // namespace weft::import
