#include "congestion/congestion.h"

#include <array>

namespace weft::congestion {

#define X(name) const Control& name##_control();
#include "congestion/list.def"
#undef X

std::span<const Control* const> all_controls() {
  static const std::array kTable = {
#define X(name) &name##_control(),
#include "congestion/list.def"
#undef X
  };
  return kTable;
}

const Control* find_control(std::string_view name) {
  for (const Control* control : all_controls())
    if (control->name() == name) return control;
  return nullptr;
}

}  // namespace weft::congestion
