#include "import/part_query.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/quantity.h"
#include "base/text.h"

namespace weft::import {
namespace {

struct Operator {
  std::string_view text;
  Comparison comparison;
};
// Longer ones first.
constexpr auto kOperators = std::to_array<Operator>({
    {"<=", Comparison::less_equal},
    {">=", Comparison::greater_equal},
    {"!=", Comparison::unequal},
    {"==", Comparison::equal},
    {"<", Comparison::less},
    {">", Comparison::greater},
    {"=", Comparison::equal},
    {"~", Comparison::contains},
});

// "ports_800g" -> 800 Gb/s.
std::optional<BitRate> rate_of_ports_key(std::string_view key) {
  constexpr std::string_view kPrefix = "ports_";
  if (!starts_with(key, kPrefix) || !key.ends_with('g')) return {};
  const auto gbps = parse_int(key.substr(kPrefix.size(), key.size() - kPrefix.size() - 1));
  if (!gbps || *gbps <= 0 || *gbps > 100'000) return {};
  return BitRate::gigabits_per_second(*gbps);
}

bool has_ports(const PartKind& kind) {
  const PartField* ports = kind.field("ports");
  return ports != nullptr && ports->type == FieldType::ports;
}

// The unit in which a column's numbers are kept; nullptr for text. "" for ports and plain values.
const Unit* unit_of(const PartKind& kind, std::string_view key) {
  if (has_ports(kind) && rate_of_ports_key(key)) return find_unit("");
  const PartField* field = kind.field(key);
  if (field == nullptr) return nullptr;
  return field->type == FieldType::quantity ? find_unit(field->unit) : nullptr;
}

class ConditionReader {
 public:
  ConditionReader(std::string_view text, const PartKind& kind, const std::string& called)
      : text_(text), kind_(kind), called_(called) {}

  std::vector<PartCondition> read() {
    std::size_t begin = 0;
    while (begin <= text_.size()) {
      const auto [end, next] = end_of_condition(begin);
      read_one(begin, end);
      begin = next;
    }
    faults_.throw_if_any(text_);
    return std::move(conditions_);
  }

 private:
  // Conditions are joined by " and " or a comma.
  [[nodiscard]] std::pair<std::size_t, std::size_t> end_of_condition(std::size_t begin) const {
    const std::size_t comma = std::min(text_.find(',', begin), text_.size());
    const std::size_t word = std::min(text_.find(" and ", begin), text_.size());
    if (word < comma) return {word, word + 5};
    return {comma, comma + 1};
  }

  void complain(std::size_t offset, std::string what, std::string hint) {
    faults_.add({called_, 1, static_cast<int>(offset) + 1}, std::move(what), std::move(hint));
  }

  void read_one(std::size_t begin, std::size_t end) {
    const std::string_view piece = text_.substr(begin, end - begin);
    const std::size_t at = piece.find_first_of("<>=!~");
    const auto known = std::find_if(kOperators.begin(), kOperators.end(), [&](const Operator& o) {
      return at != std::string_view::npos && starts_with(piece.substr(at), o.text);
    });
    const std::size_t first = begin + std::min(piece.find_first_not_of(' '), piece.size());
    if (known == kOperators.end()) {
      return complain(first, fmt::format("'{}' is not a condition", trim(piece)),
                      "write FIELD, one of < <= = != >= > ~, and a value: 'power<=500 W'");
    }
    PartCondition condition;
    condition.key = trim(piece.substr(0, at));
    condition.comparison = known->comparison;
    condition.text = trim(piece.substr(at + known->text.size()));
    if (!is_part_column(kind_, condition.key)) {
      return complain(first, fmt::format("{} have no field '{}'", kind_.section, condition.key),
                      suggest(condition.key, part_columns(kind_)));
    }
    read_value(condition, begin + at + known->text.size());
    conditions_.push_back(std::move(condition));
  }

  void read_value(PartCondition& condition, std::size_t offset) {
    const PartField* field = kind_.field(condition.key);
    const Unit* unit = unit_of(kind_, condition.key);
    const auto quantity = parse_quantity(condition.text);
    if (condition.comparison == Comparison::contains) return;
    if (field != nullptr && field->type == FieldType::value) {
      if (quantity) condition.number = quantity->low * quantity->unit->scale;
      return;
    }
    if (unit == nullptr) {
      if (condition.comparison != Comparison::equal && condition.comparison != Comparison::unequal)
        complain(offset, fmt::format("{} is a text and has no order", condition.key),
                 "use =, != or ~ (contains)");
      return;
    }
    const bool bare = quantity && quantity->unit->name.empty();
    if (!quantity || (!bare && quantity->unit->dimension != unit->dimension)) {
      return complain(offset,
                      fmt::format("'{}' is not a value of {}", condition.text, condition.key),
                      unit->name.empty() ? "write a number"
                                         : fmt::format("write for example '500 {}'; units: {}",
                                                       unit->name, unit_names(unit->dimension)));
    }
    condition.number = bare ? quantity->low : quantity->in(*unit).low;
  }

  std::string_view text_;
  const PartKind& kind_;
  const std::string& called_;
  Diagnostics faults_;
  std::vector<PartCondition> conditions_;
};

bool fits(const PartFigure::Amount& amount, Comparison comparison, double number) {
  switch (comparison) {
    case Comparison::equal:
      return amount.low == number && amount.high == number;
    case Comparison::unequal:
      return amount.low != number || amount.high != number;
    case Comparison::less:
      return amount.high < number;
    case Comparison::less_equal:
      return amount.high <= number;
    case Comparison::greater:
      return amount.low > number;
    case Comparison::greater_equal:
      return amount.low >= number;
    case Comparison::contains:
      return false;
  }
  return false;
}

bool fits(const std::string& cell, const PartCondition& condition) {
  const std::string mine = to_lower(cell), wanted = to_lower(condition.text);
  if (condition.comparison == Comparison::contains) return mine.find(wanted) != std::string::npos;
  return (mine == wanted) == (condition.comparison == Comparison::equal);
}

}  // namespace

std::vector<PartCondition> parse_part_conditions(std::string_view text, const PartKind& kind,
                                                 const std::string& called) {
  return ConditionReader(text, kind, called).read();
}

bool is_part_column(const PartKind& kind, std::string_view key) {
  if (key == "name" || key == "title" || key == "vendor") return true;
  return kind.field(key) != nullptr || (has_ports(kind) && rate_of_ports_key(key));
}

std::vector<std::string> part_columns(const PartKind& kind) {
  std::vector<std::string> out = {"name", "title", "vendor"};
  for (const PartField& field : kind.fields) out.emplace_back(field.key);
  if (has_ports(kind)) {
    for (const char* rate : {"ports_100g", "ports_200g", "ports_400g", "ports_800g", "ports_1600g"})
      out.emplace_back(rate);
  }
  return out;
}

std::optional<PartFigure::Amount> part_amount(const PartRecord& record, std::string_view key) {
  if (const PartFigure* figure = record.figure(key); figure != nullptr && figure->amount) {
    // Values of any unit are compared in the first unit of their dimension.
    const bool any =
        record.kind->field(key) != nullptr && record.kind->field(key)->type == FieldType::value;
    const Unit* unit = any ? find_unit(figure->unit) : nullptr;
    const double scale = unit == nullptr ? 1 : unit->scale;
    return PartFigure::Amount{figure->amount->low * scale, figure->amount->high * scale};
  }
  if (key == "capacity" && record.capacity().bps() > 0) {
    const double tbps = record.capacity().gbps() / 1000;
    return PartFigure::Amount{tbps, tbps};
  }
  const auto rate = has_ports(*record.kind) ? rate_of_ports_key(key) : std::nullopt;
  if (!rate || record.port_choices("ports") == nullptr) return {};
  const double ports = record.ports_at(*rate);
  return PartFigure::Amount{ports, ports};
}

std::string part_cell(const PartRecord& record, std::string_view key) {
  if (key == "name") return record.name;
  if (key == "title") return record.title;
  if (key == "vendor") return record.vendor;
  const PartFigure* figure = record.figure(key);
  if (figure == nullptr) {
    const auto amount = part_amount(record, key);
    if (!amount) return std::string(record.word(key));
    return fmt::format("{:.6g}{}", amount->low, key == "capacity" ? " Tbps" : "");
  }
  const std::string_view gap = figure->unit.empty() || figure->unit == "%" ? "" : " ";
  return fmt::format("{}{}{}", figure->value, gap, figure->unit);
}

bool holds(const PartRecord& record, const PartCondition& condition) {
  if (condition.number) {
    const auto amount = part_amount(record, condition.key);
    return amount && fits(*amount, condition.comparison, *condition.number);
  }
  const std::string cell = part_cell(record, condition.key);
  return !cell.empty() && fits(cell, condition);
}

}  // namespace weft::import
