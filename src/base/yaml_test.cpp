#include "base/yaml.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace weft {
namespace {

// "line:column what (hint)" of every fault that `act` throws, one a line.
template <class Act>
std::string faults(Act act) {
  try {
    act();
  } catch (const InputError& error) {
    std::string out;
    for (const Diagnostic& d : error.diagnostics()) {
      out += fmt::format("{}:{} {}", d.where.line, d.where.column, d.what);
      if (!d.hint.empty()) out += fmt::format(" ({})", d.hint);
      out += '\n';
    }
    return out;
  }
  return "none";
}

std::string faults_of(std::string_view text) {
  return faults([&] { (void)parse_yaml(text, "f"); });
}

TEST(Yaml, EveryNodeKnowsItsPlace) {
  const YamlNode root = parse_yaml("a: 1\nb:\n  - x\n  - {c: 'no', d: }\n", "f");
  ASSERT_EQ(root.kind, YamlNode::Kind::mapping);
  EXPECT_EQ(root.find("a")->text, "1");
  EXPECT_EQ(root.find("zz"), nullptr);
  const YamlNode& list = *root.find("b");
  ASSERT_EQ(list.items.size(), 2u);
  EXPECT_EQ(list.items[0].where.line, 3);
  EXPECT_EQ(list.items[0].where.column, 5);
  EXPECT_TRUE(list.items[1].find("c")->quoted);
  EXPECT_EQ(list.items[1].find("d")->kind, YamlNode::Kind::null);
}

TEST(Yaml, ScalarsStayText) {
  const YamlNode root = parse_yaml("country: no\nversion: 1.10\nempty: ~\nword: 'null'\n", "f");
  EXPECT_EQ(root.find("country")->text, "no");
  EXPECT_EQ(root.find("version")->text, "1.10");
  EXPECT_EQ(root.find("empty")->kind, YamlNode::Kind::null);
  EXPECT_EQ(root.find("word")->kind, YamlNode::Kind::scalar);
}

TEST(Yaml, RefusesWhatYamlAllows) {
  EXPECT_EQ(faults_of("a: 1\nb: 2\na: 3\nb: 4\n"),
            "3:1 key 'a' given twice (it is already at line 1)\n"
            "4:1 key 'b' given twice (it is already at line 2)\n");
  EXPECT_EQ(faults_of("a: !!int 1\n"),
            "1:4 tag 'tag:yaml.org,2002:int' is not accepted (write the value without a tag)\n");
  EXPECT_EQ(faults_of("a: *x\n"),
            "1:4 unknown anchor '*x' (an anchor is defined with '&name' before it is used)\n");
  EXPECT_EQ(faults_of("a: &x [*x]\n").substr(0, 23), "1:8 unknown anchor '*x'");
  EXPECT_EQ(faults_of("--- 1\n--- 2\n"),
            "2:1 a second document in the file (keep one document a file)\n");
  EXPECT_EQ(faults_of("base: &b {x: 1}\nc: {<<: *b}\n"),
            "2:5 merge keys ('<<') are not accepted (write the keys out)\n");
  EXPECT_EQ(faults_of("{a: 1}: 2\n").substr(0, 29), "1:1 a key must be plain text ");
  EXPECT_EQ(faults_of(""), "1:1 the file is empty (write at least 'key: value')\n");
  EXPECT_EQ(faults_of("# only a remark\n"),
            "1:1 the file is empty (write at least 'key: value')\n");
}

TEST(Yaml, BadSyntaxHasAPlace) {
  EXPECT_EQ(faults_of("a: [1, 2\nb: 3\n").substr(0, 4), "2:2 ");
  EXPECT_EQ(faults_of("a: 1\n\tb: 2\n").substr(0, 4), "2:1 ");
  EXPECT_EQ(faults_of("a: \"\xff\"\n").substr(0, 4), "1:5 ");
}

TEST(Yaml, LimitsDepthAndAliases) {
  EXPECT_EQ(faults_of(std::string(64, '[') + std::string(64, ']')), "none");
  EXPECT_EQ(faults_of(std::string(65, '[') + std::string(65, ']')), "1:65 nested deeper than 64\n");
  std::string doubling = "a0: &a0 [x, x]\n";
  for (int i = 1; i < 40; ++i) doubling += fmt::format("a{0}: &a{0} [*a{1}, *a{1}]\n", i, i - 1);
  EXPECT_NE(faults_of(doubling).find("aliases expand to more than 1000000"), std::string::npos);
  std::string many = "a: &a x\nb: [";
  for (int i = 0; i <= 1000; ++i) many += "*a, ";
  EXPECT_NE(faults_of(many + "]").find("more than 1000 aliases"), std::string::npos);
}

TEST(Yaml, AnAliasIsACopyAtItsOwnPlace) {
  const YamlNode root = parse_yaml("a: &x {n: 1}\nb: *x\n", "f");
  EXPECT_EQ(root.find("b")->where.line, 2);
  EXPECT_EQ(root.find("b")->find("n")->where.line, 1);
}

// Reads a link as an importer would.
std::string link_faults(std::string_view text) {
  return faults([&] {
    const YamlNode root = parse_yaml(text, "f");
    Diagnostics diagnostics;
    Fields fields(root, "link", diagnostics);
    (void)fields.required_rate("bandwidth");
    (void)fields.optional_duration("latency");
    (void)fields.optional_bytes("buffer");
    (void)fields.optional_length_m("length");
    (void)fields.optional_int("lanes", 1, 16);
    (void)fields.optional_double("loss", 0, 1);
    (void)fields.optional_bool("up");
    (void)fields.optional_choice("kind", {"pcie", "ethernet"});
    (void)fields.optional_string("name");
    (void)fields.optional_list("ends");
    fields.finish();
    diagnostics.throw_if_any(text);
  });
}

TEST(Fields, AcceptsAGoodMapping) {
  EXPECT_EQ(link_faults("bandwidth: 400Gbps\nlatency: 1.5us\nbuffer: 2MiB\nlength: 30m\n"
                        "lanes: 16\nloss: 0.5\nup: true\nkind: pcie\nname: x\nends: [a, b]\n"),
            "none");
}

TEST(Fields, UnknownKeysGetASuggestion) {
  EXPECT_EQ(link_faults("bandwith: 400Gbps\n"),
            "1:1 link has no 'bandwidth' (add 'bandwidth:')\n"
            "1:1 unknown key 'bandwith' in link (did you mean 'bandwidth'?)\n");
}

TEST(Fields, BareNumbersNeedAUnit) {
  EXPECT_EQ(link_faults("bandwidth: 400\nlatency: 3\nbuffer: 64\nlength: 30\n"),
            "1:12 bandwidth needs a unit (write 400Gbps (bits) or 400GB/s (bytes))\n"
            "2:10 latency needs a unit (write 3ns, 3us or 3ms)\n"
            "3:9 buffer needs a unit (write 64B, 64KiB (1024) or 64kB (1000))\n"
            "4:9 length needs a unit (write 30m or 30km)\n");
}

TEST(Fields, ReportsEveryFaultOfAMapping) {
  EXPECT_EQ(link_faults("bandwidth: fast\nlanes: 32\nloss: many\nup: yes\nkind: pci\nname: [x]\n"
                        "ends: 3\n"),
            "1:12 bandwidth 'fast' is not a rate (write for example 400Gbps or 50GB/s)\n"
            "2:8 lanes 32 is outside 1 to 16 (write a value within that range)\n"
            "3:7 loss 'many' is not a number (write a number from 0 to 1)\n"
            "4:5 up 'yes' is neither true nor false (write true or false)\n"
            "5:7 unknown kind 'pci' (did you mean 'pcie'?)\n"
            "6:7 name is a list, not text (write one value after 'name:')\n"
            "7:7 ends is a single value, not a list (write '- item' lines or [a, b])\n");
  EXPECT_EQ(link_faults("bandwidth: 1Gbps\nlanes: '8'\nname:\n"),
            "2:8 lanes is text in quotes, not a whole number (remove the quotes)\n"
            "3:6 name is empty, not text (write one value after 'name:')\n");
  EXPECT_EQ(link_faults("bandwidth: 0Gbps\n"),
            "1:12 bandwidth must be more than zero (write for example 400Gbps)\n");
}

TEST(Fields, NotAMappingIsReportedOnce) {
  EXPECT_EQ(link_faults("[1, 2]\n"),
            "1:1 link is a list, not a mapping (write it as 'key: value' lines)\n");
}

}  // namespace
}  // namespace weft
