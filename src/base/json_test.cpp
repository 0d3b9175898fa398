#include "base/json.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace weft {
namespace {

std::string fault_of(std::string_view text) {
  try {
    (void)parse_json(text, "f");
  } catch (const InputError& error) {
    const Diagnostic& d = error.diagnostics().at(0);
    return fmt::format("{}:{} {}", d.where.line, d.where.column, d.what);
  }
  return "none";
}

TEST(JsonWriter, KeepsTheOrderWritten) {
  JsonWriter w;
  w.begin_object().member("z", 1).member("a", 0.1).key("list").begin_array().value(true).null();
  w.end_array().key("empty").begin_object().end_object().end_object();
  EXPECT_EQ(w.take(),
            "{\n  \"z\": 1,\n  \"a\": 0.1,\n  \"list\": [\n    true,\n    null\n  ],\n"
            "  \"empty\": {}\n}\n");
}

TEST(JsonWriter, OneLineShortestNumbersAndEscapes) {
  JsonWriter w(0);
  w.begin_array().value(1e300).value(1.0 / 3).value(-0.0).value(
      std::numeric_limits<double>::infinity());
  w.value(std::uint64_t{18446744073709551615u}).value("a\"\\\n\x01带\xff").end_array();
  EXPECT_EQ(w.take(),
            "[1e+300,0.3333333333333333,-0.0,null,18446744073709551615,"
            "\"a\\\"\\\\\\n\\u0001带\xef\xbf\xbd\"]");
}

TEST(JsonWriter, LargeDoublesAreNotWrittenAsIntegers) {
  JsonWriter w(0);
  w.value(123456789012345680000.0);  // more than 2^64
  const std::string text = w.take();
  EXPECT_EQ(text, "1.2345678901234568e+20");
  EXPECT_EQ(parse_json(text, "f").number, 123456789012345680000.0);
}

TEST(JsonWriterDeathTest, MisuseIsOurFault) {
  EXPECT_DEATH(JsonWriter().begin_object().value(1), "CHECK");
  EXPECT_DEATH(JsonWriter().value(1).value(2), "CHECK");
  EXPECT_DEATH(JsonWriter().key("a"), "CHECK");
  EXPECT_DEATH((void)JsonWriter().begin_array().take(), "CHECK");
}

TEST(Json, ReadsATree) {
  const JsonValue root =
      parse_json(R"({"a": [1, -2.5, "x\u00e9\ud83d\ude00", true, null], "b": {}})", "f");
  ASSERT_EQ(root.kind, JsonValue::Kind::object);
  const JsonValue& a = *root.find("a");
  ASSERT_EQ(a.items.size(), 5u);
  EXPECT_TRUE(a.items[0].is_integer);
  EXPECT_EQ(a.items[0].integer, 1);
  EXPECT_EQ(a.items[1].number, -2.5);
  EXPECT_FALSE(a.items[1].is_integer);
  EXPECT_EQ(a.items[2].text, "xé😀");
  EXPECT_TRUE(a.items[3].boolean);
  EXPECT_EQ(a.items[4].kind, JsonValue::Kind::null);
  EXPECT_EQ(root.find("c"), nullptr);
  EXPECT_EQ(parse_json("9007199254740993", "f").integer, 9'007'199'254'740'993);  // 2^53 + 1
}

TEST(Json, FaultsHaveAPlace) {
  EXPECT_EQ(fault_of("{\n  \"a\": 1,\n  \"b\" 2\n}"), "3:7 ':' must stand between key and value");
  EXPECT_EQ(fault_of("{\"a\": 1,}"), "1:9 a key in quotes must stand here");
  EXPECT_EQ(fault_of("[1 2]"), "1:4 ',' or ']' must stand here");
  EXPECT_EQ(fault_of("[1, 2"), "1:6 the file ends inside a list");
  EXPECT_EQ(fault_of("{\"a\": 1, \"\\u0061\": 2}"), "1:10 key 'a' given twice");
  EXPECT_EQ(fault_of("[\"x"), "1:2 a string without its closing quote");
  EXPECT_EQ(fault_of("[01]"), "1:2 not a JSON number");
  EXPECT_EQ(fault_of("[1e400]"), "1:2 a number out of range");
  EXPECT_EQ(fault_of("[18446744073709551616]"), "1:2 a number out of range");
  EXPECT_EQ(fault_of("[NaN]"), "1:2 not a JSON value");
  EXPECT_EQ(fault_of("1 2"), "1:3 text after the end of the value");
  EXPECT_EQ(fault_of("  "), "1:3 the file is empty");
  EXPECT_EQ(fault_of("[\"\xff\"]"), "1:3 the file is not UTF-8 text");
  EXPECT_EQ(fault_of("[\"\\ud800\"]"), "1:3 half a surrogate pair in a string");
  EXPECT_EQ(fault_of(std::string(256, '[') + std::string(256, ']')), "none");
  EXPECT_EQ(fault_of(std::string(257, '[') + std::string(257, ']')),
            "1:257 nested deeper than 256");
}

}  // namespace
}  // namespace weft
