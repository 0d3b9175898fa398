// Any bytes through parse_json. What it accepts, the explainer of faults must accept too, and the
// other way round; what was read, written and read again must be the same.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "base/json.h"
#include "base/json_fault.h"
#include "base/text.h"

namespace {

using weft::JsonValue;

void write(const JsonValue& from, weft::JsonWriter& out) {
  switch (from.kind) {
    case JsonValue::Kind::null:
      out.null();
      break;
    case JsonValue::Kind::boolean:
      out.value(from.boolean);
      break;
    case JsonValue::Kind::number:
      from.is_integer ? out.value(from.integer) : out.value(from.number);
      break;
    case JsonValue::Kind::string:
      out.value(from.text);
      break;
    case JsonValue::Kind::array:
      out.begin_array();
      for (const JsonValue& item : from.items) write(item, out);
      out.end_array();
      break;
    case JsonValue::Kind::object:
      out.begin_object();
      for (const auto& [key, value] : from.members) write(value, out.key(key));
      out.end_object();
      break;
  }
}

std::string written(const JsonValue& value) {
  weft::JsonWriter out(0);
  write(value, out);
  return out.take();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (text.starts_with("\xef\xbb\xbf"))
    return 0;  // parse_json takes the mark off, the explainer does not
  try {
    const std::string once = written(weft::parse_json(text, "input.json"));
    CHECK(!weft::find_json_fault(text));
    CHECK(written(weft::parse_json(once, "again.json")) == once);
  } catch (const weft::InputError& error) {
    CHECK(error.diagnostics().at(0).where.line >= 1);
    CHECK(weft::find_invalid_utf8(text) || weft::find_json_fault(text));
    CHECK(!weft::render(error).empty());
  }
  return 0;
}
