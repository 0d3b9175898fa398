// Properties of the readers and printers over random input. A failure prints a RC_PARAMS line that
// replays it.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <cmath>

#include "base/json.h"
#include "base/json_fault.h"
#include "base/text.h"
#include "base/units.h"
#include "base/yaml.h"

namespace weft {
namespace {

// A non-negative number of any magnitude.
rc::Gen<std::int64_t> magnitude() {
  return rc::gen::map(rc::gen::pair(rc::gen::arbitrary<std::uint64_t>(), rc::gen::inRange(1, 64)),
                      [](const auto& p) { return static_cast<std::int64_t>(p.first >> p.second); });
}

// Three significant digits: half a unit of the third is at most 0.5 % of the value.
bool near(std::int64_t exact, std::int64_t read) {
  return std::abs(static_cast<double>(exact) - static_cast<double>(read)) <=
         0.005 * static_cast<double>(exact) + 0.5;
}

RC_GTEST_PROP(UnitProperties, WhatIsPrintedIsReadBack, ()) {
  const std::int64_t n = *magnitude();
  const auto duration = parse_duration(to_text(Duration::picoseconds(n)));
  const auto bytes = parse_bytes(to_text(Bytes(n)));
  const auto bits = parse_bit_rate(to_text(BitRate::bits_per_second(n)));
  // 2^63 - 1 prints as a rounded-up number that no longer fits, so stay 1 % below.
  RC_PRE(n < INT64_MAX / 100 * 99);
  RC_ASSERT(duration && near(n, duration->ps()));
  RC_ASSERT(bytes && near(n, bytes->count()));
  RC_ASSERT(bits && near(n, bits->bps()));
  const auto in_bytes = parse_bit_rate(to_text_bytes(BitRate::bits_per_second(n)));
  RC_ASSERT(in_bytes && (n < 800 || near(n, in_bytes->bps())));
}

RC_GTEST_PROP(UnitProperties, WholeNumbersAreExact, ()) {
  const std::int64_t n = *magnitude();
  RC_ASSERT(parse_duration(fmt::format("{}ps", n)) == Duration::picoseconds(n));
  RC_ASSERT(parse_bytes(fmt::format("{} B", n)) == Bytes(n));
  RC_ASSERT(parse_bit_rate(fmt::format("{}bps", n)) == BitRate::bits_per_second(n));
  RC_ASSERT(parse_bytes(fmt::format("{}MiB", n >> 21)) == Bytes::mib(n >> 21));
  const auto micro = fmt::format("{}.{:06}us", n / 1'000'000, n % 1'000'000);
  RC_ASSERT(parse_duration(micro) == Duration::picoseconds(n));
}

RC_GTEST_PROP(UnitProperties, SerializationTimeIsTheSmallestThatSuffices, ()) {
  const auto size = Bytes(*magnitude() >> 24);
  const auto rate = BitRate::bits_per_second((*magnitude() >> 20) + 1);
  const Duration time = serialization_time(size, rate);
  RC_PRE(time != Duration::max());
  // bits * 10^12 <= time * rate < bits * 10^12 + rate, all below 2^127.
  __extension__ using Wide = __int128;
  const Wide needed = static_cast<Wide>(size.bits()) * 1'000'000'000'000;
  const Wide carried = static_cast<Wide>(time.ps()) * rate.bps();
  RC_ASSERT(carried >= needed);
  RC_ASSERT(carried < needed + rate.bps());
}

RC_GTEST_PROP(UnitProperties, ScalingAgreesWithLongDouble, ()) {
  const std::int64_t n = *magnitude();
  const double factor = *rc::gen::inRange(0, 1'000'000) / 999'999.0;
  const long double exact = static_cast<long double>(n) * factor;
  const auto got = static_cast<long double>(Duration::picoseconds(n).scaled(factor).ps());
  RC_ASSERT(std::abs(got - exact) <= 0.5L + exact * 0x1p-62L);  // long double keeps 64 bits
}

// A random JSON value: numbers, strings of any bytes, lists and objects, three deep.
void write_random(JsonWriter& out, int depth) {
  switch (*rc::gen::inRange(0, depth > 0 ? 7 : 5)) {
    case 0:
      out.null();
      return;
    case 1:
      out.value(*rc::gen::arbitrary<bool>());
      return;
    case 2:
      out.value(*rc::gen::arbitrary<std::int64_t>());
      return;
    case 3:
      out.value(std::bit_cast<double>(*rc::gen::arbitrary<std::uint64_t>()));
      return;
    case 4:
      out.value(*rc::gen::arbitrary<std::string>());
      return;
    case 5:
      out.begin_array();
      for (int n = *rc::gen::inRange(0, 4); n > 0; --n) write_random(out, depth - 1);
      out.end_array();
      return;
    default:
      out.begin_object();
      for (int n = *rc::gen::inRange(0, 4); n > 0; --n) {
        out.key(fmt::format("{}{}", n, *rc::gen::arbitrary<std::string>()));
        write_random(out, depth - 1);
      }
      out.end_object();
  }
}

void copy(const JsonValue& from, JsonWriter& out) {
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
      for (const JsonValue& item : from.items) copy(item, out);
      out.end_array();
      break;
    case JsonValue::Kind::object:
      out.begin_object();
      for (const auto& [key, value] : from.members) copy(value, out.key(key));
      out.end_object();
      break;
  }
}

RC_GTEST_PROP(JsonProperties, WhatIsWrittenIsReadBackToTheBit, ()) {
  const int indent = *rc::gen::inRange(0, 3);
  JsonWriter first(indent);
  write_random(first, 3);
  const std::string text = first.take();
  RC_ASSERT(!find_json_fault(text));
  JsonWriter second(indent);
  copy(parse_json(text, "f"), second);
  const std::string again = second.take();
  // A double without fraction is written as an integer ("5e+20" is not), read as one, and so the
  // text is the same whichever it was.
  RC_ASSERT(again == text);
}

// simdjson judges, find_json_fault explains: they must agree on what is JSON.
RC_GTEST_PROP(JsonProperties, TheExplainerAgreesWithTheParser, ()) {
  JsonWriter writer(0);
  write_random(writer, 2);
  std::string text = writer.take();
  const auto at = *rc::gen::inRange<std::size_t>(0, text.size());
  const char put = *rc::gen::elementOf(std::string("{}[]\",:\\0123.eE+-tfn/ \n\x01u"));
  switch (*rc::gen::inRange(0, 3)) {
    case 0:
      text[at] = put;
      break;
    case 1:
      text.insert(at, 1, put);
      break;
    default:
      text.erase(at, 1);
  }
  RC_PRE(!find_invalid_utf8(text));
  bool accepted = true;
  try {
    (void)parse_json(text, "f");
  } catch (const InputError& error) {
    accepted = false;
    RC_ASSERT(error.diagnostics().at(0).where.line > 0);
  }
  RC_ASSERT(accepted == !find_json_fault(text));
}

std::string random_scalar() {
  return *rc::gen::element<std::string>("400", "400Gbps", "1.5us", "2MiB", "30m", "true", "x", "~",
                                        "'8'", "[a, b]", "{a: 1}", "-1", "1e99", "''", "|\n  t");
}

// Whatever a mapping holds, a getter returns and the fault has a place within the text.
RC_GTEST_PROP(FieldsProperties, NoMappingBreaksTheGetters, ()) {
  std::string text;
  for (const std::string key : {"a", "b", "c", "d", "e"}) {
    if (*rc::gen::arbitrary<bool>()) text += key + ": " + random_scalar() + "\n";
  }
  const YamlNode root = parse_yaml(text + "last: 1\n", "f");
  Diagnostics diagnostics;
  Fields fields(root, "thing", diagnostics);
  for (const std::string key : {"a", "b", "c", "d"}) {
    switch (*rc::gen::inRange(0, 10)) {
      case 0:
        RC_ASSERT(fields.required_rate(key).bps() > 0);
        break;
      case 1:
        fields.optional_duration(key);
        break;
      case 2:
        fields.optional_bytes(key);
        break;
      case 3:
        fields.optional_length_m(key);
        break;
      case 4: {
        const auto n = fields.required_int(key, 1, 500);
        RC_ASSERT(n >= 1 && n <= 500);
        break;
      }
      case 5:
        fields.optional_double(key, 0, 1);
        break;
      case 6:
        fields.optional_bool(key);
        break;
      case 7:
        fields.optional_choice(key, {"x", "y"});
        break;
      case 8:
        fields.optional_list(key);
        break;
      default:
        fields.required_string(key);
    }
  }
  fields.finish();
  RC_ASSERT(diagnostics.size() >= 1);  // 'last' is known to nobody
  try {
    diagnostics.throw_if_any(text);
  } catch (const InputError& error) {
    for (const Diagnostic& d : error.diagnostics()) RC_ASSERT(d.where.line >= 1);
  }
}

}  // namespace
}  // namespace weft
