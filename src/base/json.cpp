// The only file that includes simdjson.
#include "base/json.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>

#include "base/check.h"
#include "base/json_fault.h"
#include "base/text.h"

namespace weft {

namespace {

using simdjson::dom::element;
using simdjson::dom::element_type;

[[noreturn]] void fail(std::string_view text, std::size_t offset, const std::string& file,
                       std::string what, std::string hint = {}) {
  Diagnostics diagnostics;
  diagnostics.add(position_at(text, offset, file), std::move(what), std::move(hint));
  diagnostics.throw_all(text);
}

bool has_duplicate(const JsonValue& object) {
  std::vector<std::string_view> keys;
  keys.reserve(object.members.size());
  for (const auto& [key, value] : object.members) keys.push_back(key);
  std::sort(keys.begin(), keys.end());
  return std::adjacent_find(keys.begin(), keys.end()) != keys.end();
}

class Builder {
 public:
  JsonValue build(const element& from) {
    JsonValue out;
    switch (from.type()) {
      case element_type::ARRAY:
        out.kind = JsonValue::Kind::array;
        for (const element item : simdjson::dom::array(from)) out.items.push_back(build(item));
        break;
      case element_type::OBJECT:
        out.kind = JsonValue::Kind::object;
        for (const auto field : simdjson::dom::object(from)) {
          out.members.emplace_back(std::string(field.key), build(field.value));
        }
        duplicate_ = duplicate_ || has_duplicate(out);
        break;
      case element_type::STRING:
        out.kind = JsonValue::Kind::string;
        out.text = std::string_view(from);
        break;
      case element_type::BOOL:
        out.kind = JsonValue::Kind::boolean;
        out.boolean = bool(from);
        break;
      case element_type::NULL_VALUE:
        break;
      default:
        number(from, out);
    }
    return out;
  }

  [[nodiscard]] bool duplicate() const { return duplicate_; }

 private:
  static void number(const element& from, JsonValue& out) {
    out.kind = JsonValue::Kind::number;
    out.is_integer = from.is_int64();
    if (out.is_integer) {
      out.integer = std::int64_t(from);
      out.number = static_cast<double>(out.integer);
    } else if (from.is_uint64()) {
      out.number = static_cast<double>(std::uint64_t(from));
    } else {
      out.number = double(from);
    }
  }

  bool duplicate_ = false;
};

}  // namespace

JsonValue::JsonValue() = default;
JsonValue::JsonValue(const JsonValue&) = default;
JsonValue::JsonValue(JsonValue&&) noexcept = default;
JsonValue& JsonValue::operator=(const JsonValue&) = default;
JsonValue& JsonValue::operator=(JsonValue&&) noexcept = default;
JsonValue::~JsonValue() = default;

const JsonValue* JsonValue::find(std::string_view key) const {
  for (const auto& [name, value] : members) {
    if (name == key) return &value;
  }
  return nullptr;
}

JsonValue parse_json(std::string_view text, const std::string& file) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  if (const auto bad = find_invalid_utf8(text)) {
    fail(text, *bad, file, "the file is not UTF-8 text", "save it as UTF-8");
  }
  simdjson::dom::parser parser;
  element root;
  simdjson::error_code error =
      parser.allocate(std::max<std::size_t>(text.size(), 64), kMaxJsonDepth);
  if (!error) error = parser.parse(text.data(), text.size()).get(root);
  Builder builder;
  JsonValue tree;
  if (!error) tree = builder.build(root);
  if (!error && !builder.duplicate()) return tree;
  if (const auto fault = find_json_fault(text)) fail(text, fault->offset, file, fault->what);
  throw InputError({file, 0, 0}, simdjson::error_message(error));
}

}  // namespace weft
