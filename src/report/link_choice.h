// Which links an observer looks at, as the user says it: all that fit one of the patterns, in which
// '*' stands for anything. A pattern is held against the link's name ("leaf0 -> spine1") and
// against the name of each of its two ends. No pattern: every link of the network.
#pragma once

#include <string>
#include <vector>

#include "fabric/fabric.h"

namespace weft::report {

class LinkChoice {
 public:
  // By link of the fabric. Patterns that fit no link are in unused().
  LinkChoice(const fabric::Fabric& fabric, const std::vector<std::string>& patterns);
  [[nodiscard]] bool has(fabric::LinkId link) const { return chosen_[link.index()]; }
  [[nodiscard]] const std::vector<std::string>& unused() const { return unused_; }

 private:
  std::vector<bool> chosen_;
  std::vector<std::string> unused_;
};

}  // namespace weft::report
