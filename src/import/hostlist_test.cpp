#include "import/hostlist.h"

#include <gtest/gtest.h>

namespace weft::import {
namespace {

using Names = std::vector<std::string>;

TEST(Hostlist, ExpandsBracketsAndKeepsLeadingZeros) {
  EXPECT_EQ(expand_hostlist("node").names, Names{"node"});
  EXPECT_EQ(expand_hostlist("node[8-10]").names, (Names{"node8", "node9", "node10"}));
  EXPECT_EQ(expand_hostlist("node[008-010,020]").names,
            (Names{"node008", "node009", "node010", "node020"}));
  EXPECT_EQ(expand_hostlist("r[1-2]n[01-02]").names, (Names{"r1n01", "r1n02", "r2n01", "r2n02"}));
  EXPECT_EQ(expand_hostlist("a, b[1-2]").names, (Names{"a", "b1", "b2"}));
}

TEST(Hostlist, SaysWhyATextIsNoHostlist) {
  for (const char* wrong : {"", "a,,b", "n[1-", "n]1[", "n[[1]]", "n[2-1]", "n[a-b]", "n[]",
                            "n[-1]", "n[1-99999999999]"}) {
    const Hostlist list = expand_hostlist(wrong);
    EXPECT_TRUE(list.names.empty()) << wrong;
    EXPECT_FALSE(list.fault.empty()) << wrong;
  }
  EXPECT_EQ(expand_hostlist("n[1-100]", 99).fault, "more than 99 names");
  EXPECT_EQ(expand_hostlist("n[1-10][1-10]", 99).fault, "more than 99 names");
}

TEST(Hostlist, CompressesWhatItExpands) {
  const auto compressed = [](const Names& names) { return compress_hostlist(names); };
  EXPECT_EQ(compressed({"node1"}), "node1");
  EXPECT_EQ(compressed({"node8", "node9", "node10", "node12"}), "node[8-10,12]");
  EXPECT_EQ(compressed({"n008", "n009", "n010", "n11"}), "n[008-010,11]");
  EXPECT_EQ(compressed({"login", "r1n1", "r1n2", "r2n1", "x"}), "login,r1n[1-2],r2n1,x");
  for (const char* text : {"n[1-9]", "n[09-11],m,n[1-2,4]", "a1b,a1b2", "[1-3]", "n[8,9-10,09]",
                           "n1000000000", "n[999999998-999999999]"}) {
    const Names names = expand_hostlist(text).names;
    EXPECT_FALSE(names.empty()) << text;
    EXPECT_EQ(expand_hostlist(compress_hostlist(names)).names, names) << text;
  }
}

TEST(IndexList, RangesAndSingles) {
  EXPECT_EQ(parse_index_list("0-2,5", 8), (std::vector<int>{0, 1, 2, 5}));
  for (const char* wrong : {"", "3-1", "8", "a", "1,", "-1"}) {
    EXPECT_FALSE(parse_index_list(wrong, 8)) << wrong;
  }
}

}  // namespace
}  // namespace weft::import
