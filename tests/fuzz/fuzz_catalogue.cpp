// Any text through Catalogue: every figure with a source, or faults with line and column.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "import/catalogue.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    const weft::import::Catalogue catalogue({{"fuzzed", text}});
    for (const auto& figure : catalogue.figures()) {
      CHECK(!figure.source.empty() && !figure.confidence.empty());
    }
    for (const std::string& name : catalogue.names(weft::fabric::DeviceKind::cpu)) {
      CHECK(catalogue.socket_link_of(name).raw_rate.bps() > 0);
    }
  } catch (const weft::InputError& error) {
    CHECK(!error.diagnostics().empty());
    for (const weft::Diagnostic& fault : error.diagnostics()) {
      CHECK(fault.where.line > 0 && fault.where.column > 0 && !fault.what.empty());
    }
  }
  return 0;
}
