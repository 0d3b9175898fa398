// Questions about the records of one kind, as `weft list KIND --where` asks them:
//   ports_800g>=128 and power<=500 W and vendor=broadcom
// Numbers compare in the unit of the field; a number without unit is taken in that unit. A range
// counts only when all of it fits. A record that does not state the figure never fits. Texts know
// =, != and ~ (contains), in any letter case.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "import/part_record.h"

namespace weft::import {

enum class Comparison { equal, unequal, less, less_equal, greater, greater_equal, contains };

struct PartCondition {
  std::string key;
  Comparison comparison = Comparison::equal;
  std::string text;              // as written
  std::optional<double> number;  // in the unit of the field
};

// Throws InputError with every fault; positions count columns within the text.
std::vector<PartCondition> parse_part_conditions(std::string_view text, const PartKind& kind,
                                                 const std::string& called);
bool holds(const PartRecord& record, const PartCondition& condition);

// A column of the list: a field of the kind, "name", "title", "vendor", an identity field,
// "capacity" from the ports when none is stated, or "ports_RATEg", the ports at that rate.
bool is_part_column(const PartKind& kind, std::string_view key);
std::vector<std::string> part_columns(const PartKind& kind);  // for "did you mean"
// What a record shows there; empty when it states nothing.
std::string part_cell(const PartRecord& record, std::string_view key);
// For sorting and comparing; nullopt for text and for what is not stated.
std::optional<PartFigure::Amount> part_amount(const PartRecord& record, std::string_view key);

}  // namespace weft::import
