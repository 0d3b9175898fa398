#include "import/record_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "base/quantity.h"
#include "base/text.h"
#include "fabric/classes.h"

namespace weft::import {
namespace {

// Words of a list in a field's table, "air|liquid|hybrid".
std::vector<std::string> choices(std::string_view words) {
  std::vector<std::string> out;
  for (const std::string_view word : split(words, '|')) out.emplace_back(word);
  return out;
}

// "80GB" -> {"80", "GB"}; "450..500 W" -> {"450..500", "W"}; a word has no unit.
std::pair<std::string, std::string> split_unit(std::string_view text) {
  const std::size_t digits = text.find_first_not_of("0123456789.");
  if (digits == std::string_view::npos || digits == 0) return {std::string(text), ""};
  return {std::string(text.substr(0, digits)), std::string(trim(text.substr(digits)))};
}

std::string example_of(const PartField& field) {
  if (field.unit.empty()) return "write a number, or a range such as 2..3";
  return fmt::format("write for example '12{0}' or '10..12{0}'; units: {1}", field.unit,
                     unit_names(find_unit(field.unit)->dimension));
}

}  // namespace

const std::vector<std::string>& vendor_names() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names;
    for (int i = 0; i <= static_cast<int>(fabric::Vendor::google); ++i) {
      names.emplace_back(to_text(static_cast<fabric::Vendor>(i)));
    }
    for (const char* other : {"hpe", "h3c", "zte", "ruijie", "tencent", "bytedance", "alibaba",
                              "meta", "arista", "drivenets", "cornelis", "supermicro", "microchip"})
      names.emplace_back(other);
    return names;
  }();
  return kNames;
}

std::optional<PcieWidth> parse_pcie_width(std::string_view text) {
  const auto words = split_whitespace(text);
  if (words.size() != 2 || !starts_with(words[0], "gen") || !starts_with(words[1], "x")) return {};
  const auto generation = parse_int(words[0].substr(3));
  const auto lanes = parse_int(words[1].substr(1));
  if (!generation || !lanes || *generation < 1 || *generation > 7) return {};
  if (*lanes < 1 || *lanes > 1024) return {};
  return PcieWidth{static_cast<int>(*generation), static_cast<int>(*lanes)};
}

RecordReader::RecordReader(const YamlNode& node, const PartKind& kind,
                           const CatalogueSources& sources, Diagnostics& diagnostics)
    : node_(node),
      kind_(kind),
      sources_(sources),
      diagnostics_(diagnostics),
      fields_(node, std::string(kind.singular), diagnostics) {
  record_.kind = &kind;
  record_.name = fields_.required_string(kind.name_key);
  record_.where = fields_.where_of(kind.name_key);
}

const YamlNode* RecordReader::value_of(std::string_view key) const {
  return node_.kind == YamlNode::Kind::mapping ? node_.find(key) : nullptr;
}

bool RecordReader::note(std::string_view key) {
  const PartField* field = kind_.field(key);
  CHECK(field != nullptr);
  const YamlNode* value = value_of(key);
  if (value == nullptr || record_.figure(key) != nullptr) return false;
  std::string text = value->text;
  for (const YamlNode& item : value->items) text += (text.empty() ? "" : ", ") + item.text;
  for (const auto& [k, v] : value->entries) {
    text += fmt::format("{}{} x {}", text.empty() ? "" : ", ", v.text, k.text);
  }
  PartFigure figure;
  figure.part = record_.name;
  figure.key = key;
  figure.value = text;
  figure.where = value->where;
  const bool numeric = field->type == FieldType::quantity || field->type == FieldType::value;
  if (numeric) std::tie(figure.value, figure.unit) = split_unit(text);
  const auto amount = numeric ? parse_quantity(text) : std::nullopt;
  const Unit* unit = field->type == FieldType::value && amount ? amount->unit : nullptr;
  if (field->type == FieldType::quantity) unit = find_unit(field->unit);
  if (amount && amount->unit->dimension == unit->dimension) {
    const Quantity kept = amount->in(*unit);
    figure.amount = PartFigure::Amount{kept.low, kept.high};
  }
  record_.figures.push_back(std::move(figure));
  return true;
}

std::optional<std::int64_t> RecordReader::integer(std::string_view key, std::int64_t max) {
  note(key);
  return fields_.optional_int(key, 0, max);
}

std::optional<BitRate> RecordReader::rate(std::string_view key) {
  note(key);
  return fields_.optional_rate(key);
}

BitRate RecordReader::required_rate(std::string_view key) {
  note(key);
  return fields_.required_rate(key);
}

std::optional<Bytes> RecordReader::bytes(std::string_view key) {
  note(key);
  return fields_.optional_bytes(key);
}

std::optional<Duration> RecordReader::time(std::string_view key) {
  note(key);
  return fields_.optional_duration(key);
}

std::optional<bool> RecordReader::flag(std::string_view key) {
  note(key);
  return fields_.optional_bool(key);
}

std::optional<std::size_t> RecordReader::choice(std::string_view key,
                                                const std::vector<std::string>& allowed) {
  note(key);
  return fields_.optional_choice(key, allowed);
}

PcieWidth RecordReader::width(std::string_view key, int max_second) {
  note(key);
  const auto text = fields_.optional_string(key);
  if (!text) return {};
  const auto width = parse_pcie_width(*text);
  if (width && width->lanes <= max_second) return *width;
  fields_.complain(key, fmt::format("{} '{}' is not a generation and a width", key, *text),
                   "write for example 'gen5 x16'");
  return {};
}

std::vector<std::string> RecordReader::words(std::string_view key) {
  note(key);
  std::vector<std::string> out;
  for (const YamlNode& item : fields_.optional_list(key)) {
    if (item.kind == YamlNode::Kind::scalar) {
      out.push_back(item.text);
      continue;
    }
    diagnostics_.add(item.where, fmt::format("{} is not a list of words", key),
                     fmt::format("write '{}: [ONE, TWO]'", key));
  }
  return out;
}

PortChoices RecordReader::ports(std::string_view key) {
  if (const PortChoices* known = record_.port_choices(key)) return *known;
  note(key);
  PortChoices out;
  const YamlNode* node = fields_.optional_node(key);
  if (node == nullptr) return out;
  if (node->kind != YamlNode::Kind::mapping) {
    fields_.complain(key, fmt::format("{} is not a mapping of port rates", key),
                     fmt::format("write for example '{}: {{400Gbps: 64}}'", key));
    return out;
  }
  // Bounds so that no sum of them overflows.
  if (node->entries.size() > 16) {
    fields_.complain(key, fmt::format("{} states more than 16 rates", key),
                     "name those it is sold with");
    return out;
  }
  for (const auto& [rate, count] : node->entries) {
    const auto r = parse_bit_rate(rate.text);
    const auto n = parse_int(count.text);
    if (r && r->bps() > 0 && r->bps() <= 10'000'000'000'000 && n && *n > 0 && *n <= 4096) {
      out.emplace_back(*r, static_cast<int>(*n));
      continue;
    }
    diagnostics_.add(
        rate.where,
        fmt::format("'{}: {}' is not a port rate and a number of ports", rate.text, count.text),
        "write for example '400Gbps: 64'");
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  record_.ports.emplace_back(std::string(key), out);
  return out;
}

std::string RecordReader::reference(std::string_view key) {
  const PartField* field = kind_.field(key);
  CHECK(field != nullptr && field->type == FieldType::reference);
  if (!field->identity) note(key);
  const auto name = fields_.optional_string(key);
  if (!name) return {};
  references_.push_back({std::string(field->words), *name, fields_.where_of(key)});
  return *name;
}

void RecordReader::read_quantity(const PartField& field) {
  const auto text = fields_.optional_string(field.key);
  if (!text) return;
  const auto quantity = parse_quantity(*text);
  if (field.type == FieldType::value) {
    if (quantity) return;
    fields_.complain(field.key,
                     fmt::format("{} '{}' is not a number with a unit", field.key, *text),
                     "write for example '0.057%', '450..500 W' or '17'");
    return;
  }
  if (quantity && quantity->unit->dimension == find_unit(field.unit)->dimension) return;
  fields_.complain(field.key,
                   field.unit.empty()
                       ? fmt::format("{} '{}' is not a plain number", field.key, *text)
                       : fmt::format("{} '{}' is not a quantity in {}", field.key, *text,
                                     unit_names(find_unit(field.unit)->dimension)),
                   example_of(field));
}

// Every field of the table once; those with a typed getter were noted before and are skipped.
void RecordReader::read_field(const PartField& field) {
  if (field.identity) return read_identity(field);
  if (field.type == FieldType::reference) {
    if (record_.figure(field.key) == nullptr) (void)reference(field.key);
    return;
  }
  if (field.type == FieldType::ports) {
    (void)ports(field.key);
    return;
  }
  if (!note(field.key)) return;
  switch (field.type) {
    case FieldType::quantity:
    case FieldType::value:
      return read_quantity(field);
    case FieldType::flag:
      return (void)fields_.optional_bool(field.key);
    case FieldType::choice:
      return (void)fields_.optional_choice(field.key, choices(field.words));
    case FieldType::words:
      return (void)words(field.key);
    case FieldType::width:
      return (void)width(field.key, 1024);
    default:
      return (void)fields_.optional_string(field.key);
  }
}

void RecordReader::read_identity(const PartField& field) {
  if (value_of(field.key) == nullptr) return;
  if (field.type == FieldType::choice) {
    (void)fields_.optional_choice(field.key, choices(field.words));
  } else if (field.type == FieldType::reference) {
    (void)reference(field.key);
  }
  if (const auto text = fields_.optional_string(field.key))
    record_.identity.emplace_back(std::string(field.key), *text);
}

PartRecord RecordReader::finish() {
  record_.title = kind_.name_key == "model" ? fields_.required_string("name")
                                            : fields_.optional_string("title").value_or("");
  if (const auto vendor = fields_.optional_choice("vendor", vendor_names()))
    record_.vendor = vendor_names()[*vendor];
  for (const YamlNode& alias : fields_.optional_list("aliases"))
    record_.aliases.push_back(alias.text);
  for (const PartField& field : kind_.fields) read_field(field);
  // Typed getters noted in the order of the code; readers expect that of the table.
  std::stable_sort(record_.figures.begin(), record_.figures.end(),
                   [this](const PartFigure& a, const PartFigure& b) {
                     return kind_.field(a.key) < kind_.field(b.key);
                   });
  const YamlNode* sources =
      record_.figures.empty() ? fields_.optional_node("sources") : fields_.required_node("sources");
  if (sources != nullptr) assign_sources(*sources);
  if (const YamlNode* notes = fields_.optional_node("notes")) assign_notes(*notes);
  fields_.finish();
  return std::move(record_);
}

void RecordReader::assign_sources(const YamlNode& sources) {
  if (sources.kind != YamlNode::Kind::mapping) {
    diagnostics_.add(sources.where, "sources is not a mapping",
                     "write {all: SOURCE CONFIDENCE} or {FIELD: SOURCE CONFIDENCE}");
    return;
  }
  for (const auto& [key, value] : sources.entries) assign_source(key, value, sources);
  for (const PartFigure& figure : record_.figures) {
    if (!figure.source.empty()) continue;
    diagnostics_.add(figure.where,
                     fmt::format("{} of '{}' has no source", figure.key, record_.name),
                     fmt::format("add '{}: SOURCE CONFIDENCE' to its sources", figure.key));
  }
}

void RecordReader::assign_source(const YamlNode& key, const YamlNode& value,
                                 const YamlNode& sources) {
  const auto text = split_whitespace(value.text);
  const bool derived = text.size() == 3 && text[2] == "derived";
  if (text.size() != 2 && !derived) {
    diagnostics_.add(value.where, "a source is two words, its id and a confidence",
                     "write for example 'mle datasheet', or 'mle datasheet derived' when the "
                     "figure was computed from it");
    return;
  }
  check_source(value, text[0], text[1]);
  bool used = false;
  for (PartFigure& figure : record_.figures) {
    const bool covers =
        key.text == "all" ? sources.find(figure.key) == nullptr : key.text == figure.key;
    if (!covers) continue;
    figure.source = text[0];
    figure.confidence = text[1];
    figure.derived = derived;
    used = true;
  }
  if (used) return;
  diagnostics_.add(
      key.where, fmt::format("source for '{}', which '{}' does not state", key.text, record_.name),
      "remove it, or state the figure");
}

void RecordReader::check_source(const YamlNode& value, std::string_view source,
                                std::string_view confidence) {
  const auto found = sources_.find(source);
  if (found == sources_.end()) {
    std::vector<std::string> known;
    for (const auto& [id, about] : sources_) known.push_back(id);
    diagnostics_.add(value.where, fmt::format("unknown source '{}'", source),
                     known.empty() ? "the catalogue defines none" : suggest(source, known));
  } else if (!found->second.read && confidence != "estimate") {
    diagnostics_.add(value.where,
                     fmt::format("'{}' was not read, so its figures are estimates", source),
                     fmt::format("write '{} estimate'", source));
  }
  const auto& allowed = confidence_words();
  if (std::find(allowed.begin(), allowed.end(), confidence) == allowed.end()) {
    diagnostics_.add(value.where, fmt::format("unknown confidence '{}'", confidence),
                     suggest(confidence, allowed));
  }
}

void RecordReader::assign_notes(const YamlNode& notes) {
  if (notes.kind != YamlNode::Kind::mapping) {
    diagnostics_.add(notes.where, "notes is not a mapping", "write {FIELD: TEXT}");
    return;
  }
  for (const auto& [key, value] : notes.entries) {
    const auto at = std::find_if(record_.figures.begin(), record_.figures.end(),
                                 [&k = key](const PartFigure& f) { return f.key == k.text; });
    if (at != record_.figures.end()) {
      at->note = value.text;
      continue;
    }
    diagnostics_.add(key.where,
                     fmt::format("note on '{}', which '{}' does not state", key.text, record_.name),
                     "remove it, or state the figure");
  }
}

}  // namespace weft::import
