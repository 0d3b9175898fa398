// What is embedded is what lies in data/, byte for byte.
#include "data/embedded.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace weft::data {
namespace {

std::string text_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream out;
  out << in.rdbuf();
  return out.str();
}

TEST(Embedded, HoldsEveryYamlFileByteForByte) {
  const std::filesystem::path root = std::filesystem::path(WEFT_SOURCE_DIR) / "data";
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (entry.path().extension() != ".yaml") continue;
    const std::string path = std::filesystem::relative(entry.path(), root).generic_string();
    if (path.starts_with("validation/")) continue;  // read from its folder by weft validate
    ++count;
    const EmbeddedFile* file = find_embedded(path);
    ASSERT_NE(file, nullptr) << path;
    EXPECT_EQ(file->text, text_of(entry.path())) << path;
  }
  EXPECT_EQ(embedded_files().size(), count);
  EXPECT_GT(count, 5u);
}

TEST(Embedded, IsSortedAndFindsNothingThatIsNotThere) {
  const auto files = embedded_files();
  EXPECT_TRUE(std::is_sorted(files.begin(), files.end(),
                             [](const auto& a, const auto& b) { return a.path < b.path; }));
  EXPECT_EQ(find_embedded("servers/no-such-server.yaml"), nullptr);
}

}  // namespace
}  // namespace weft::data
