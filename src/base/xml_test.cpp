#include "base/xml.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace weft {
namespace {

std::string fault_of(std::string_view text) {
  try {
    (void)parse_xml(text, "f");
  } catch (const InputError& error) {
    const Diagnostic& d = error.diagnostics().at(0);
    return fmt::format("{}:{} {}", d.where.line, d.where.column, d.what);
  }
  return "none";
}

TEST(Xml, ReadsElementsWithPlaces) {
  const XmlElement root = parse_xml(
      "<?xml version=\"1.0\"?>\n<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n<!-- remark -->\n"
      "<system version='1'>\n  <cpu a=\"&lt;&#65;&#x42;&amp;lt;\" b=\"\"/>\n  "
      "<cpu/>text\n</system>\n",
      "f");
  EXPECT_EQ(root.name, "system");
  EXPECT_EQ(root.where.line, 4);
  EXPECT_EQ(root.where.column, 1);
  EXPECT_EQ(*root.attribute("version"), "1");
  ASSERT_EQ(root.children.size(), 2u);
  EXPECT_EQ(root.children[0].where.column, 3);
  EXPECT_EQ(*root.children[0].attribute("a"), "<AB&lt;");
  EXPECT_EQ(*root.children[0].attribute("b"), "");
  EXPECT_EQ(root.children[0].attribute("c"), nullptr);
  EXPECT_EQ(root.children[1].where.line, 6);
}

TEST(Xml, RefusesWhatIsNotWellFormed) {
  EXPECT_EQ(fault_of("<a>\n<b>\n</a>"), "3:3 start-end tags mismatch");
  EXPECT_EQ(fault_of("<a>\n<b/>\n").substr(0, 2), "3:");
  EXPECT_NE(fault_of("<a><b"), "none");
  EXPECT_NE(fault_of("<a b=1/>"), "none");
  EXPECT_NE(fault_of("<a b=\"1/>"), "none");
  EXPECT_NE(fault_of("<a><!-- </a>"), "none");
  EXPECT_EQ(fault_of(""), "1:1 no element in the file");
  EXPECT_EQ(fault_of("<!-- only -->"), "1:1 no element in the file");
  EXPECT_EQ(fault_of("<a/>\n<b/>").substr(2), "2 a second root element");
  EXPECT_EQ(fault_of("<a/>x"), "1:5 text outside the root element");
  EXPECT_EQ(fault_of("x<a/>"), "1:1 text outside the root element");
  EXPECT_EQ(fault_of("<a x='1' y='2' x='3'/>"), "1:16 attribute 'x' given twice");
  EXPECT_EQ(fault_of("<a x='&foo;'/>"), "1:7 unknown entity '&foo;'");
  EXPECT_EQ(fault_of("<a>&foo;</a>"), "1:4 unknown entity '&foo;'");
  EXPECT_EQ(fault_of("<a x='b & c'/>"), "1:9 a bare '&'");
  EXPECT_EQ(fault_of("<a x='b<c'/>"), "1:8 '<' in the value of attribute 'x'");
  EXPECT_EQ(fault_of("<a x='&b c;'/>"), "1:7 a bare '&'");
  EXPECT_EQ(fault_of("<a x='&#0;'/>"), "1:7 unknown entity '&#0;'");
  EXPECT_EQ(fault_of("<!DOCTYPE a [<!ENTITY x 'y'>]><a/>").substr(0, 2), "1:");
  EXPECT_EQ(fault_of(std::string_view("<a>\0</a>", 8)),
            "1:4 control character 0x00 is not allowed in XML");
  EXPECT_EQ(fault_of("<a>\xff</a>"), "1:4 the file is not UTF-8 text");
}

TEST(Xml, LimitsDepth) {
  const auto nested = [](int depth) {
    std::string text;
    for (int i = 0; i < depth; ++i) text += "<a>";
    for (int i = 0; i < depth; ++i) text += "</a>";
    return text;
  };
  EXPECT_EQ(fault_of(nested(256)), "none");
  EXPECT_EQ(fault_of(nested(257)), "1:769 elements nested deeper than 256");  // 256 * 3 + 1
}

}  // namespace
}  // namespace weft
