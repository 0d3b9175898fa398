#include "report/link_choice.h"

#include "base/text.h"

namespace weft::report {

LinkChoice::LinkChoice(const fabric::Fabric& fabric, const std::vector<std::string>& patterns)
    : chosen_(fabric.link_count()) {
  for (std::size_t i = 0; i < chosen_.size() && patterns.empty(); ++i)
    chosen_[i] = fabric::is_network(fabric.link_class(fabric::LinkId(i)).kind);
  for (const std::string& pattern : patterns) {
    bool used = false;
    for (std::size_t i = 0; i < chosen_.size(); ++i) {
      const fabric::LinkId link(i);
      if (!matches_pattern(fabric.link_name(link), pattern) &&
          !matches_pattern(fabric.name(fabric.from(link)), pattern) &&
          !matches_pattern(fabric.name(fabric.to(link)), pattern))
        continue;
      chosen_[i] = used = true;
    }
    if (!used) unused_.push_back(pattern);
  }
}

}  // namespace weft::report
