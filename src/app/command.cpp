#include "app/command.h"

#include <fmt/format.h>

#include "base/check.h"
#include "base/text.h"

namespace weft::app {

InputError option_error(std::string_view option, std::string what, std::string hint) {
  return {SourcePosition{"command line, --" + std::string(option), 0, 0}, std::move(what),
          std::move(hint)};
}

bool Arguments::flag(std::string_view option) const {
  return given(option);
}

bool Arguments::given(std::string_view option) const {
  for (const Value& value : values) {
    if (value.option == option) return true;
  }
  return false;
}

std::optional<std::string> Arguments::text(std::string_view option) const {
  for (const Value& value : values) {
    if (value.option == option) return value.text;
  }
  for (const OptionSpec& spec : specs) {
    if (spec.name == option) {
      return spec.fallback.empty() ? std::nullopt : std::optional(spec.fallback);
    }
  }
  CHECK(false);  // a command asked for an option it did not state
}

std::optional<std::string> Arguments::positional(std::size_t index) const {
  return index < positionals.size() ? std::optional(positionals[index]) : std::nullopt;
}

std::optional<std::int64_t> Arguments::integer(std::string_view option, std::int64_t min,
                                               std::int64_t max) const {
  const auto written = text(option);
  if (!written) return std::nullopt;
  const auto number = parse_int(*written);
  if (!number || *number < min || *number > max) {
    throw option_error(option, fmt::format("--{} takes a whole number, not '{}'", option, *written),
                       fmt::format("write a number from {} to {}", min, max));
  }
  return number;
}

std::optional<Bytes> Arguments::size(std::string_view option) const {
  const auto written = text(option);
  if (!written) return std::nullopt;
  if (const auto bytes = parse_nccl_size(*written)) return bytes;
  if (const auto bytes = parse_bytes(*written)) return bytes;
  throw option_error(option, fmt::format("--{} takes a size, not '{}'", option, *written),
                     "write bytes (8), K/M/G of 1024 (64K, 1G) or a unit (1MiB, 5GB)");
}

std::optional<std::size_t> Arguments::choice(std::string_view option,
                                             const std::vector<std::string>& allowed) const {
  const auto written = text(option);
  if (!written) return std::nullopt;
  for (std::size_t i = 0; i < allowed.size(); ++i) {
    if (allowed[i] == *written) return i;
  }
  throw option_error(option, fmt::format("--{} cannot be '{}'", option, *written),
                     suggest(*written, allowed));
}

void print(const Streams& streams, std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), streams.out);
}

void note(const Streams& streams, std::string_view text) {
  if (!streams.quiet) fmt::print(streams.err, "{}\n", text);
}

}  // namespace weft::app
