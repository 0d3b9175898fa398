// schemas/*.schema.json says what the readers accept: the keys of every mapping are the same in
// both, and every shipped file passes.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "base/json.h"
#include "base/text.h"
#include "base/yaml.h"
#include "import/cluster_yaml.h"
#include "import/server_file.h"
#include "import/shipped_catalogue.h"

namespace weft::import {
namespace {

using Keys = std::set<std::string>;

JsonValue schema(const std::string& name) {
  const std::string path = std::string(WEFT_SOURCE_DIR) + "/schemas/" + name + ".schema.json";
  return parse_json(read_file(path), path);
}

// "" is the file itself, else a definition.
const JsonValue& definition(const JsonValue& root, std::string_view name) {
  return name.empty() ? root : *root.find("definitions")->find(name);
}

Keys schema_keys(const JsonValue& root, std::string_view name) {
  Keys keys;
  for (const auto& [key, value] : definition(root, name).find("properties")->members) {
    keys.insert(key);
  }
  return keys;
}

// A reader that meets the unknown key `qqqqqqqq` answers with all keys it knows there.
Keys keys_known(bool server, const std::string& text) {
  Keys keys;
  try {
    if (server) {
      (void)parse_server_file(text, "f", shipped_catalogue());
    } else {
      (void)parse_cluster(text, "f");
    }
  } catch (const InputError& error) {
    for (const Diagnostic& d : error.diagnostics()) {
      if (d.what.find("'qqqqqqqq'") == std::string::npos) continue;
      EXPECT_TRUE(starts_with(d.hint, "one of: ")) << d.hint;
      const std::string_view listed = std::string_view(d.hint).substr(8);
      for (const std::string_view key : split(listed, ',')) keys.emplace(trim(key));
    }
  }
  return keys;
}

struct Mapping {
  const char* name;                // of the definition
  std::vector<const char*> texts;  // each with an unknown key in such a mapping
};

void expect_same(const char* file, bool server, const std::vector<Mapping>& mappings) {
  const JsonValue root = schema(file);
  for (const Mapping& mapping : mappings) {
    Keys known;
    for (const char* text : mapping.texts) known.merge(keys_known(server, text));
    EXPECT_EQ(known, schema_keys(root, mapping.name)) << file << " " << mapping.name;
  }
}

TEST(Schema, ClusterKeysAreThoseOfTheReader) {
  expect_same("cluster", false,
              {{"", {"qqqqqqqq: 1"}},
               {"server_group", {"servers: [{qqqqqqqq: 1}]"}},
               {"link_figures", {"fabric: {link: {qqqqqqqq: 1}}"}},
               {"switch_figures", {"fabric: {switch: {qqqqqqqq: 1}}"}},
               {"scale_up", {"scale_up: {qqqqqqqq: 1}"}},
               {"drawn_switch", {"switches: [{qqqqqqqq: 1}]"}},
               {"drawn_link", {"links: [{qqqqqqqq: 1}]"}}});
}

TEST(Schema, ServerKeysAreThoseOfTheReader) {
  expect_same("server", true,
              {{"", {"qqqqqqqq: 1"}},
               {"provenance", {"provenance: [{qqqqqqqq: 1}]"}},
               {"numa_node", {"numa_nodes: [{qqqqqqqq: 1}]"}},
               {"host_bridge", {"numa_nodes: [{host_bridges: [{qqqqqqqq: 1}]}]"}},
               {"pcie_device",
                {"numa_nodes: [{host_bridges: [{below: [{gpu: a, qqqqqqqq: 1}]}]}]",
                 "numa_nodes: [{host_bridges: [{below: [{nic: a, qqqqqqqq: 1}]}]}]",
                 "numa_nodes: [{host_bridges: [{below: [{switch: a, qqqqqqqq: 1}]}]}]"}},
               {"inter_socket", {"inter_socket: {qqqqqqqq: 1}"}},
               {"nvlink",
                {"nvlink: [{switches: a, qqqqqqqq: 1}]", "nvlink: [{mesh: '0', qqqqqqqq: 1}]",
                 "nvlink: [{pairs: [], qqqqqqqq: 1}]", "nvlink: [{trunks: [], qqqqqqqq: 1}]"}},
               {"xgmi", {"xgmi: [{mesh: '0', qqqqqqqq: 1}]", "xgmi: [{pairs: [], qqqqqqqq: 1}]"}},
               {"c2c", {"c2c: [{pairs: [], qqqqqqqq: 1}]"}}});
}

// As much of JSON Schema as ours use: $ref, anyOf, properties, required, additionalProperties,
// items, const and enum. The fault, or "" when the node passes.
std::string fault(const YamlNode& node, const JsonValue& rule, const JsonValue& root) {
  if (const JsonValue* ref = rule.find("$ref")) {
    return fault(node, definition(root, ref->text.substr(ref->text.rfind('/') + 1)), root);
  }
  if (const JsonValue* any = rule.find("anyOf")) {
    std::string last;
    for (const JsonValue& option : any->items) {
      last = fault(node, option, root);
      if (last.empty()) return {};
    }
    return last;
  }
  const std::string where = std::to_string(node.where.line) + ": ";
  if (const JsonValue* value = rule.find("const"); value && value->text != node.text) {
    return where + "not " + value->text;
  }
  if (const JsonValue* values = rule.find("enum")) {
    for (const JsonValue& value : values->items) {
      if (value.text == node.text) return {};
    }
    return where + "not one of the words";
  }
  const JsonValue* type = rule.find("type");
  if (type == nullptr) return {};
  if (type->text == "array") {
    if (node.kind != YamlNode::Kind::sequence) return where + "not a list";
    for (const YamlNode& item : node.items) {
      if (std::string f = fault(item, *rule.find("items"), root); !f.empty()) return f;
    }
    return {};
  }
  if (type->text != "object") {
    const bool number = type->text == "integer" || type->text == "number";
    if (node.kind != YamlNode::Kind::scalar) return where + "not a single value";
    return number && !parse_double(node.text) ? where + "not a number" : "";
  }
  if (node.kind != YamlNode::Kind::mapping) return where + "not a mapping";
  for (const auto& [key, value] : node.entries) {
    const JsonValue* next = rule.find("properties")->find(key.text);
    if (next == nullptr) next = rule.find("additionalProperties");
    if (next->kind == JsonValue::Kind::boolean) return where + "unknown key " + key.text;
    if (std::string f = fault(value, *next, root); !f.empty()) return f;
  }
  if (const JsonValue* required = rule.find("required")) {
    for (const JsonValue& key : required->items) {
      if (node.find(key.text) == nullptr) return where + "missing key " + key.text;
    }
  }
  return {};
}

class SchemaOf : public testing::TestWithParam<const char*> {};

TEST_P(SchemaOf, EveryShippedFilePasses) {
  const std::string kind = GetParam();
  const JsonValue root = schema(kind);
  const std::string folder = std::string(WEFT_SOURCE_DIR) + "/data/" + kind + "s";
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string path = entry.path().string();
    if (entry.path().extension() != ".yaml") continue;
    EXPECT_EQ(fault(parse_yaml(read_file(path), path), root, root), "") << path;
    ++count;
  }
  EXPECT_GE(count, 10u);
}

INSTANTIATE_TEST_SUITE_P(All, SchemaOf, testing::Values("cluster", "server"));

}  // namespace
}  // namespace weft::import
