#include "base/table.h"

#include <gtest/gtest.h>

namespace weft {
namespace {

TEST(TextTable, AlignsWordsLeftAndNumbersRight) {
  TextTable table;
  table.column("link").number_column("GB/s").column("note");
  table.row({"nvlink", "450", "x"}).row({"pcie", "63.0", ""});
  table.rule().row({"all", "513", ""});
  EXPECT_EQ(table.render(),
            "link    GB/s  note\n"
            "------  ----  ----\n"
            "nvlink   450  x\n"
            "pcie    63.0\n"
            "------  ----  ----\n"
            "all      513\n");
}

TEST(TextTable, CountsWideCharactersAsTwo) {
  TextTable table;
  table.column("名称").number_column("带宽").row({"ab", "1"}).row({"网卡口", "22"});
  // Widths: 网卡口 is 6 columns, 带宽 is 4.
  EXPECT_EQ(table.render(),
            "名称    带宽\n"
            "------  ----\n"
            "ab         1\n"
            "网卡口    22\n");
}

TEST(TextTableDeathTest, ARowHasACellAColumn) {
  EXPECT_DEATH(TextTable().column("a").row({"1", "2"}), "CHECK");
}

}  // namespace
}  // namespace weft
