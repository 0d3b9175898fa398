#include "import/part_record.h"

#include <algorithm>

namespace weft::import {

const std::vector<std::string>& confidence_words() {
  static const std::vector<std::string> kWords = {"standard", "datasheet", "measured", "quote",
                                                  "claim",    "press",     "estimate"};
  return kWords;
}

bool PartFigure::firm() const {
  return confidence != "claim" && confidence != "press" && confidence != "estimate";
}

const PartFigure* PartRecord::figure(std::string_view key) const {
  for (const PartFigure& f : figures) {
    if (f.key == key) return &f;
  }
  return nullptr;
}

std::optional<double> PartRecord::number(std::string_view key) const {
  const PartFigure* found = figure(key);
  if (found == nullptr || !found->amount) return {};
  return found->amount->typical();
}

std::string_view PartRecord::word(std::string_view key) const {
  for (const auto& [known, text] : identity) {
    if (known == key) return text;
  }
  const PartFigure* found = figure(key);
  return found == nullptr ? std::string_view() : found->value;
}

const PortChoices* PartRecord::port_choices(std::string_view key) const {
  for (const auto& [known, choices] : ports) {
    if (known == key) return &choices;
  }
  return nullptr;
}

int PartRecord::ports_at(BitRate rate) const {
  const PortChoices* choices = port_choices("ports");
  if (choices == nullptr) return 0;
  const auto at = std::find_if(choices->begin(), choices->end(),
                               [rate](const auto& choice) { return choice.first == rate; });
  return at == choices->end() ? 0 : at->second;
}

BitRate PartRecord::capacity() const {
  BitRate most;
  if (const PortChoices* choices = port_choices("ports")) {
    for (const auto& [rate, count] : *choices) most = std::max(most, rate * count);
  }
  if (const PortChoices* more = port_choices("more_ports")) {
    for (const auto& [rate, count] : *more) most = most + rate * count;
  }
  return most;
}

}  // namespace weft::import
