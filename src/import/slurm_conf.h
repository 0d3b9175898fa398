// Lines of Slurm's configuration files as keys and values: `Key=Value ...`, keys of any case,
// blanks allowed around `=`, values in double quotes or up to the next blank, `#` opens a comment,
// a backslash at the end of a line joins the next one. Leaves out: `Include`, operators before `=`.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/errors.h"

namespace weft::import {

struct SlurmField {
  std::string key;  // in lower case
  std::string value;
  std::string written;                   // the key as it stands
  std::size_t key_at = 0, value_at = 0;  // bytes from the start of the file
};
using SlurmLine = std::vector<SlurmField>;  // never empty

// What cannot be read is put into `diagnostics`, at positions of `index`.
std::vector<SlurmLine> read_slurm_lines(std::string_view text, const LineIndex& index,
                                        const std::string& file, Diagnostics& diagnostics);

}  // namespace weft::import
