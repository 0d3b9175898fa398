// Words of the text of `nvidia-smi topo -m` with their places, whatever stands between them: tabs,
// blanks, no-break spaces, table bars, ANSI escapes of the underlined header (also as "^[[4m", and
// as "[4m" where a web page swallowed the ESC), marks of quoted mail.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weft::import {

struct TopoToken {
  std::string text;
  int column = 1;  // in code points, from 1
};

struct TopoLine {
  int number = 1;
  std::vector<TopoToken> tokens;
};

std::vector<TopoLine> lex_topo(std::string_view text);

}  // namespace weft::import
