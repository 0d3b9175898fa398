#include <array>

#include "validate/validate.h"

namespace weft::validate {

#define X(name) const Kind& name();
#include "validate/list.def"
#undef X

std::span<const Kind* const> all_kinds() {
  static const std::array kRows = {
#define X(name) &name(),
#include "validate/list.def"
#undef X
  };
  return kRows;
}

}  // namespace weft::validate
