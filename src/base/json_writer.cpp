// JsonWriter of base/json.h.
#include <array>
#include <charconv>
#include <cmath>

#include "base/check.h"
#include "base/json.h"
#include "base/text.h"

namespace weft {

namespace {

void append_number(std::string& out, auto number, auto... format) {
  std::array<char, 32> buffer;
  const auto result =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), number, format...);
  out.append(buffer.data(), result.ptr);
}

void append_quoted(std::string& out, std::string_view text) {
  static constexpr std::string_view kHex = "0123456789abcdef";
  out += '"';
  for (std::size_t i = 0; i < text.size();) {
    const CodePoint c = code_point_at(text, i);
    if (c.value == '"' || c.value == '\\') {
      out += {'\\', text[i]};
    } else if (c.value == '\n') {
      out += "\\n";
    } else if (c.value == '\t') {
      out += "\\t";
    } else if (c.value < 0x20) {
      out += {'\\', 'u', '0', '0', kHex[c.value >> 4], kHex[c.value & 15]};
    } else if (c.value == 0xfffd) {
      out += "\xef\xbf\xbd";  // a malformed byte becomes U+FFFD, so that what is written is JSON
    } else {
      out += text.substr(i, c.bytes);
    }
    i += c.bytes;
  }
  out += '"';
}

}  // namespace

void JsonWriter::newline() {
  if (indent_ == 0) return;
  out_ += '\n';
  out_.append(levels_.size() * static_cast<std::size_t>(indent_), ' ');
}

// Commas and line breaks before a key or an item; checks that one may stand here.
void JsonWriter::before_value() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (levels_.empty()) {
    CHECK(out_.empty());  // a second root
    return;
  }
  CHECK(!levels_.back().is_object);  // a value without its key
  if (!levels_.back().empty) out_ += ',';
  levels_.back().empty = false;
  newline();
}

JsonWriter& JsonWriter::begin_object() {
  before_value();
  out_ += '{';
  levels_.push_back({true, true});
  return *this;
}

JsonWriter& JsonWriter::begin_array() {
  before_value();
  out_ += '[';
  levels_.push_back({false, true});
  return *this;
}

JsonWriter& JsonWriter::end_object() {
  CHECK(!levels_.empty() && levels_.back().is_object && !after_key_);
  const bool empty = levels_.back().empty;
  levels_.pop_back();
  if (!empty) newline();
  out_ += '}';
  return *this;
}

JsonWriter& JsonWriter::end_array() {
  CHECK(!levels_.empty() && !levels_.back().is_object);
  const bool empty = levels_.back().empty;
  levels_.pop_back();
  if (!empty) newline();
  out_ += ']';
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  CHECK(!levels_.empty() && levels_.back().is_object && !after_key_);
  if (!levels_.back().empty) out_ += ',';
  levels_.back().empty = false;
  newline();
  append_quoted(out_, name);
  out_ += indent_ > 0 ? ": " : ":";
  after_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::value(std::string_view text) {
  before_value();
  append_quoted(out_, text);
  return *this;
}

JsonWriter& JsonWriter::value(double number) {
  if (!std::isfinite(number)) return null();
  before_value();
  if (number == 0 && std::signbit(number)) {
    out_ += "-0.0";  // "-0" would be read back as the integer 0
  } else if (std::abs(number) >= 0x1p53) {
    // Else 123456789012345680000 would be written as an integer, which few readers can hold.
    append_number(out_, number, std::chars_format::scientific);
  } else {
    append_number(out_, number);
  }
  return *this;
}

JsonWriter& JsonWriter::value(std::int64_t number) {
  before_value();
  append_number(out_, number);
  return *this;
}

JsonWriter& JsonWriter::value(std::uint64_t number) {
  before_value();
  append_number(out_, number);
  return *this;
}

JsonWriter& JsonWriter::value(bool flag) {
  before_value();
  out_ += flag ? "true" : "false";
  return *this;
}

JsonWriter& JsonWriter::raw(std::string_view json) {
  before_value();
  out_ += json;
  return *this;
}

JsonWriter& JsonWriter::null() {
  before_value();
  out_ += "null";
  return *this;
}

std::string JsonWriter::take() {
  CHECK(levels_.empty() && !after_key_ && !out_.empty());
  if (indent_ > 0) out_ += '\n';
  std::string finished = std::move(out_);
  out_.clear();
  return finished;
}

}  // namespace weft
