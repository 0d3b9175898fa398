// Any text through the readers of scenario files and of validation maps.
#include <cstddef>
#include <cstdint>
#include <string>

#include "faults.h"
#include "scenario/scenario_file.h"
#include "validate/validate.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  weft::fuzz::survives([&] {
    for (const weft::scenario::WorkItem& item : weft::scenario::parse_scenario(text, "f").work) {
      CHECK(item.where.line > 0 && item.repeat > 0 && item.channels >= 0);
    }
  });
  weft::fuzz::survives([&] { static_cast<void>(weft::validate::parse_map(text, "fuzzed")); });
  return 0;
}
