// What the text readers share: lines without what launchers put in front, and numbers with
// positions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/errors.h"

namespace weft::measured {

struct Line {
  std::string_view text;  // without launcher prefix and trailing blanks
  int number = 0;         // from 1
  int column = 1;         // of text[0] in the file's line
};

// Prefixes dropped: "[1,0]<stdout>:", "pod-name: ", "0: " of srun -l, and ANSI colours are refused
// by none: they are skipped.
std::vector<Line> lines_of(std::string_view text);

// The cell as a number; a cell that is not one is reported. Empty optional for "N/A".
std::optional<double> cell_number(std::string_view cell, const Line& line, const std::string& file,
                                  Diagnostics& diagnostics);

// The whole number nearest below, at the ends of the range for what lies beyond; NaN is 0.
std::int64_t whole_number(double value);

}  // namespace weft::measured
