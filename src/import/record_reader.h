// Reads one record of the catalogue: its identity, its figures by the table of
// import/part_fields.h, and for each figure its source, confidence and note. Getters with a type
// serve what engines need and report wrong values in the words of base/yaml.h; finish() reads every
// other field of the kind. A figure without a source is a fault, and so is a source or note for a
// figure that is not stated.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/yaml.h"
#include "import/part_record.h"

namespace weft::import {

// Where figures come from.
struct CatalogueSource {
  std::string title;
  bool read = true;  // false: cited from memory; its figures are estimates
};
using CatalogueSources = std::map<std::string, CatalogueSource, std::less<>>;

// PCIe of a part or of a link: "gen5 x16".
struct PcieWidth {
  int generation = 0;
  int lanes = 0;
  friend bool operator==(PcieWidth, PcieWidth) = default;
};
// "gen5 x16" -> {5, 16}; nullopt when the text is not of that form. Also used for NVLink
// ("gen4 x18"), where the second number counts links.
std::optional<PcieWidth> parse_pcie_width(std::string_view text);

// What a record names that another section must define.
struct PartReference {
  std::string section, name;
  SourcePosition where;
};

class RecordReader {
 public:
  RecordReader(const YamlNode& node, const PartKind& kind, const CatalogueSources& sources,
               Diagnostics& diagnostics);
  RecordReader(const RecordReader&) = delete;
  RecordReader& operator=(const RecordReader&) = delete;

  Fields& fields() { return fields_; }
  const std::string& name() const { return record_.name; }

  // Figures that engines use. Missing: nullopt.
  std::optional<std::int64_t> integer(std::string_view key, std::int64_t max);
  std::optional<BitRate> rate(std::string_view key);
  BitRate required_rate(std::string_view key);
  std::optional<Bytes> bytes(std::string_view key);
  std::optional<Duration> time(std::string_view key);
  std::optional<bool> flag(std::string_view key);
  std::optional<std::size_t> choice(std::string_view key, const std::vector<std::string>& allowed);
  PcieWidth width(std::string_view key, int max_second);
  std::vector<std::string> words(std::string_view key);
  PortChoices ports(std::string_view key);
  std::string reference(std::string_view key);  // "" when missing

  // Reads the rest of the kind's fields, sources, notes and aliases, and reports unknown keys.
  PartRecord finish();
  [[nodiscard]] const std::vector<PartReference>& references() const { return references_; }

 private:
  [[nodiscard]] const YamlNode* value_of(std::string_view key) const;
  bool note(std::string_view key);  // takes the figure down; false when absent or taken before
  void read_field(const PartField& field);
  void read_quantity(const PartField& field);
  void read_choice(const PartField& field);
  void read_identity(const PartField& field);
  void assign_sources(const YamlNode& sources);
  void assign_source(const YamlNode& key, const YamlNode& value, const YamlNode& sources);
  void check_source(const YamlNode& value, std::string_view source, std::string_view confidence);
  void assign_notes(const YamlNode& notes);

  const YamlNode& node_;
  const PartKind& kind_;
  const CatalogueSources& sources_;
  Diagnostics& diagnostics_;
  Fields fields_;
  PartRecord record_;
  std::vector<PartReference> references_;
};

// Makers of parts: those of fabric::Vendor first, in its order.
const std::vector<std::string>& vendor_names();

}  // namespace weft::import
