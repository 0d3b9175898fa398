// Reads the YAML of the catalogue into a Catalogue: overlays are laid over what they change
// (import/catalogue_overlay.h), then sources, then every record by the table of
// import/part_fields.h. From the records of six sections come the parts and links that engines use.
// At the end what records name in one another, capacities (import/catalogue_checks.h) and PCI ids.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/yaml.h"
#include "import/catalogue.h"

namespace weft::import {

class CatalogueReader {
 public:
  explicit CatalogueReader(Catalogue& catalogue) : catalogue_(catalogue) {}

  void read(const std::vector<CatalogueText>& files);  // throws InputError with every fault

 private:
  void parse(const CatalogueText& file);
  void read_sources(const YamlNode& document);
  void read_source(const YamlNode& id, const YamlNode& value);
  void read_section(const PartKind& kind);
  void read_record(const YamlNode& node, const PartKind& kind);
  // The records that engines use, by section (catalogue_parts.cpp). Each takes its figures and then
  // calls add(), which finishes the record.
  void read_medium(RecordReader& record);
  void read_link(RecordReader& record);
  void read_gpu(RecordReader& record);
  void read_cpu(RecordReader& record);
  void read_nic(RecordReader& record);
  void read_switch(RecordReader& record);
  PartRecord* add(RecordReader& record);  // nullptr when the name is taken
  void add_part(RecordReader& record, CataloguePart part);
  void complete_switches();
  void check_references();
  void read_pci_groups();
  void read_pci_group(const YamlNode& node);
  bool read_pci_id(const YamlNode& key, const YamlNode& model);

  Catalogue& catalogue_;
  Diagnostics diagnostics_;
  std::vector<YamlNode> documents_;
  std::vector<PartReference> references_;
};

}  // namespace weft::import
