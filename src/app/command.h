// The table of subcommands. A subcommand is one file: it states its positionals, options and
// examples as data, from which parsing, --help and "did you mean" come, and a function that runs
// it.
#pragma once

#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/errors.h"
#include "base/units.h"

namespace weft::app {

struct OptionSpec {
  std::string name;      // "begin": written --begin
  std::string letter;    // "b": written -b; empty when it has none
  std::string value;     // "SIZE"; empty for a flag
  std::string help;      // one line
  std::string fallback;  // default, as the user would write it; empty = none
};

struct PositionalSpec {
  std::string name;  // "SOURCE"
  std::string help;
  bool required = true;
  bool many = false;  // the last one may repeat
};

// What the user wrote, after parsing. Getters throw InputError naming the option.
class Arguments {
 public:
  [[nodiscard]] bool flag(std::string_view option) const;
  // The value written, else the option's fallback, else nullopt.
  [[nodiscard]] std::optional<std::string> text(std::string_view option) const;
  [[nodiscard]] bool given(std::string_view option) const;
  [[nodiscard]] std::optional<std::string> positional(std::size_t index) const;
  [[nodiscard]] std::optional<std::int64_t> integer(std::string_view option, std::int64_t min,
                                                    std::int64_t max) const;
  // Plain bytes, K/M/G of nccl-tests, or a unit ("1MiB").
  [[nodiscard]] std::optional<Bytes> size(std::string_view option) const;
  // Index into `allowed`; a wrong word is an error that suggests the nearest.
  [[nodiscard]] std::optional<std::size_t> choice(std::string_view option,
                                                  const std::vector<std::string>& allowed) const;
  [[nodiscard]] const std::vector<std::string>& words() const {
    return words_;
  }  // the whole command line

  struct Value {
    std::string option, text;
  };
  std::vector<Value> values;
  std::vector<std::string> positionals;
  std::vector<OptionSpec> specs;
  std::vector<std::string> words_;
};

// Where a command writes. Data goes to `out`, progress and notes to `err`.
struct Streams {
  std::FILE* out = stdout;
  std::FILE* err = stderr;
  bool err_is_terminal = false;
  bool colour = false;
  bool quiet = false;
};
void print(const Streams& streams, std::string_view text);  // to out
void note(const Streams& streams, std::string_view text);   // one line to err, unless quiet

struct Command {
  std::string name;
  std::string summary;
  std::vector<std::string> examples;
  std::vector<PositionalSpec> positionals;
  std::vector<OptionSpec> options;
  int (*run)(const Arguments&, const Streams&) = nullptr;
};

std::span<const Command> all_commands();

InputError option_error(std::string_view option, std::string what, std::string hint);

}  // namespace weft::app
