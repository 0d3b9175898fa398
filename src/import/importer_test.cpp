// The registry: every row is found by its own name, and a text of no known format is refused with
// the list of formats.
#include "import/importer.h"

#include <gtest/gtest.h>

#include <set>

namespace weft::import {
namespace {

TEST(Importers, EveryRowIsFoundByItsName) {
  std::set<std::string_view> names;
  for (const Importer* importer : all_importers()) {
    EXPECT_EQ(find_importer(importer->name()), importer);
    EXPECT_TRUE(names.insert(importer->name()).second) << "name used twice";
    EXPECT_FALSE(importer->summary().empty());
  }
  EXPECT_EQ(find_importer("no-such-format"), nullptr);
}

TEST(Importers, UnknownTextIsRefusedWithTheFormatsKnown) {
  try {
    import_any({"notes.txt", "dear diary\n"}, {});
    FAIL() << "accepted a text of no known format";
  } catch (const InputError& error) {
    ASSERT_EQ(error.diagnostics().size(), 1u);
    EXPECT_EQ(error.diagnostics()[0].where.file, "notes.txt");
    for (const Importer* importer : all_importers()) {
      EXPECT_NE(error.diagnostics()[0].hint.find(importer->name()), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace weft::import
