// Broken inputs: each file of tests/broken says in its first line what must be found in it,
// `# expect: LINE:COLUMN part of the message` (in XML `<!-- expect: ... -->`; an empty column means
// any). The reader goes by the file's name: cluster_, scenario_, catalogue_, or the name of an
// importer; "server_" is short for server_yaml.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/text.h"
#include "import/catalogue.h"
#include "import/cluster_yaml.h"
#include "import/importer.h"
#include "import/shipped_catalogue.h"
#include "scenario/scenario_file.h"

namespace weft {
namespace {

class NoFiles : public import::FileLoader {
 public:
  import::Source load(std::string_view name, const SourcePosition& asked_at) const override {
    throw InputError(asked_at, "no file '" + std::string(name) + "'", "tests read no other files");
  }
};

void read(const std::string& name, const std::string& text) {
  if (starts_with(name, "cluster_")) {
    static_cast<void>(import::parse_cluster(text, name));
  } else if (starts_with(name, "scenario_")) {
    static_cast<void>(scenario::parse_scenario(text, name));
  } else if (starts_with(name, "catalogue_")) {
    static_cast<void>(import::Catalogue({{name, text}}));
  } else {
    const std::string wanted = starts_with(name, "server_") ? "server_yaml_" : name;
    for (const import::Importer* importer : import::all_importers()) {
      if (!starts_with(wanted, std::string(importer->name()) + "_")) continue;
      const NoFiles loader;
      static_cast<void>(importer->read({name, text}, {&import::shipped_catalogue(), &loader}));
      return;
    }
    FAIL() << "no reader goes by the name " << name;
  }
}

struct Expectation {
  int line = 0;
  std::optional<int> column;
  std::string what;
};

std::optional<Expectation> expectation(std::string_view text) {
  constexpr std::string_view kMark = "expect: ";
  std::string_view line = text.substr(0, text.find('\n'));
  const std::size_t at = line.find(kMark);
  if (at == std::string_view::npos) return std::nullopt;
  line = line.substr(at + kMark.size());
  if (line.ends_with("-->")) line.remove_suffix(3);
  const std::size_t colon = line.find(':'), space = line.find(' ');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto number = parse_int(line.substr(0, colon));
  const auto column = parse_int(line.substr(colon + 1, space - colon - 1));
  if (!number) return std::nullopt;
  Expectation e;
  e.line = static_cast<int>(*number);
  if (column) e.column = static_cast<int>(*column);
  if (space != std::string_view::npos) e.what = trim(line.substr(space));
  return e;
}

std::vector<std::string> broken_files() {
  std::vector<std::string> names;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(WEFT_SOURCE_DIR) + "/tests/broken")) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

class BrokenInput : public testing::TestWithParam<std::string> {};

TEST_P(BrokenInput, IsRefusedAtTheRightPlaceWithAHint) {
  const std::string& name = GetParam();
  const std::string text = read_file(std::string(WEFT_SOURCE_DIR) + "/tests/broken/" + name);
  const auto expected = expectation(text);
  ASSERT_TRUE(expected) << "the first line is no '# expect: LINE:COLUMN text'";
  try {
    read(name, text);
    if (!HasFatalFailure()) FAIL() << "accepted";
  } catch (const InputError& error) {
    const auto& found = error.diagnostics();
    const auto hit = std::find_if(found.begin(), found.end(), [&](const Diagnostic& d) {
      return d.where.line == expected->line &&
             (!expected->column || d.where.column == *expected->column) &&
             d.what.find(expected->what) != std::string::npos;
    });
    ASSERT_NE(hit, found.end()) << error.what();
    EXPECT_FALSE(hit->hint.empty()) << hit->what;
  }
}

INSTANTIATE_TEST_SUITE_P(All, BrokenInput, testing::ValuesIn(broken_files()), [](const auto& info) {
  std::string name = info.param;
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
});

}  // namespace
}  // namespace weft
