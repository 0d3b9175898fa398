// One JSON object a line, as rccl-tests writes with -Z json: name, size, type, redop, inPlace,
// time, algBw, busBw, #wrong, gpus. The in-place line of a size is joined to its out-of-place line.
#include <algorithm>

#include "base/json.h"
#include "base/text.h"
#include "measured/lines.h"
#include "measured/measured.h"

namespace weft::measured {
namespace {

double number_of(const JsonValue& object, std::string_view key) {
  const JsonValue* value = object.find(key);
  if (value == nullptr) return 0;
  if (value->kind == JsonValue::Kind::number) return value->number;
  return parse_double(value->text).value_or(0);
}

class RcclJsonLinesReader final : public Reader {
 public:
  [[nodiscard]] std::string_view name() const override { return "rccl_json_lines"; }
  [[nodiscard]] std::string_view summary() const override { return "JSON lines of rccl-tests"; }
  [[nodiscard]] bool recognises(std::string_view text) const override {
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    return first != std::string_view::npos && text[first] == '{' &&
           text.find("\"busBw\"") != std::string_view::npos;
  }
  [[nodiscard]] Table read(std::string_view text, const std::string& file) const override {
    Table table;
    table.format = name();
    for (const Line& line : lines_of(text)) {
      if (!trim(line.text).starts_with('{')) continue;
      add(table, parse_line(line, file), line.number);
    }
    return table;
  }

 private:
  // A fault is reported at its line of the whole file.
  static JsonValue parse_line(const Line& line, const std::string& file) {
    try {
      return parse_json(line.text, file);
    } catch (const InputError& error) {
      std::vector<Diagnostic> moved = error.diagnostics();
      for (Diagnostic& diagnostic : moved) diagnostic.where.line = line.number;
      throw InputError(std::move(moved));
    }
  }

  static void add(Table& table, const JsonValue& entry, int line) {
    const JsonValue* test = entry.find("name");
    if (test != nullptr && table.test.empty()) {
      table.test = test->text;
      table.kind = work::parse_collective(to_lower(test->text));
    }
    table.ranks = static_cast<int>(std::clamp(number_of(entry, "gpus"), 0.0, 1e9));
    const Bytes size(whole_number(number_of(entry, "size")));
    const bool in_place = number_of(entry, "inPlace") != 0;
    if (in_place && !table.rows.empty() && table.rows.back().size == size) {
      table.rows.back().in_place_time_us = number_of(entry, "time");
      return;
    }
    Row row;
    row.size = size;
    row.time_us = number_of(entry, "time");
    row.busbw_gb_per_s = number_of(entry, "busBw");
    row.wrong = whole_number(number_of(entry, "#wrong"));
    row.line = line;
    table.rows.push_back(row);
  }
};

}  // namespace

const Reader& rccl_json_lines_reader() {
  static const RcclJsonLinesReader kReader;
  return kReader;
}

}  // namespace weft::measured
