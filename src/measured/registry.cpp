// The table of readers, from list.def: a row without a file does not link.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

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

namespace {

bool beyond(double value) {
  return !std::isfinite(value) || value < 0;
}

// No run takes negative time or moves negative bytes, whatever the format.
void check_rows(const Table& table, std::string_view text, const std::string& file) {
  Diagnostics diagnostics;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const Row& row = table.rows[i];
    if (row.size.count() >= 0 && !beyond(row.time_us) &&
        !beyond(row.in_place_time_us.value_or(0)) && !beyond(row.bandwidth_gb_per_s.value_or(0)))
      continue;
    diagnostics.add({file, std::max(row.line, 1), 1},
                    fmt::format("row {} of the table has a size, time or bandwidth that nothing "
                                "can have",
                                i + 1),
                    "remove the row, or mend it");
  }
  diagnostics.throw_if_any(text);
}

}  // namespace

Table read_any(std::string_view text, const std::string& file) {
  std::vector<std::string> names;
  for (const Reader* reader : all_readers()) {
    if (reader->recognises(text)) {
      Table table = reader->read(text, file);
      check_rows(table, text, file);
      return table;
    }
    names.emplace_back(reader->name());
  }
  throw InputError({file, 1, 1}, "no table of measurements is in this file",
                   "formats read: " + join(names, ", "));
}

}  // namespace weft::measured
