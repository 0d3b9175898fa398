#include "base/errors.h"

#include <gtest/gtest.h>

namespace weft {
namespace {

TEST(Errors, RendersInTheRustcShape) {
  Diagnostics diagnostics;
  diagnostics.add({"cluster.yaml", 2, 14}, "bandwidth needs a unit", "write 400Gbps or 400GB/s");
  try {
    diagnostics.throw_if_any("links:\n  bandwidth: 400\n");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(render(error),
              "error: bandwidth needs a unit\n"
              "  --> cluster.yaml:2:14\n"
              "   |\n"
              " 2 |   bandwidth: 400\n"
              "   |              ^\n"
              "   = help: write 400Gbps or 400GB/s\n");
    EXPECT_STREQ(error.what(), render(error).c_str());
  }
}

TEST(Errors, CaretStandsUnderWideCharacters) {
  const InputError error({{{"f", 1, 3}, "bad", "", "带宽x"}});
  // Two characters of two columns each stand before the third.
  EXPECT_NE(render(error).find(" 1 | 带宽x\n   |     ^\n"), std::string::npos) << render(error);
}

TEST(Errors, SortsByPositionAndCountsWhatItDoesNotShow) {
  std::vector<Diagnostic> list;
  for (int line = 25; line >= 1; --line) {
    list.push_back({{"f", line, 1}, "fault", "", ""});
  }
  const InputError error(list);
  EXPECT_EQ(error.diagnostics().front().where.line, 1);
  const std::string text = render(error);
  EXPECT_NE(text.find("f:20:1"), std::string::npos);
  EXPECT_EQ(text.find("f:21:1"), std::string::npos);
  EXPECT_TRUE(text.ends_with("and 5 more\n"));
}

TEST(Errors, LongLinesAreCutAroundTheCaretAndEscapesAreNotPrinted) {
  const std::string line = std::string(5000, 'a') + "\x1b[31m" + std::string(5000, 'b');
  const std::string text = render(InputError({{{"f\x1b", 1, 5001}, "bad", "", line}}));
  EXPECT_LT(text.size(), 400u);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_NE(text.find("aaa?[31mbbb"), std::string::npos);
}

TEST(Errors, PositionsCountCodePointsAndEveryLineEnd) {
  const std::string text = "a\r\n带宽x\rb";
  const auto at = [&](std::size_t offset) {
    const SourcePosition p = position_at(text, offset, "f");
    return std::pair(p.line, p.column);
  };
  EXPECT_EQ(at(0), std::pair(1, 1));
  EXPECT_EQ(at(3), std::pair(2, 1));
  EXPECT_EQ(at(9), std::pair(2, 3));   // 'x': two characters of three bytes before it
  EXPECT_EQ(at(11), std::pair(3, 1));  // 'b'
  EXPECT_EQ(line_of(text, 2), "带宽x");
  EXPECT_EQ(line_of(text, 3), "b");
  EXPECT_EQ(line_of(text, 4), "");
}

TEST(Errors, PositionsInOneLongLine) {
  std::string text;
  for (int i = 0; i < 3000; ++i) text += "带";  // three bytes each, so strides cut characters
  const LineIndex lines(text);
  for (int i = 0; i < 3000; i += 7) {
    EXPECT_EQ(lines.at(static_cast<std::size_t>(3 * i), "f").column, i + 1);
  }
  EXPECT_EQ(lines.at(text.size(), "f").column, 3001);
  const std::string stride(1024, 'x');
  EXPECT_EQ(LineIndex(stride).at(1024, "f").column, 1025);
}

TEST(Errors, EachOfManyFaultsGetsItsOwnLine) {
  std::string text;
  Diagnostics diagnostics;
  for (int line = 1; line <= 1000; ++line) {
    text += "key" + std::to_string(line) + ": some value\n";
    diagnostics.add({"f", line, 1}, "fault");
  }
  try {
    diagnostics.throw_if_any(text);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(error.diagnostics().at(999).source_line, "key1000: some value");
  }
}

TEST(Errors, ALongLineIsNotCopiedForEveryFault) {
  const std::string line(1'000'000, 'x');
  Diagnostics diagnostics;
  for (int i = 1; i <= 1000; ++i) diagnostics.add({"f", 1, i}, "fault");
  try {
    diagnostics.throw_if_any(line);
    FAIL();
  } catch (const InputError& error) {
    std::size_t copied = 0;
    for (const Diagnostic& d : error.diagnostics()) copied += d.source_line.size();
    EXPECT_EQ(copied, 2'000'000u);  // after two lines more than 1 MiB is used
    EXPECT_EQ(error.diagnostics().front().source_line, line);
  }
}

TEST(Errors, NothingCollectedThrowsNothing) {
  Diagnostics diagnostics;
  EXPECT_NO_THROW(diagnostics.throw_if_any());
}

}  // namespace
}  // namespace weft
