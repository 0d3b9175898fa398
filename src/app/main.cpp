// weft: reads the command line, runs one command, and turns every fault into an exit code:
// 0 fine, 1 the answer is "no", 2 wrong usage or input, 70 a fault of ours.
#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>

#include "app/command_line.h"

namespace weft::app {
namespace {

// The one place that reads the environment: the three variables of the colour convention.
bool wants_colour(const std::string& when, bool terminal) {
  if (when != "auto") return when == "always";
  const auto set = [](const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr && *value != '\0';
  };
  if (set("NO_COLOR")) return false;
  if (set("CLICOLOR_FORCE")) return true;
  const char* terminal_type = std::getenv("TERM");
  return terminal && (terminal_type == nullptr || std::strcmp(terminal_type, "dumb") != 0);
}

int finish(int code) {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    fmt::print(stderr, "error: cannot write the output: {}\n", std::strerror(errno));
    return 2;
  }
  return code;
}

int run(const std::vector<std::string>& words) {
  const ParsedCommandLine parsed = parse_command_line(words);
  if (parsed.command == nullptr) {
    fmt::print(parsed.exit_code == 0 ? stdout : stderr, "{}", parsed.text);
    return finish(parsed.exit_code);
  }
  Streams streams;
  streams.err_is_terminal = isatty(STDERR_FILENO) != 0;
  streams.colour = wants_colour(parsed.colour, isatty(STDOUT_FILENO) != 0);
  streams.quiet = parsed.quiet;
  return finish(parsed.command->run(parsed.arguments, streams));
}

}  // namespace
}  // namespace weft::app

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_DFL);
  try {
    return weft::app::run({argv + 1, argv + argc});
  } catch (const weft::InputError& error) {
    fmt::print(stderr, "{}", weft::render(error));
    return 2;
  } catch (const std::exception& error) {
    fmt::print(stderr,
               "weft: internal error: {}\nThis is a fault of weft; please report it with the "
               "command that led here.\n",
               error.what());
    return 70;
  }
}
