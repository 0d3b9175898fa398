// XmlFields: a view of one XML element that collects what is wrong with its attributes and goes on,
// as Fields does for YAML. Dumps gain attributes with every release, so an unknown one is a fault
// only when it looks like a slip of a known one that is missing.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/errors.h"
#include "base/xml.h"
#include "import/pci_text.h"

namespace weft::import {

class XmlFields {
 public:
  XmlFields(const XmlElement& element, Diagnostics& diagnostics)
      : element_(&element), diagnostics_(&diagnostics) {}

  [[nodiscard]] const SourcePosition& where() const { return element_->where; }
  [[nodiscard]] const std::string* text(std::string_view key) const {
    return element_->attribute(key);
  }
  void complain(std::string what, std::string hint = {});

  // Reports when absent; the text as written otherwise.
  std::string required(std::string_view key, std::string_view hint);
  // Decimal whole number within [min, max]; nullopt when absent or (reported) wrong.
  std::optional<std::int64_t> integer(std::string_view key, std::int64_t min, std::int64_t max);
  std::optional<std::int64_t> required_integer(std::string_view key, std::int64_t min,
                                               std::int64_t max);
  std::optional<std::uint32_t> hex(std::string_view key, std::uint32_t max);
  std::optional<PciAddress> address(std::string_view key);  // required
  // `link_speed` and `link_width`; 0 where absent or not known.
  PciSpeed pci_speed();
  // A CPU mask as a list; nullopt when absent or (reported) malformed.
  std::optional<std::string> cpu_list(std::string_view key);
  // Reports attributes that look like a slip of one of `known`.
  void check_names(const std::vector<std::string>& known);

 private:
  const XmlElement* element_;
  Diagnostics* diagnostics_;
};

// Name of the root element of `text` as far as it can be told without parsing; "" when it is no
// XML.
std::string_view xml_root_name(std::string_view text);

}  // namespace weft::import
