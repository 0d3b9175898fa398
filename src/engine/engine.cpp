#include "engine/engine.h"

#include <fmt/format.h>

#include "base/errors.h"

namespace weft::engine {

void refuse_link_changes(const Setup& setup, std::string_view engine) {
  if (setup.link_changes.empty()) return;
  throw InputError({"<setup>"}, fmt::format("the {} engine has no link changes", engine),
                   "use the flow engine, or leave the link changes out");
}

}  // namespace weft::engine
