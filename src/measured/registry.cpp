// The table of readers, from list.def: a row without a file does not link.
#include <array>

#include "base/text.h"
#include "measured/measured.h"

namespace weft::measured {

#define X(name) const Reader& name##_reader();
#include "measured/list.def"
#undef X

std::span<const Reader* const> all_readers() {
  static const std::array kReaders = {
#define X(name) &name##_reader(),
#include "measured/list.def"
#undef X
  };
  return kReaders;
}

Table read_any(std::string_view text, const std::string& file) {
  std::vector<std::string> names;
  for (const Reader* reader : all_readers()) {
    if (reader->recognises(text)) return reader->read(text, file);
    names.emplace_back(reader->name());
  }
  throw InputError({file, 1, 1}, "no table of measurements is in this file",
                   "formats read: " + join(names, ", "));
}

}  // namespace weft::measured
