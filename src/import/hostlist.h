// Lists of names and numbers as administrators write them: Slurm hostlists ("node[001-128,130]")
// and index ranges ("0-7,9").
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft::import {

// Every name of a hostlist, in order: "rack[1-2]-n[01-02],login" is rack1-n01, rack1-n02,
// rack2-n01, rack2-n02, login. Leading zeros set the width. Or why it is not one.
struct Hostlist {
  std::vector<std::string> names;
  std::string fault;  // one sentence when the text is no hostlist; names is empty then
};
Hostlist expand_hostlist(std::string_view text, std::size_t most = 1'000'000);

// The same the other way round, in order: rack1-n01, rack1-n02, login is "rack1-n[01-02],login".
// REQUIRES names without brackets, commas and blanks.
std::string compress_hostlist(std::span<const std::string> names);

// "0-2,5" as 0 1 2 5; nullopt when malformed, empty, descending within a range, or a number is not
// below `limit`.
std::optional<std::vector<int>> parse_index_list(std::string_view text, int limit);

}  // namespace weft::import
