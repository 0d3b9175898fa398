// Reads the YAML of the catalogue into a Catalogue. Two rounds, because any file may name what
// another defines: first sources, links and media, then the parts; at the end PCI ids. Every figure
// (a fact with a value) must be covered by the part's `sources`; a source that covers nothing is a
// fault too.
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
  class Record;

  void parse(const CatalogueText& file);
  void for_each(const std::vector<YamlNode>& documents, std::string_view section,
                void (CatalogueReader::*read_one)(const YamlNode&));
  void read_sources(const YamlNode& document);
  void read_medium(const YamlNode& node);
  void read_link(const YamlNode& node);
  void read_gpu(const YamlNode& node);
  void read_cpu(const YamlNode& node);
  void read_nic(const YamlNode& node);
  void read_switch(const YamlNode& node);
  void read_pci_group(const YamlNode& node);
  void read_pci_id(const YamlNode& key, const YamlNode& model);
  void check_socket_links();
  void add(Record& record, CataloguePart part);

  Catalogue& catalogue_;
  Diagnostics diagnostics_;
  std::vector<YamlNode> documents_;
  std::vector<std::pair<std::string, SourcePosition>> socket_links_;  // asked for by CPUs
};

}  // namespace weft::import
