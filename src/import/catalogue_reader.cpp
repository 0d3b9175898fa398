#include "import/catalogue_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>

#include "base/text.h"

namespace weft::import {

namespace {

using fabric::DeviceKind;
using fabric::LinkKind;
using fabric::Vendor;

const std::vector<std::string>& confidences() {
  static const std::vector<std::string> kWords = {"datasheet", "measured", "standard", "estimate"};
  return kWords;
}

template <class Enum>
std::vector<std::string> words(Enum last) {
  std::vector<std::string> all;
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    all.emplace_back(to_text(static_cast<Enum>(i)));
  }
  return all;
}

std::string nearest(std::string_view word, const std::vector<std::string>& known) {
  return known.empty() ? "the catalogue defines none" : suggest(word, known);
}

// "80GB" -> {"80", "GB"}; a bare number or a word gets `unit`.
std::pair<std::string, std::string> split_unit(std::string_view text, std::string_view unit) {
  const std::size_t digits = text.find_first_not_of("0123456789.");
  if (digits == std::string_view::npos || digits == 0)
    return {std::string(text), std::string(unit)};
  const std::string_view number = text.substr(0, digits);
  return {std::string(number), std::string(trim(text.substr(digits)))};
}

}  // namespace

// One part being read: its fields, and the figures it states so far, each waiting for a source.
class CatalogueReader::Record {
 public:
  Record(const YamlNode& node, std::string what, std::string_view name_key, CatalogueReader& reader)
      : node_(node), fields_(node, std::move(what), reader.diagnostics_), reader_(reader) {
    name_ = fields_.required_string(name_key);
  }

  Fields& fields() { return fields_; }
  const std::string& name() const { return name_; }

  std::optional<std::int64_t> integer(std::string_view key, std::int64_t max,
                                      std::string_view unit = "") {
    note(key, unit);
    return fields_.optional_int(key, 0, max);
  }
  void number(std::string_view key, std::string_view unit) {
    note(key, unit);
    (void)fields_.optional_double(key, 0, 1e9);
  }
  std::optional<BitRate> rate(std::string_view key) {
    return note(key), fields_.optional_rate(key);
  }
  std::optional<Bytes> bytes(std::string_view key) {
    return note(key), fields_.optional_bytes(key);
  }
  std::optional<Duration> time(std::string_view key) {
    return note(key), fields_.optional_duration(key);
  }
  std::optional<bool> flag(std::string_view key) { return note(key), fields_.optional_bool(key); }
  std::optional<std::size_t> choice(std::string_view key, const std::vector<std::string>& allowed) {
    return note(key), fields_.optional_choice(key, allowed);
  }

  // "gen5 x16"
  PcieWidth width(std::string_view key, int max_second) {
    note(key);
    const auto text = fields_.optional_string(key);
    if (!text) return {};
    const auto width = parse_pcie_width(*text);
    if (width && width->lanes <= max_second) return *width;
    fields_.complain(key, fmt::format("{} '{}' is not a generation and a width", key, *text),
                     "write for example 'gen5 x16'");
    return {};
  }

  // Takes down a figure whose value is the node at `key`; list and mapping values become one text.
  void note(std::string_view key, std::string_view unit = "") {
    const YamlNode* value = node_.kind == YamlNode::Kind::mapping ? node_.find(key) : nullptr;
    if (value == nullptr) return;
    std::string text = value->text;
    for (const YamlNode& item : value->items) text += (text.empty() ? "" : ", ") + item.text;
    for (const auto& [k, v] : value->entries) {
      text += fmt::format("{}{} x {}", text.empty() ? "" : ", ", v.text, k.text);
    }
    const auto [number, own_unit] = split_unit(text, unit);
    figures_.push_back({name_, std::string(key), number, own_unit, {}, {}});
  }

  // Gives every figure its source and hands them to the catalogue.
  void finish() {
    if (const YamlNode* sources = fields_.required_node("sources")) assign_sources(*sources);
    fields_.finish();
    auto& all = reader_.catalogue_.figures_;
    all.insert(all.end(), figures_.begin(), figures_.end());
  }

 private:
  void assign_sources(const YamlNode& sources) {
    if (sources.kind != YamlNode::Kind::mapping) {
      reader_.diagnostics_.add(sources.where, "sources is not a mapping",
                               "write {all: SOURCE CONFIDENCE} or {FIELD: SOURCE CONFIDENCE}");
      return;
    }
    for (const auto& [key, value] : sources.entries) assign_one(key, value);
    for (const Catalogue::Figure& figure : figures_) {
      if (!figure.source.empty()) continue;
      fields_.complain(figure.key, fmt::format("{} of '{}' has no source", figure.key, name_),
                       fmt::format("add '{}: SOURCE CONFIDENCE' to its sources", figure.key));
    }
  }

  void assign_one(const YamlNode& key, const YamlNode& value) {
    const auto text = split_whitespace(value.text);
    if (text.size() != 2) {
      reader_.diagnostics_.add(value.where, "a source is two words, its id and a confidence",
                               "write for example 'mle datasheet'");
      return;
    }
    check_words(value, text[0], text[1]);
    bool used = false;
    for (Catalogue::Figure& figure : figures_) {
      const bool covers = key.text == "all" ? !covered_by_name(figure.key) : key.text == figure.key;
      if (!covers) continue;
      figure.source = text[0];
      figure.confidence = text[1];
      used = true;
    }
    if (used) return;
    reader_.diagnostics_.add(
        key.where, fmt::format("source for '{}', which '{}' does not state", key.text, name_),
        "remove it, or state the figure");
  }

  bool covered_by_name(std::string_view key) const {
    return node_.find("sources")->find(key) != nullptr;
  }

  void check_words(const YamlNode& value, std::string_view source, std::string_view confidence) {
    if (!reader_.catalogue_.sources_.contains(source)) {
      std::vector<std::string> known;
      for (const auto& [id, title] : reader_.catalogue_.sources_) known.push_back(id);
      reader_.diagnostics_.add(value.where, fmt::format("unknown source '{}'", source),
                               nearest(source, known));
    }
    const auto& allowed = confidences();
    if (std::find(allowed.begin(), allowed.end(), confidence) == allowed.end()) {
      reader_.diagnostics_.add(value.where, fmt::format("unknown confidence '{}'", confidence),
                               suggest(confidence, allowed));
    }
  }

  const YamlNode& node_;
  Fields fields_;
  CatalogueReader& reader_;
  std::string name_;
  std::vector<Catalogue::Figure> figures_;
};

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
  for (const char* section : {"media", "links", "gpus", "cpus", "nics", "switches", "pci_ids"}) {
    (void)top.optional_list(section);
  }
  top.finish();
}

void CatalogueReader::for_each(const std::vector<YamlNode>& documents, std::string_view section,
                               void (CatalogueReader::*read_one)(const YamlNode&)) {
  for (const YamlNode& document : documents) {
    if (document.kind != YamlNode::Kind::mapping) continue;
    const YamlNode* list = document.find(section);
    if (list == nullptr) continue;
    for (const YamlNode& item : list->items) (this->*read_one)(item);
  }
}

void CatalogueReader::read(const std::vector<CatalogueText>& files) {
  documents_.reserve(files.size());
  for (const CatalogueText& file : files) parse(file);
  for (const YamlNode& document : documents_) read_sources(document);
  for_each(documents_, "media", &CatalogueReader::read_medium);
  for_each(documents_, "links", &CatalogueReader::read_link);
  for_each(documents_, "gpus", &CatalogueReader::read_gpu);
  for_each(documents_, "cpus", &CatalogueReader::read_cpu);
  for_each(documents_, "nics", &CatalogueReader::read_nic);
  for_each(documents_, "switches", &CatalogueReader::read_switch);
  check_socket_links();
  for_each(documents_, "pci_ids", &CatalogueReader::read_pci_group);
  diagnostics_.throw_if_any();
}

void CatalogueReader::read_sources(const YamlNode& document) {
  if (document.kind != YamlNode::Kind::mapping) return;
  const YamlNode* sources = document.find("sources");
  if (sources == nullptr) return;
  for (const auto& [id, title] : sources->entries) {
    if (catalogue_.sources_.try_emplace(id.text, title.text).second) continue;
    diagnostics_.add(id.where, fmt::format("source '{}' is defined twice", id.text),
                     "give one of them another id");
  }
}

void CatalogueReader::read_medium(const YamlNode& node) {
  Record record(node, "medium", "medium", *this);
  const Duration delay = record.time("delay_per_metre").value_or(Duration());
  record.finish();
  catalogue_.media_.emplace_back(record.name(), delay);
}

void CatalogueReader::read_link(const YamlNode& node) {
  Record record(node, "link", "name", *this);
  fabric::LinkClass link;
  link.name = record.name();
  const auto kind = record.fields().optional_choice("kind", words<LinkKind>(LinkKind::wide_area));
  if (!kind) record.fields().complain("kind", "link has no kind", "add 'kind: ethernet'");
  link.kind = static_cast<LinkKind>(kind.value_or(0));
  record.note("rate");
  link.raw_rate = record.fields().required_rate("rate");
  link.latency = record.time("latency").value_or(Duration());
  link.generation = static_cast<int>(record.integer("generation", 9).value_or(0));
  if (const auto control = record.choice("flow_control", {"lossy", "pfc", "credit"})) {
    link.flow_control = static_cast<fabric::FlowControl>(*control);
  }
  if (catalogue_.link(link.name)) {
    record.fields().complain("name", fmt::format("link '{}' is defined twice", link.name),
                             "give one of them another name");
  }
  record.finish();
  catalogue_.links_.emplace_back(link.name, link);
}

// What all parts have in common, and the end of reading one.
void CatalogueReader::add(Record& record, CataloguePart part) {
  part.device.model = record.name();
  part.title = record.fields().required_string("name");
  const auto vendor = record.fields().optional_choice("vendor", words<Vendor>(Vendor::google));
  part.device.vendor = static_cast<Vendor>(vendor.value_or(0));
  record.finish();
  const auto [at, is_new] =
      catalogue_.part_index_.try_emplace(record.name(), catalogue_.parts_.size());
  if (!is_new) {
    record.fields().complain("model", fmt::format("part '{}' is defined twice", record.name()),
                             "give one of them another model name");
    return;
  }
  catalogue_.parts_.push_back(std::move(part));
}

void CatalogueReader::read_gpu(const YamlNode& node) {
  Record record(node, "GPU", "model", *this);
  CataloguePart part;
  part.device.kind = DeviceKind::gpu;
  part.device.compute_capability =
      static_cast<int>(record.integer("compute_capability", 9999).value_or(0));
  part.device.memory = record.bytes("memory").value_or(Bytes());
  (void)record.rate("memory_bandwidth");
  record.number("bf16_tflops", "TFLOPS");
  record.number("power_w", "W");
  part.pcie = record.width("pcie", 16);
  const PcieWidth nvlink = record.width("nvlink", 72);
  part.nvlink = {nvlink.lanes, nvlink.generation};
  part.device.peer_to_peer = record.flag("peer_to_peer").value_or(true);
  part.device.gpu_direct_rdma = record.flag("gpu_direct_rdma").value_or(true);
  part.device.multicast = record.flag("multicast").value_or(false);
  add(record, std::move(part));
}

void CatalogueReader::read_cpu(const YamlNode& node) {
  Record record(node, "CPU", "model", *this);
  CataloguePart part;
  part.device.kind = DeviceKind::cpu;
  part.device.cpu_architecture = record.fields().required_string("architecture");
  part.device.cpu_family = static_cast<int>(record.integer("family", 255).value_or(0));
  part.device.cpu_model = static_cast<int>(record.integer("from_model", 255).value_or(0));
  record.note("memory_bandwidth");
  part.memory_bandwidth = record.fields().required_rate("memory_bandwidth");
  record.note("socket_link");
  part.socket_link = record.fields().required_string("socket_link");
  part.socket_links = static_cast<int>(record.integer("socket_links", 16).value_or(1));
  record.note("peer_rate");
  part.peer_rate = record.fields().required_rate("peer_rate");
  part.device.splits_p2p_tlps = record.flag("splits_p2p_tlps").value_or(false);
  part.root_complex_latency = record.time("root_complex_latency").value_or(Duration());
  socket_links_.emplace_back(part.socket_link, record.fields().where_of("socket_link"));
  add(record, std::move(part));
}

void CatalogueReader::read_nic(const YamlNode& node) {
  Record record(node, "NIC", "model", *this);
  CataloguePart part;
  part.device.kind = DeviceKind::nic;
  record.note("port_rate");
  part.device.port_rate = record.fields().required_rate("port_rate");
  part.pcie = record.width("pcie", 16);
  part.device.gpu_direct_rdma = record.flag("gpu_direct_rdma").value_or(true);
  record.note("speaks");
  for (const YamlNode& item : record.fields().optional_list("speaks")) {
    if (item.text == "ethernet" || item.text == "infiniband") {
      part.speaks.push_back(item.text == "ethernet" ? LinkKind::ethernet : LinkKind::infiniband);
      continue;
    }
    diagnostics_.add(item.where, fmt::format("a NIC cannot speak '{}'", item.text),
                     "one of: ethernet, infiniband");
  }
  if (part.speaks.empty()) {
    record.fields().complain("speaks", "NIC speaks nothing", "add 'speaks: [ethernet]'");
    part.speaks.push_back(LinkKind::ethernet);
  }
  part.device.port_kind = part.speaks.front();
  add(record, std::move(part));
}

void CatalogueReader::read_switch(const YamlNode& node) {
  static constexpr std::array kKinds = {DeviceKind::network_switch, DeviceKind::nvswitch,
                                        DeviceKind::pcie_switch, DeviceKind::ocs};
  Record record(node, "switch", "model", *this);
  CataloguePart part;
  const auto kind = record.fields().optional_choice("kind", {"network", "nvswitch", "pcie", "ocs"});
  part.device.kind = kKinds[kind.value_or(0)];
  part.device.forwarding_latency = record.time("latency").value_or(Duration());
  part.device.buffer = record.bytes("buffer").value_or(Bytes());
  part.device.multicast = record.flag("multicast").value_or(false);
  part.device.reduces = record.flag("reduces").value_or(false);
  part.device.radix = static_cast<int>(record.integer("nvlinks", 1024, "NVLinks").value_or(0));
  record.note("ports");
  const YamlNode* ports = record.fields().optional_node("ports");
  if (ports != nullptr) {
    for (const auto& [rate, count] : ports->entries) {
      const auto r = parse_bit_rate(rate.text);
      const auto n = parse_int(count.text);
      if (r && r->bps() > 0 && n && *n > 0 && *n <= 4096) {
        part.ports.emplace_back(*r, static_cast<int>(*n));
        continue;
      }
      diagnostics_.add(
          rate.where,
          fmt::format("'{}: {}' is not a port rate and a number of ports", rate.text, count.text),
          "write for example '400Gbps: 64'");
    }
  }
  if (!part.ports.empty()) {
    part.device.radix = part.ports.front().second;
    part.device.port_rate = part.ports.front().first;
  }
  add(record, std::move(part));
}

void CatalogueReader::check_socket_links() {
  for (const auto& [name, where] : socket_links_) {
    if (catalogue_.link(name)) continue;
    diagnostics_.add(where, fmt::format("unknown link '{}'", name),
                     nearest(name, catalogue_.link_names()));
  }
}

void CatalogueReader::read_pci_group(const YamlNode& node) {
  Fields fields(node, "group of PCI ids", diagnostics_);
  const std::string source = fields.required_string("source");
  const auto confidence = fields.optional_choice("confidence", confidences());
  if (!catalogue_.sources_.contains(source)) {
    fields.complain("source", fmt::format("unknown source '{}'", source), "see sources.yaml");
  }
  if (!confidence) fields.complain("confidence", "PCI ids without confidence", "add 'confidence:'");
  const YamlNode* ids = fields.required_node("ids");
  fields.finish();
  if (ids == nullptr) return;
  for (const auto& [key, model] : ids->entries) {
    read_pci_id(key, model);
    catalogue_.figures_.push_back(
        {model.text, "pci_id", key.text, "", source, confidences()[confidence.value_or(0)]});
  }
}

void CatalogueReader::read_pci_id(const YamlNode& key, const YamlNode& model) {
  const auto parts = split(key.text, ':');
  const auto vendor = parts.size() == 2 ? parse_hex(parts[0]) : std::nullopt;
  const auto device = parts.size() == 2 ? parse_hex(parts[1]) : std::nullopt;
  if (!vendor || !device || *vendor > 0xffff || *device > 0xffff) {
    diagnostics_.add(key.where, fmt::format("'{}' is not a PCI id", key.text),
                     "write vendor and device in hexadecimal, \"10de:2330\"");
    return;
  }
  if (catalogue_.part(model.text) == nullptr) {
    std::vector<std::string> known;
    for (const auto& [name, index] : catalogue_.part_index_) known.push_back(name);
    diagnostics_.add(model.where, fmt::format("unknown part '{}'", model.text),
                     nearest(model.text, known));
  }
  const std::pair id(static_cast<std::uint32_t>(*vendor), static_cast<std::uint32_t>(*device));
  if (catalogue_.pci_ids_.try_emplace(id, model.text).second) return;
  diagnostics_.add(key.where, fmt::format("PCI id {} is given twice", key.text), "remove one");
}

}  // namespace weft::import
