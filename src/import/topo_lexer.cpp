#include "import/topo_lexer.h"

#include <algorithm>

#include "base/text.h"

namespace weft::import {

namespace {

// Length of an escape sequence at `at`: ESC [ ... letter, or the same with ESC shown as "^[".
std::size_t escape_length(std::string_view line, std::size_t at) {
  std::size_t i = at;
  if (line[i] == '\x1b') {
    ++i;
  } else if (line.substr(i, 3) == "^[[") {
    i += 2;
  } else {
    return 0;
  }
  if (i >= line.size() || line[i] != '[') return i - at;
  ++i;
  while (i < line.size() && (line[i] == ';' || (line[i] >= '0' && line[i] <= '9'))) ++i;
  return std::min(i + 1, line.size()) - at;
}

// What is left of an escape sequence whose ESC a web page swallowed: "[4mGPU0", "GPU7[0m".
void strip_bare_escapes(std::string& token) {
  for (const std::string_view code : {"[4m", "[24m", "[0m", "[m", "[1m"}) {
    if (token.starts_with(code)) token.erase(0, code.size());
    if (token.ends_with(code)) token.erase(token.size() - code.size());
  }
}

TopoLine lex_line(std::string_view text, int number) {
  TopoLine line;
  line.number = number;
  TopoToken token;
  const auto finish = [&] {
    strip_bare_escapes(token.text);
    if (!token.text.empty()) line.tokens.push_back(token);
    token.text.clear();
  };
  int column = 0;
  for (std::size_t i = 0; i < text.size();) {
    if (const std::size_t skipped = escape_length(text, i); skipped > 0) {
      column += static_cast<int>(skipped);
      i += skipped;
      continue;
    }
    const CodePoint c = code_point_at(text, i);
    ++column;
    const bool blank = c.value <= 0x20 || c.value == 0xa0 || c.value == '|';
    if (blank) {
      finish();
    } else {
      if (token.text.empty()) token.column = column;
      token.text += text.substr(i, c.bytes);
    }
    i += c.bytes;
  }
  finish();
  // A quoted mail or a Markdown quote.
  while (!line.tokens.empty() && line.tokens.front().text == ">") {
    line.tokens.erase(line.tokens.begin());
  }
  return line;
}

}  // namespace

std::vector<TopoLine> lex_topo(std::string_view text) {
  std::vector<TopoLine> lines;
  int number = 1;
  for (const std::string_view line : split(text, '\n')) lines.push_back(lex_line(line, number++));
  return lines;
}

}  // namespace weft::import
