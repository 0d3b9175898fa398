#include "base/csv.h"

#include <gtest/gtest.h>

namespace weft {
namespace {

TEST(Csv, ReadsQuotedCellsOverLinesAndKeepsLineNumbers) {
  const CsvTable table =
      CsvTable::parse("name,size,note\r\na,8,\"one, \"\"two\"\"\nthree\"\r\n\r\nb,,x\n", "t.csv");
  ASSERT_EQ(table.rows().size(), 2u);
  EXPECT_EQ(table.cell(table.rows()[0], "note"), "one, \"two\"\nthree");
  EXPECT_EQ(table.rows()[0].line, 2);
  EXPECT_EQ(table.rows()[1].line, 5);  // after a cell of two lines and an empty line
  Diagnostics diagnostics;
  EXPECT_EQ(table.number(table.rows()[0], "size", diagnostics), 8.0);
  EXPECT_EQ(table.number(table.rows()[1], "size", diagnostics), std::nullopt);
  EXPECT_TRUE(diagnostics.empty());
  EXPECT_EQ(table.number(table.rows()[1], "name", diagnostics), std::nullopt);
  EXPECT_EQ(diagnostics.size(), 1u);
}

TEST(Csv, NamesEveryFaultWithItsLine) {
  try {
    CsvTable::parse("a,b\n1\n\"x\"y,2\n3,4,5\n6,\"open\n", "t.csv");
    FAIL() << "nothing was refused";
  } catch (const InputError& error) {
    std::string lines;
    for (const Diagnostic& d : error.diagnostics()) lines += std::to_string(d.where.line) + " ";
    EXPECT_EQ(lines, "2 3 4 5 ");
  }
}

}  // namespace
}  // namespace weft
