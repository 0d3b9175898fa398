#include "import/catalogue_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "import/catalogue_checks.h"
#include "import/catalogue_overlay.h"

namespace weft::import {
namespace {

std::string nearest(std::string_view word, const std::vector<std::string>& known) {
  return known.empty() ? "the catalogue defines none" : suggest(word, known);
}

}  // namespace

void CatalogueReader::parse(const CatalogueText& file) {
  try {
    documents_.push_back(parse_yaml(file.text, file.file));
  } catch (const InputError& error) {
    for (const Diagnostic& d : error.diagnostics()) diagnostics_.add(d.where, d.what, d.hint);
    return;
  }
  Fields top(documents_.back(), "catalogue", diagnostics_);
  if (top.required_string("weft") != "catalogue/1") {
    top.complain("weft", "this is not a catalogue file", "its first line is 'weft: catalogue/1'");
  }
  if (const YamlNode* sources = top.optional_node("sources");
      sources != nullptr && sources->kind != YamlNode::Kind::mapping) {
    top.complain("sources", "sources is not a mapping", "write 'ID: TITLE' lines");
  }
  for (const PartKind& kind : part_kinds()) (void)top.optional_list(kind.section);
  (void)top.optional_list("pci_ids");
  top.finish();
  if (file.overlay && documents_.back().kind == YamlNode::Kind::mapping)
    lay_over(documents_, diagnostics_);
}

void CatalogueReader::read(const std::vector<CatalogueText>& files) {
  documents_.reserve(files.size());
  for (const CatalogueText& file : files) parse(file);
  for (const YamlNode& document : documents_) read_sources(document);
  for (const PartKind& kind : part_kinds()) read_section(kind);
  complete_switches();
  check_references();
  for (const PartRecord& record : catalogue_.records_) check_capacity(record, diagnostics_);
  for (const PartRecord& record : catalogue_.records_) check_sums(record, diagnostics_);
  read_pci_groups();
  diagnostics_.throw_if_any();
  for (const PartRecord& record : catalogue_.records_) {
    auto& all = catalogue_.figures_;
    all.insert(all.end(), record.figures.begin(), record.figures.end());
  }
}

void CatalogueReader::read_sources(const YamlNode& document) {
  if (document.kind != YamlNode::Kind::mapping) return;
  const YamlNode* sources = document.find("sources");
  if (sources == nullptr) return;
  for (const auto& [id, value] : sources->entries) read_source(id, value);
}

// "A title", or {title, url, read, via}.
void CatalogueReader::read_source(const YamlNode& id, const YamlNode& value) {
  CatalogueSource source{value.text, true};
  if (value.kind == YamlNode::Kind::mapping) {
    Fields fields(value, "source", diagnostics_);
    source.title = fields.required_string("title");
    source.read = fields.optional_bool("read").value_or(true);
    if (const auto via = fields.optional_string("via")) source.title += "; read in " + *via;
    if (const auto url = fields.optional_string("url")) source.title += ", " + *url;
    fields.finish();
  }
  if (catalogue_.sources_.try_emplace(id.text, source).second) return;
  diagnostics_.add(id.where, fmt::format("source '{}' is defined twice", id.text),
                   "give one of them another id");
}

void CatalogueReader::read_section(const PartKind& kind) {
  for (const YamlNode& document : documents_) {
    if (document.kind != YamlNode::Kind::mapping) continue;
    const YamlNode* list = document.find(kind.section);
    if (list == nullptr) continue;
    for (const YamlNode& item : list->items) read_record(item, kind);
  }
}

void CatalogueReader::read_record(const YamlNode& node, const PartKind& kind) {
  RecordReader record(node, kind, catalogue_.sources_, diagnostics_);
  if (kind.section == "media") {
    read_medium(record);
  } else if (kind.section == "links") {
    read_link(record);
  } else if (kind.section == "gpus") {
    read_gpu(record);
  } else if (kind.section == "cpus") {
    read_cpu(record);
  } else if (kind.section == "nics") {
    read_nic(record);
  } else if (kind.section == "switches") {
    read_switch(record);
  } else {
    (void)add(record);
  }
}

PartRecord* CatalogueReader::add(RecordReader& reader) {
  PartRecord record = reader.finish();
  const auto& references = reader.references();
  references_.insert(references_.end(), references.begin(), references.end());
  std::vector<std::string> names = {record.name};
  names.insert(names.end(), record.aliases.begin(), record.aliases.end());
  for (const std::string& name : names) {
    if (catalogue_.record_index_.try_emplace(name, catalogue_.records_.size()).second) continue;
    const std::string_view what = record.kind->name_key == "model" ? "part" : record.kind->singular;
    diagnostics_.add(record.where, fmt::format("{} '{}' is defined twice", what, name),
                     "give one of them another name, or say what you change in an overlay file");
    return nullptr;
  }
  catalogue_.records_.push_back(std::move(record));
  return &catalogue_.records_.back();
}

void CatalogueReader::check_references() {
  for (const auto& [section, name, where] : references_) {
    const PartRecord* found = catalogue_.record(name);
    if (found != nullptr && found->kind->section == section) continue;
    std::vector<std::string> known;
    for (const PartRecord* record : catalogue_.records_of(section)) known.push_back(record->name);
    diagnostics_.add(where, fmt::format("unknown {} '{}'", find_part_kind(section)->singular, name),
                     nearest(name, known));
  }
}

void CatalogueReader::read_pci_groups() {
  for (const YamlNode& document : documents_) {
    if (document.kind != YamlNode::Kind::mapping) continue;
    const YamlNode* list = document.find("pci_ids");
    if (list == nullptr) continue;
    for (const YamlNode& item : list->items) read_pci_group(item);
  }
}

void CatalogueReader::read_pci_group(const YamlNode& node) {
  Fields fields(node, "group of PCI ids", diagnostics_);
  const std::string source = fields.required_string("source");
  const auto confidence = fields.optional_choice("confidence", confidence_words());
  if (!catalogue_.sources_.contains(source)) {
    fields.complain("source", fmt::format("unknown source '{}'", source), "see sources.yaml");
  }
  if (!confidence) fields.complain("confidence", "PCI ids without confidence", "add 'confidence:'");
  const YamlNode* ids = fields.required_node("ids");
  fields.finish();
  if (ids == nullptr) return;
  for (const auto& [key, model] : ids->entries) {
    if (!read_pci_id(key, model)) continue;
    PartFigure figure;
    figure.part = model.text;
    figure.key = "pci_id";
    figure.value = key.text;
    figure.source = source;
    figure.confidence = confidence_words()[confidence.value_or(0)];
    figure.where = key.where;
    catalogue_.records_[catalogue_.record_index_.find(model.text)->second].figures.push_back(
        std::move(figure));
  }
}

bool CatalogueReader::read_pci_id(const YamlNode& key, const YamlNode& model) {
  const auto parts = split(key.text, ':');
  const auto vendor = parts.size() == 2 ? parse_hex(parts[0]) : std::nullopt;
  const auto device = parts.size() == 2 ? parse_hex(parts[1]) : std::nullopt;
  if (!vendor || !device || *vendor > 0xffff || *device > 0xffff) {
    diagnostics_.add(key.where, fmt::format("'{}' is not a PCI id", key.text),
                     "write vendor and device in hexadecimal, \"10de:2330\"");
    return false;
  }
  if (catalogue_.part(model.text) == nullptr) {
    std::vector<std::string> known;
    for (const auto& [name, index] : catalogue_.part_index_) known.push_back(name);
    diagnostics_.add(model.where, fmt::format("unknown part '{}'", model.text),
                     nearest(model.text, known));
    return false;
  }
  const std::pair id(static_cast<std::uint32_t>(*vendor), static_cast<std::uint32_t>(*device));
  if (catalogue_.pci_ids_.try_emplace(id, model.text).second) return true;
  diagnostics_.add(key.where, fmt::format("PCI id {} is given twice", key.text), "remove one");
  return false;
}

}  // namespace weft::import
