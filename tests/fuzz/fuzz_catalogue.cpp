// Any text through Catalogue, alone and as an overlay of a small one: every figure with a source,
// or faults with line and column.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "import/catalogue.h"

namespace {

constexpr std::string_view kBase = R"(weft: catalogue/1
sources: {base: "A source"}
switches:
  - {model: s, aliases: [t], name: "S", kind: network, ports: {400Gbps: 64}, power: 700W,
     sources: {all: base datasheet}, notes: {power: "passive"}}
)";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const weft::import::CatalogueText base{"base", std::string(kBase)};
  // The last byte decides; both ways read the whole text.
  const bool overlay = size > 0 && data[size - 1] % 2 == 1;
  std::vector<weft::import::CatalogueText> files = {{"fuzzed", text, overlay}};
  if (overlay) files.insert(files.begin(), base);
  try {
    const weft::import::Catalogue catalogue(files);
    for (const auto& figure : catalogue.figures()) {
      CHECK(!figure.source.empty() && !figure.confidence.empty());
    }
    for (const auto& record : catalogue.records()) {
      CHECK(catalogue.record(record.name) == &record);
      CHECK(record.capacity().bps() >= 0);
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
