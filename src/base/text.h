// Small text helpers shared by every reader and printer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

std::string_view trim(std::string_view text);
std::vector<std::string_view> split(std::string_view text, char separator);  // keeps empty pieces
std::vector<std::string_view> split_whitespace(std::string_view text);       // drops empty pieces
std::string to_lower(std::string_view text);
std::string join(std::span<const std::string> parts, std::string_view separator);
bool starts_with(std::string_view text, std::string_view prefix);
// '*' stands for any characters or none, everything else for itself.
bool matches_pattern(std::string_view text, std::string_view pattern);

// Whole text as a number, or nullopt: no trailing characters, no locale, no overflow, no "nan".
std::optional<std::int64_t> parse_int(std::string_view text);
std::optional<std::uint64_t> parse_hex(std::string_view text);  // with or without "0x"
std::optional<double> parse_double(std::string_view text);

// The candidate within Damerau distance 2 of `word` (1 for words under 4 letters; nearest, then
// first), if any. Letter case is not counted as a difference.
std::optional<std::string> did_you_mean(std::string_view word,
                                        std::span<const std::string> candidates);
// "did you mean 'rail'?" or "one of: rail, leaf_spine, fat_tree".
std::string suggest(std::string_view word, std::span<const std::string> candidates);

// Offset of the first byte that is not part of well-formed UTF-8, or nullopt.
std::optional<std::size_t> find_invalid_utf8(std::string_view text);
// The code point that starts at `offset`, and how many bytes it takes (U+FFFD and 1 when
// malformed).
struct CodePoint {
  char32_t value;
  std::size_t bytes;
};
CodePoint code_point_at(std::string_view text, std::size_t offset);
void append_utf8(std::string& out, char32_t code_point);

// Columns a terminal gives `text` (East Asian wide characters count 2).
int display_width(std::string_view text);

// Whole file as text; InputError when it cannot be read or is larger than `limit` bytes.
std::string read_file(const std::string& path, std::size_t limit = std::size_t{1} << 30);
// Writes to a temporary beside `path` and renames it: nothing half-written. InputError on failure.
void write_file(const std::string& path, std::string_view text);

}  // namespace weft
