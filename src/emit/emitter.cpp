#include "emit/emitter.h"

#include <vector>

namespace weft::emit {

std::span<const Emitter* const> all_emitters() {
  static const std::vector<const Emitter*> kTable = {
#define X(name) &name##_emitter(),
#include "emit/list.def"
#undef X
  };
  return kTable;
}

const Emitter* find_emitter(std::string_view name) {
  for (const Emitter* emitter : all_emitters()) {
    if (emitter->name() == name) return emitter;
  }
  return nullptr;
}

}  // namespace weft::emit
