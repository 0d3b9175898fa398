// What a record of the catalogue may say, kind by kind: one table from which reading, units,
// `weft list fields`, queries and documentation come. A field states a figure (and then needs a
// source) unless it is marked as identity. Adding a field is one row here; engines read the few
// they use in catalogue_parts.cpp.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft::import {

enum class FieldType {
  quantity,   // a number or range in a unit of the dimension of `unit`
  value,      // a number or range in any unit
  text,       // one line
  words,      // a list of words
  flag,       // true | false
  choice,     // one of `words`, separated by '|'
  reference,  // the name of a record of the section `words`
  ports,      // {RATE: COUNT, ...}
  width,      // "gen5 x16"
};

struct PartField {
  std::string_view key;
  FieldType type = FieldType::text;
  std::string_view unit;  // quantity: the unit in which figures are kept; "" for a count or ratio
  std::string_view meaning;
  std::string_view words;
  bool identity = false;
};

struct PartKind {
  std::string_view section;   // "switches": the key in files, the word after `weft list`
  std::string_view singular;  // "switch", for messages
  std::string_view name_key;  // "model", "name" or "medium"
  std::string_view summary;
  std::vector<PartField> fields;
  std::vector<std::string_view> columns;  // of `weft list`, when none are asked for

  // nullptr when the kind has no such field.
  [[nodiscard]] const PartField* field(std::string_view key) const;
};

std::span<const PartKind> part_kinds();
const PartKind* find_part_kind(std::string_view section);

}  // namespace weft::import
