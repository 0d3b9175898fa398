// Whatever the text, an importer returns a fabric or throws an InputError in which every fault has
// a line, a column and a sentence. The importer is the one named by WEFT_IMPORTER.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "base/text.h"
#include "import/catalogue.h"
#include "import/importer.h"

namespace {

using namespace weft;

// Nothing on disk belongs to a fuzzed text.
class NoFiles : public import::FileLoader {
 public:
  import::Source load(std::string_view name, const SourcePosition& asked_at) const override {
    throw InputError(asked_at, "no file '" + std::string(name) + "'", "fuzzing reads no files");
  }
};

import::Catalogue shipped_catalogue() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(WEFT_SOURCE_DIR "/data/catalogue")) {
    if (entry.path().extension() == ".yaml") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<import::CatalogueText> files;
  for (const auto& path : paths) files.push_back({path.string(), read_file(path.string())});
  return import::Catalogue(files);
}

void expect(bool condition, const char* what, const InputError& error) {
  if (condition) return;
  std::fprintf(stderr, "%s in:\n%s\n", what, error.what());
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const import::Catalogue kCatalogue = shipped_catalogue();
  static const NoFiles kLoader;
  static const import::Importer* const kImporter = import::find_importer(WEFT_IMPORTER);
  const import::Source source{"fuzzed", std::string(reinterpret_cast<const char*>(data), size)};
  try {
    static_cast<void>(kImporter->recognises(source));
    static_cast<void>(kImporter->read(source, {&kCatalogue, &kLoader}));
  } catch (const InputError& error) {
    expect(!error.diagnostics().empty(), "no fault named", error);
    for (const Diagnostic& fault : error.diagnostics()) {
      expect(fault.where.line > 0 && fault.where.column > 0, "a fault without line and column",
             error);
      expect(!fault.what.empty(), "a fault without a sentence", error);
    }
  }
  return 0;
}
