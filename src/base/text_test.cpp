#include "base/text.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/errors.h"

namespace weft {
namespace {

using Pieces = std::vector<std::string_view>;

TEST(Text, SplitsAndTrims) {
  EXPECT_EQ(trim(" \t a b\r\n"), "a b");
  EXPECT_EQ(trim(" \t"), "");
  EXPECT_EQ(split("a,,b,", ','), (Pieces{"a", "", "b", ""}));
  EXPECT_EQ(split("", ','), Pieces{""});
  EXPECT_EQ(split_whitespace("  a \t b\n"), (Pieces{"a", "b"}));
  EXPECT_EQ(split_whitespace(" "), Pieces{});
  EXPECT_EQ(to_lower("GPU0"), "gpu0");
  EXPECT_EQ(join(std::vector<std::string>{"a", "b"}, ", "), "a, b");
}

TEST(Text, ParsesWholeNumbersOnly) {
  EXPECT_EQ(parse_int("-42"), -42);
  EXPECT_EQ(parse_int("9223372036854775808"), std::nullopt);  // 2^63
  EXPECT_EQ(parse_int("4x"), std::nullopt);
  EXPECT_EQ(parse_int(" 4"), std::nullopt);
  EXPECT_EQ(parse_int(""), std::nullopt);
  EXPECT_EQ(parse_hex("0x1f"), 31u);
  EXPECT_EQ(parse_hex("b8a9"), 0xb8a9u);
  EXPECT_EQ(parse_hex("0x"), std::nullopt);
  EXPECT_EQ(parse_hex("0x0x1"), std::nullopt);
  EXPECT_EQ(parse_double("2.5e3"), 2500.0);
  EXPECT_EQ(parse_double("nan"), std::nullopt);
  EXPECT_EQ(parse_double("inf"), std::nullopt);
  EXPECT_EQ(parse_double("2,5"), std::nullopt);
}

TEST(Text, SuggestsTheNearestWord) {
  const std::vector<std::string> names{"rail", "leaf_spine", "fat_tree", "bandwidth"};
  EXPECT_EQ(did_you_mean("bandwith", names), "bandwidth");     // one insertion
  EXPECT_EQ(did_you_mean("badnwidth", names), "bandwidth");    // one swap of neighbours
  EXPECT_EQ(did_you_mean("Bandwidth", names), "bandwidth");    // case
  EXPECT_EQ(did_you_mean("bnadwiddht", names), std::nullopt);  // three edits
  EXPECT_EQ(did_you_mean("xy", std::vector<std::string>{"ab"}), std::nullopt);
  EXPECT_EQ(suggest("rial", names), "did you mean 'rail'?");
  EXPECT_EQ(suggest("torus", names), "one of: rail, leaf_spine, fat_tree, bandwidth");
  EXPECT_EQ(suggest("torus", {}), "");
}

TEST(Text, WidthOnATerminal) {
  EXPECT_EQ(display_width("GPU0"), 4);
  EXPECT_EQ(display_width("带宽"), 4);
  EXPECT_EQ(display_width("\uff21"), 2);   // full-width A
  EXPECT_EQ(display_width("e\u0301"), 1);  // e with a combining accent
  EXPECT_EQ(display_width("µs"), 2);
}

TEST(Text, FindsMalformedUtf8) {
  EXPECT_EQ(find_invalid_utf8("带宽 ok \U0001f600 \ufffd"), std::nullopt);
  EXPECT_EQ(find_invalid_utf8("ab\xff"), 2u);
  EXPECT_EQ(find_invalid_utf8("\xc0\x80"), 0u);          // overlong
  EXPECT_EQ(find_invalid_utf8("\xed\xa0\x80"), 0u);      // a surrogate
  EXPECT_EQ(find_invalid_utf8("a\xe5\xb8"), 1u);         // cut short
  EXPECT_EQ(find_invalid_utf8("\xf4\x90\x80\x80"), 0u);  // beyond U+10FFFF
}

class Files : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string folder_ = testing::TempDir() + "weft_text_test_" +
                        testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(Files, WritesWholeAndLeavesNothingElse) {
  const std::string path = folder_ + "/out.txt";
  write_file(path, "first");
  write_file(path, std::string(100'000, 'x'));
  EXPECT_EQ(read_file(path), std::string(100'000, 'x'));
  const auto entries = std::filesystem::directory_iterator(folder_);
  EXPECT_EQ(std::distance(begin(entries), end(entries)), 1);  // no temporary is left
}

TEST_F(Files, WritesThroughALinkAndToDevices) {
  write_file(folder_ + "/real", "old");
  std::filesystem::create_symlink("real", folder_ + "/link");
  write_file(folder_ + "/link", "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder_ + "/link"));
  EXPECT_EQ(read_file(folder_ + "/real"), "new");
  write_file("/dev/null", "gone");
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST_F(Files, FaultsNameThePathAndTheReason) {
  const auto message = [](auto&& act) -> std::string {
    try {
      act();
    } catch (const InputError& error) {
      return error.diagnostics().at(0).what;
    }
    return "no fault";
  };
  EXPECT_EQ(message([&] { read_file(folder_ + "/none"); }),
            "cannot read '" + folder_ + "/none': No such file or directory");
  EXPECT_EQ(message([&] { read_file(folder_); }), "cannot read '" + folder_ + "': Is a directory");
  EXPECT_EQ(message([&] { write_file(folder_ + "/no/such", ""); }),
            "cannot write '" + folder_ + "/no/such': No such file or directory");
  write_file(folder_ + "/big", "12345");
  EXPECT_EQ(message([&] { read_file(folder_ + "/big", 4); }),
            "'" + folder_ + "/big' is larger than 4 bytes");
  EXPECT_EQ(read_file(folder_ + "/big", 5), "12345");
}

TEST(Text, AStarStandsForAnyCharacters) {
  EXPECT_TRUE(matches_pattern("leaf0 -> spine1", "leaf* -> spine*"));
  EXPECT_TRUE(matches_pattern("leaf0 -> spine1", "*1"));
  EXPECT_TRUE(matches_pattern("aXbXc", "a*X*c"));  // the first '*' must give an X back
  EXPECT_TRUE(matches_pattern("", "**"));
  EXPECT_FALSE(matches_pattern("leaf0", "leaf"));
  EXPECT_FALSE(matches_pattern("spine1 -> leaf0", "leaf*"));
  EXPECT_FALSE(matches_pattern("leaf", "leaf?"));
}

}  // namespace
}  // namespace weft
