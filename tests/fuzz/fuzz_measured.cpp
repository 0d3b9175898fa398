// Any text through every reader of measured logs, recognised or not: rows that can be judged, or
// faults with line and column.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

#include "faults.h"
#include "measured/measured.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const weft::measured::Reader* reader : weft::measured::all_readers()) {
    static_cast<void>(reader->recognises(text));
    weft::fuzz::survives([&] { static_cast<void>(reader->read(text, "fuzzed")); });
  }
  weft::fuzz::survives([&] {
    for (const weft::measured::Row& row : weft::measured::read_any(text, "fuzzed").rows) {
      CHECK(row.size.count() >= 0 && std::isfinite(row.time_us) && row.time_us >= 0);
    }
  });
  return 0;
}
