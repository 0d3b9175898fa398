#include <array>

#include "base/text.h"
#include "collective/collective.h"

namespace weft::collective {

// Each algorithm's file defines `const Algorithm& NAME_algorithm()`; a row of list.def without one
// does not link.
#define X(name) const Algorithm& name##_algorithm();
#include "collective/list.def"
#undef X

std::span<const Algorithm* const> all_algorithms() {
  static const std::array kAll{
#define X(name) &name##_algorithm(),
#include "collective/list.def"
#undef X
  };
  return kAll;
}

const Algorithm* find_algorithm(std::string_view name) {
  for (const Algorithm* algorithm : all_algorithms())
    if (algorithm->name() == name) return algorithm;
  return nullptr;
}

std::string_view to_text(Protocol p) {
  switch (p) {
    case Protocol::ll:
      return "LL";
    case Protocol::ll128:
      return "LL128";
    case Protocol::simple:
      return "Simple";
  }
  return "Simple";
}

std::optional<Protocol> parse_protocol(std::string_view text) {
  const std::string word = to_lower(trim(text));
  if (word == "ll") return Protocol::ll;
  if (word == "ll128") return Protocol::ll128;
  if (word == "simple") return Protocol::simple;
  return std::nullopt;
}

}  // namespace weft::collective
