#include "base/json_fault.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <set>

#include "base/text.h"

namespace weft {

namespace {

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  void document() {
    skip_blank();
    if (at_end()) fail("the file is empty");
    value(1);
    skip_blank();
    if (!at_end()) fail("text after the end of the value");
  }

 private:
  [[noreturn]] void fail(std::string what) { throw JsonFault{at_, std::move(what)}; }
  [[noreturn]] void fail_at(std::size_t offset, std::string what) {
    throw JsonFault{offset, std::move(what)};
  }

  [[nodiscard]] bool at_end() const { return at_ == text_.size(); }
  [[nodiscard]] char peek() const { return at_end() ? '\0' : text_[at_]; }
  [[nodiscard]] bool digit() const { return peek() >= '0' && peek() <= '9'; }

  bool accept(char c) {
    if (at_end() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  void skip_blank() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }

  void value(int depth) {
    const char c = peek();
    if (c == '{') return object(depth);
    if (c == '[') return array(depth);
    if (c == '"') return void(string());
    if (c == '-' || digit()) return number();
    for (const std::string_view word : {"true", "false", "null"}) {
      if (text_.substr(at_, word.size()) != word) continue;
      at_ += word.size();
      return;
    }
    fail(at_end() ? "the file ends where a value should stand" : "not a JSON value");
  }

  void check_depth(int depth) {
    if (depth > kMaxJsonDepth) fail(fmt::format("nested deeper than {}", kMaxJsonDepth));
  }

  void object(int depth) {
    check_depth(depth);
    ++at_;
    skip_blank();
    if (accept('}')) return;
    std::set<std::string> keys;
    while (true) {
      const std::size_t start = at_;
      if (peek() != '"')
        fail(at_end() ? "the file ends inside an object" : "a key in quotes must stand here");
      const std::string key = string();
      if (!keys.insert(key).second) fail_at(start, fmt::format("key '{}' given twice", key));
      skip_blank();
      if (!accept(':')) fail("':' must stand between key and value");
      skip_blank();
      value(depth + 1);
      skip_blank();
      if (accept('}')) return;
      if (!accept(','))
        fail(at_end() ? "the file ends inside an object" : "',' or '}' must stand here");
      skip_blank();
    }
  }

  void array(int depth) {
    check_depth(depth);
    ++at_;
    skip_blank();
    if (accept(']')) return;
    while (true) {
      value(depth + 1);
      skip_blank();
      if (accept(']')) return;
      if (!accept(','))
        fail(at_end() ? "the file ends inside a list" : "',' or ']' must stand here");
      skip_blank();
    }
  }

  void number() {
    const std::size_t start = at_;
    accept('-');
    if (!accept('0')) digits();
    bool integer = true;
    if (accept('.')) {
      integer = false;
      digits();
    }
    if (accept('e') || accept('E')) {
      integer = false;
      if (!accept('+')) accept('-');
      digits();
    }
    const std::string_view text = text_.substr(start, at_ - start);
    const bool negative = text.front() == '-';
    if (integer ? !fits<std::int64_t>(text) && (negative || !fits<std::uint64_t>(text))
                : too_large(text)) {
      fail_at(start, "a number out of range");
    }
    // What may follow a value is checked by the caller, but "01" and "1x" read better as this.
    if (digit() ||
        std::string_view("+-.abcdefghijklmnopqrstuvwxyz").find(peek()) != std::string_view::npos) {
      fail_at(start, "not a JSON number");
    }
  }

  void digits() {
    if (!digit()) fail("a digit must stand here");
    while (digit()) ++at_;
  }

  template <class T>
  static bool fits(std::string_view text) {
    T value{};
    return std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc{};
  }

  // from_chars reports both overflow and underflow as out of range; only the first is a fault.
  static bool too_large(std::string_view text) {
    double value = 0;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
    if (result.ec == std::errc{}) return std::isinf(value);
    const std::size_t e = text.find_first_of("eE");
    return e == std::string_view::npos || text[e + 1] != '-';
  }

  std::string string() {
    std::string out;
    const std::size_t start = at_++;
    while (!accept('"')) {
      if (at_end()) fail_at(start, "a string without its closing quote");
      const char c = text_[at_];
      if (static_cast<unsigned char>(c) < 0x20) fail("a control character inside a string");
      ++at_;
      if (c == '\\') {
        escape(out);
      } else {
        out += c;
      }
    }
    return out;
  }

  void escape(std::string& out) {
    static constexpr std::string_view kNames = "\"\\/bfnrt";
    static constexpr std::string_view kMeaning = "\"\\/\b\f\n\r\t";
    const char c = peek();
    if (const auto i = kNames.find(c); i != std::string_view::npos && !at_end()) {
      ++at_;
      out += kMeaning[i];
      return;
    }
    const std::size_t start = at_ - 1;
    if (!accept('u')) fail_at(start, "an unknown escape in a string");
    char32_t code = four_digits(start);
    if (code >= 0xd800 && code <= 0xdfff) {
      const bool high = code < 0xdc00 && accept('\\') && accept('u');
      const char32_t low = high ? four_digits(start) : 0;
      if (low < 0xdc00 || low > 0xdfff) fail_at(start, "half a surrogate pair in a string");
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    append_utf8(out, code);
  }

  char32_t four_digits(std::size_t start) {
    const std::string_view text = text_.substr(at_, 4);
    const bool good = text.size() == 4 &&
                      text.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
    if (!good) fail_at(start, "\\u needs four hexadecimal digits");
    at_ += 4;
    return static_cast<char32_t>(*parse_hex(text));
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::optional<JsonFault> find_json_fault(std::string_view text) {
  try {
    Scanner(text).document();
  } catch (JsonFault& fault) {
    return std::move(fault);
  }
  return std::nullopt;
}

}  // namespace weft
