#include "import/importer.h"

#include <utility>

#include "base/text.h"

namespace weft::import {

std::span<const Importer* const> all_importers() {
  static const std::vector<const Importer*> kTable = {
#define X(name) &name##_importer(),
#include "import/list.def"
#undef X
  };
  return kTable;
}

const Importer* find_importer(std::string_view name) {
  for (const Importer* importer : all_importers()) {
    if (importer->name() == name) return importer;
  }
  return nullptr;
}

fabric::Fabric import_any(const Source& source, const ImportInputs& context) {
  std::vector<std::string> known;
  for (const Importer* importer : all_importers()) {
    if (importer->recognises(source)) return importer->read(source, context);
    known.emplace_back(importer->name());
  }
  throw InputError(SourcePosition{source.file, 1, 1}, "this is no format that Weft reads",
                   "formats known: " + join(known, ", "));
}

}  // namespace weft::import
