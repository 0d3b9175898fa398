#include "app/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <deque>

#include "base/text.h"

namespace weft::app {
namespace {

constexpr std::string_view kVersion = "0.1.0";

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  for (const Command& command : all_commands()) names.push_back(command.name);
  return names;
}

const Command* find_command(std::string_view name) {
  for (const Command& command : all_commands()) {
    if (command.name == name) return &command;
  }
  return nullptr;
}

std::string option_spelling(const OptionSpec& option) {
  std::string text = option.letter.empty() ? "    " : "-" + option.letter + ", ";
  text += "--" + option.name;
  if (!option.value.empty()) text += " " + option.value;
  return text;
}

const std::vector<OptionSpec>& common_options() {
  static const std::vector<OptionSpec> kOptions = {
      {"help", "h", "", "show this help", ""},
      {"catalogue", "", "FILE", "your own parts and figures over the shipped catalogue", ""},
      {"quiet", "q", "", "no notes and no progress on stderr", ""},
      {"color", "", "WHEN", "auto, always or never", "auto"},
  };
  return kOptions;
}

// Names that could have been meant by an option CLI11 did not know.
std::string suggest_option(const Command& command, const std::string& word) {
  std::vector<std::string> known;
  for (const auto* list : {&command.options, &common_options()}) {
    for (const OptionSpec& option : *list) known.push_back("--" + option.name);
  }
  const std::string name = word.substr(0, word.find('='));
  if (const auto near = did_you_mean(name, known)) return "did you mean '" + *near + "'?";
  return fmt::format("weft {} --help lists them", command.name);
}

// CLI11 fills these; one slot an option.
struct Slots {
  std::deque<std::string> texts;
  std::deque<bool> flags;
};

void add_option(CLI::App& app, const OptionSpec& option, Slots& slots) {
  const std::string names =
      (option.letter.empty() ? "" : "-" + option.letter + ",") + "--" + option.name;
  if (option.value.empty()) {
    app.add_flag(names, slots.flags.emplace_back(false));
    slots.texts.emplace_back();
  } else {
    app.add_option(names, slots.texts.emplace_back());
    slots.flags.emplace_back(false);
  }
}

void check_words(const Command& command, const std::vector<std::string>& extras) {
  for (const std::string& word : extras) {
    if (word.size() > 1 && word[0] == '-') {
      throw InputError(SourcePosition{"command line", 0, 0},
                       fmt::format("weft {} has no option '{}'", command.name, word),
                       suggest_option(command, word));
    }
  }
}

void check_positionals(const Command& command, const std::vector<std::string>& words) {
  std::size_t required = 0;
  for (const PositionalSpec& positional : command.positionals)
    required += positional.required ? 1 : 0;
  if (words.size() < required) {
    throw InputError(
        SourcePosition{"command line", 0, 0},
        fmt::format("weft {} needs {}", command.name, command.positionals[words.size()].name),
        command.positionals[words.size()].help);
  }
  const bool many = !command.positionals.empty() && command.positionals.back().many;
  if (words.size() > command.positionals.size() && !many) {
    throw InputError(
        SourcePosition{"command line", 0, 0},
        fmt::format("weft {} cannot use '{}'", command.name, words[command.positionals.size()]),
        fmt::format("weft {} --help shows what it takes", command.name));
  }
}

Arguments parse_arguments(const Command& command, const std::vector<std::string>& words,
                          bool& help) {
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  app.prefix_command(false);
  Slots slots;
  std::vector<OptionSpec> specs = command.options;
  for (const OptionSpec& option : common_options()) specs.push_back(option);
  for (const OptionSpec& option : specs) add_option(app, option, slots);
  try {
    std::vector<std::string> reversed(words.rbegin(), words.rend());
    app.parse(reversed);
  } catch (const CLI::ParseError& error) {
    throw InputError(SourcePosition{"command line", 0, 0}, error.what(),
                     fmt::format("weft {} --help shows the options", command.name));
  }
  Arguments arguments;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (app.get_option("--" + specs[i].name)->count() > 0) {
      arguments.values.push_back({specs[i].name, slots.texts[i]});
    }
  }
  arguments.specs = specs;
  help = arguments.given("help");
  if (help) return arguments;
  check_words(command, app.remaining());
  arguments.positionals = app.remaining();
  check_positionals(command, arguments.positionals);
  return arguments;
}

}  // namespace

std::string program_help() {
  std::string out =
      "weft predicts how an AI cluster communicates: how long, what limits it, and why.\n\n"
      "Examples:\n"
      "  weft demo\n"
      "  weft bench all_reduce -c demo-8x8-h100-rail -b 8 -e 1G -f 2\n"
      "  weft path hgx-h100 gpu0 gpu7 --via all\n\n"
      "Commands:\n";
  for (const Command& command : all_commands()) {
    out += fmt::format("  {:<10} {}\n", command.name, command.summary);
  }
  out += "\nweft COMMAND --help explains one; --version prints the version.\n";
  return out;
}

std::string command_help(const Command& command) {
  std::string out = fmt::format("{}\n\nExamples:\n", command.summary);
  for (const std::string& example : command.examples) out += "  " + example + "\n";
  out += "\nUsage: weft " + command.name;
  for (const PositionalSpec& positional : command.positionals) {
    out += positional.required ? " " + positional.name : " [" + positional.name + "]";
    if (positional.many) out += "...";
  }
  out += " [options]\n";
  for (const PositionalSpec& positional : command.positionals) {
    out += fmt::format("  {:<24} {}\n", positional.name, positional.help);
  }
  out += "\nOptions:\n";
  for (const auto* list : {&command.options, &common_options()}) {
    for (const OptionSpec& option : *list) {
      out += fmt::format("  {:<24} {}{}\n", option_spelling(option), option.help,
                         option.fallback.empty() ? "" : " [" + option.fallback + "]");
    }
  }
  return out;
}

ParsedCommandLine parse_command_line(const std::vector<std::string>& words) {
  ParsedCommandLine parsed;
  if (words.empty()) {
    parsed.text = program_help();
    parsed.exit_code = 2;
    return parsed;
  }
  if (words[0] == "--help" || words[0] == "-h" || words[0] == "help") {
    parsed.text = program_help();
    return parsed;
  }
  if (words[0] == "--version" || words[0] == "version") {
    parsed.text = fmt::format("weft {}\n", kVersion);
    return parsed;
  }
  const Command* command = find_command(words[0]);
  if (command == nullptr) {
    throw InputError(SourcePosition{"command line", 0, 0},
                     fmt::format("there is no command '{}'", words[0]),
                     suggest(words[0], command_names()));
  }
  bool help = false;
  parsed.arguments = parse_arguments(*command, {words.begin() + 1, words.end()}, help);
  parsed.arguments.words_ = words;
  if (help) {
    parsed.text = command_help(*command);
    return parsed;
  }
  parsed.command = command;
  parsed.quiet = parsed.arguments.flag("quiet");
  const std::vector<std::string> when = {"auto", "always", "never"};
  parsed.colour = when[*parsed.arguments.choice("color", when)];
  return parsed;
}

}  // namespace weft::app
