// XML read with pugixml into a tree whose elements know their line and column.
// A DOCTYPE line is passed over (hwloc
// writes one) unless it declares something; entities beyond the five predefined ones are refused;
// nesting over 256 is an error.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/errors.h"

namespace weft {

struct XmlElement {
  std::string name;
  std::vector<std::pair<std::string, std::string>> attributes;  // in order written
  std::vector<XmlElement> children;
  std::string text;  // all text directly inside, children left out
  SourcePosition where;

  [[nodiscard]] const std::string* attribute(std::string_view key) const;  // nullptr when absent
};

// The root element. Throws InputError with line and column on bad syntax.
XmlElement parse_xml(std::string_view text, const std::string& file);

}  // namespace weft
