// Whatever the text, an importer returns a fabric or throws an InputError in which every fault has
// a line, a column and a sentence. The importer is the one named by WEFT_IMPORTER.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "import/dump_test_support.h"

namespace {

using namespace weft;

// Nothing on disk belongs to a fuzzed text.
class NoFiles : public import::FileLoader {
 public:
  import::Source load(std::string_view name, const SourcePosition& asked_at) const override {
    throw InputError(asked_at, "no file '" + std::string(name) + "'", "fuzzing reads no files");
  }
};

void expect(bool condition, const char* what, const InputError& error) {
  if (condition) return;
  std::fprintf(stderr, "%s in:\n%s\n", what, error.what());
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const NoFiles kLoader;
  static const import::Importer* const kImporter = import::find_importer(WEFT_IMPORTER);
  const import::Source source{"fuzzed", std::string(reinterpret_cast<const char*>(data), size)};
  try {
    static_cast<void>(kImporter->recognises(source));
    static_cast<void>(kImporter->read(
        source, {&import::shipped_catalogue(), &kLoader, &import::shipped_hints()}));
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
