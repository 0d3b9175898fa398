// Any bytes through parse_xml; every element that comes out has a place and a name at that place.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "base/xml.h"

namespace {

void visit(const weft::XmlElement& element, std::string_view text) {
  const std::string_view line = weft::line_of(text, element.where.line);
  CHECK(element.where.column >= 1);
  CHECK(line.find("<" + element.name) != std::string_view::npos);
  for (const auto& [name, value] : element.attributes) CHECK(element.attribute(name) != nullptr);
  for (const weft::XmlElement& child : element.children) visit(child, text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    visit(weft::parse_xml(text, "input.xml"), text);
  } catch (const weft::InputError& error) {
    CHECK(error.diagnostics().at(0).where.line >= 1);
    CHECK(!weft::render(error).empty());
  }
  return 0;
}
