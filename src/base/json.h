// JSON out: a streaming writer with deterministic key order (the order written) and shortest
// round-trip numbers. JSON in: a small tree read with simdjson, errors with line and column.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/errors.h"

namespace weft {

// Writes one JSON value. Misuse (a key outside an object, two roots) is a CHECK.
class JsonWriter {
 public:
  explicit JsonWriter(int indent = 2) : indent_(indent) {}  // 0: one line

  JsonWriter& begin_object();
  JsonWriter& end_object();
  JsonWriter& begin_array();
  JsonWriter& end_array();
  JsonWriter& key(std::string_view name);
  JsonWriter& value(std::string_view text);
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(double number);  // NaN and infinities become null
  JsonWriter& value(std::int64_t number);
  JsonWriter& value(std::uint64_t number);
  JsonWriter& value(int number) { return value(static_cast<std::int64_t>(number)); }
  JsonWriter& value(unsigned number) { return value(static_cast<std::uint64_t>(number)); }
  JsonWriter& value(bool flag);
  JsonWriter& null();
  JsonWriter& raw(std::string_view json);  // a finished JSON value, put in as it is
  template <class T>
  JsonWriter& member(std::string_view name, const T& v) {
    key(name);
    return value(v);
  }

  // The finished text, with a final newline when indented. REQUIRES every begin to be ended.
  [[nodiscard]] std::string take();

 private:
  void before_value();
  void newline();

  struct Level {
    bool is_object = false;
    bool empty = true;
  };
  std::string out_;
  std::vector<Level> levels_;
  int indent_;
  bool after_key_ = false;
};

struct JsonValue {
  enum class Kind { null, boolean, number, string, array, object };
  Kind kind = Kind::null;
  bool boolean = false;
  double number = 0;         // any number, to the nearest double
  bool is_integer = false;   // written without fraction or exponent and within int64
  std::int64_t integer = 0;  // that number exactly
  std::string text;
  std::vector<JsonValue> items;
  std::vector<std::pair<std::string, JsonValue>> members;

  // Defined in the .cpp: clang would else ask for the destructor of a vector of an incomplete pair.
  JsonValue();
  JsonValue(const JsonValue&);
  JsonValue(JsonValue&&) noexcept;
  JsonValue& operator=(const JsonValue&);
  JsonValue& operator=(JsonValue&&) noexcept;
  ~JsonValue();

  [[nodiscard]] const JsonValue* find(std::string_view key) const;  // nullptr when absent
};

// Throws InputError with the line and column of the fault. Stricter than JSON in two ways: a key
// twice in one object and nesting over 256 are errors.
JsonValue parse_json(std::string_view text, const std::string& file);

}  // namespace weft
