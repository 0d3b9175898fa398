// From argv to a command and its arguments, through CLI11 (kept to one translation unit).
#pragma once

#include <string>
#include <vector>

#include "app/command.h"

namespace weft::app {

struct ParsedCommandLine {
  const Command* command = nullptr;  // null: print `text` and exit with `exit_code`
  Arguments arguments;
  std::string text;  // help or version for stdout
  int exit_code = 0;
  bool quiet = false;
  std::string colour = "auto";
};

// Throws InputError on a wrong command line. `words` excludes the program's name.
ParsedCommandLine parse_command_line(const std::vector<std::string>& words);
std::string command_help(const Command& command);
std::string program_help();

}  // namespace weft::app
