// One record of the catalogue as a user or a planner sees it: figures by name, each with unit,
// source and confidence. Numbers are kept in the unit of their field (import/part_fields.h), so
// number("power") is always watts. What is not stated is nullopt, never zero.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "base/units.h"
#include "import/part_fields.h"

namespace weft::import {

struct PartFigure {
  std::string part, key;
  std::string value, unit;  // as written: "36000..50000", "USD"
  std::string source, confidence;
  std::string note;      // what one should know before using it; often empty
  bool derived = false;  // computed from the source's figures, not printed there
  SourcePosition where;
  // The number in the unit of its field; low == high unless a range was written.
  struct Amount {
    double low = 0, high = 0;
    [[nodiscard]] double typical() const { return (low + high) / 2; }
  };
  std::optional<Amount> amount;

  // False for what nobody answers for: press, claim and estimate.
  [[nodiscard]] bool firm() const;
};

// The words of confidence, firmest first.
const std::vector<std::string>& confidence_words();

// Ports at each rate that a switch can be set to, as written (fastest first).
using PortChoices = std::vector<std::pair<BitRate, int>>;

struct PartRecord {
  const PartKind* kind = nullptr;
  std::string name, title, vendor;
  std::vector<std::string> aliases;
  std::vector<PartFigure> figures;                            // in the order of the kind's fields
  std::vector<std::pair<std::string, PortChoices>> ports;     // by key
  std::vector<std::pair<std::string, std::string>> identity;  // "form" -> "box", "chip" -> ...
  SourcePosition where;

  [[nodiscard]] const PartFigure* figure(std::string_view key) const;
  // The middle of the figure's range; nullopt when the record does not state it.
  [[nodiscard]] std::optional<double> number(std::string_view key) const;
  // A text, choice, reference or flag as written; "" when not stated. Identity fields too.
  [[nodiscard]] std::string_view word(std::string_view key) const;
  [[nodiscard]] const PortChoices* port_choices(std::string_view key) const;
  // Ports usable at exactly `rate`; 0 when it cannot be set to that rate.
  [[nodiscard]] int ports_at(BitRate rate) const;
  // One way: the largest sum of ports x rate, which is what a network needs. Makers' headlines may
  // count both ways (docs/catalogue.md). Zero when the record states no ports.
  [[nodiscard]] BitRate capacity() const;
};

}  // namespace weft::import
