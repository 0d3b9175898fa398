// Any bytes through parse_yaml; every mapping of what comes out through every getter of Fields.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "base/yaml.h"

namespace {

using weft::YamlNode;

void take_apart(const YamlNode& mapping, weft::Diagnostics& diagnostics) {
  weft::Fields fields(mapping, "thing", diagnostics);
  int turn = 0;
  for (const auto& [key, value] : mapping.entries) {
    const std::string& k = key.text;
    CHECK(fields.required_rate(k).bps() > 0);
    (void)fields.optional_duration(k);
    (void)fields.optional_bytes(k);
    (void)fields.optional_length_m(k);
    (void)fields.required_int(k, -5, 5);
    (void)fields.optional_double(k, 0, 1);
    (void)fields.optional_bool(k);
    (void)fields.optional_choice(k, {"rail", "leaf_spine"});
    (void)fields.required_string(k);
    (void)fields.optional_list(k);
    CHECK(fields.where_of(k).line >= 1);
    if (++turn == 2) break;  // the other keys are unknown to finish()
  }
  fields.finish();
}

void visit(const YamlNode& node, weft::Diagnostics& diagnostics, int& left) {
  if (--left < 0) return;  // aliases can make a small text a large tree
  CHECK(node.where.line >= 1 && node.where.column >= 1);
  take_apart(node, diagnostics);
  for (const YamlNode& item : node.items) visit(item, diagnostics, left);
  for (const auto& [key, value] : node.entries) visit(value, diagnostics, left);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    const YamlNode root = weft::parse_yaml(text, "input.yaml");
    weft::Diagnostics diagnostics;
    int left = 200;
    visit(root, diagnostics, left);
    diagnostics.throw_if_any(text);
  } catch (const weft::InputError& error) {
    CHECK(!error.diagnostics().empty());
    CHECK(!weft::render(error).empty());
  }
  return 0;
}
