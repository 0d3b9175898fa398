// The JSON that nccl-tests writes with -J (versions 2 and 3). Booleans and roots are strings there
// and a missing number is "nan". The environment it carries is never read.
#include <fmt/format.h>

#include "base/json.h"
#include "measured/lines.h"
#include "measured/measured.h"

namespace weft::measured {
namespace {

std::optional<double> number_of(const JsonValue* object, std::string_view key) {
  const JsonValue* value = object == nullptr ? nullptr : object->find(key);
  if (value == nullptr || value->kind != JsonValue::Kind::number) return std::nullopt;
  return value->number;
}

std::string text_of(const JsonValue& object, std::string_view key) {
  const JsonValue* value = object.find(key);
  return value != nullptr && value->kind == JsonValue::Kind::string ? value->text : "";
}

std::optional<double> time_of(const JsonValue* body) {
  const auto time = number_of(body, "time");
  return time ? time : number_of(body, "cpu_time");
}

Row row_of(const JsonValue& entry) {
  Row row;
  row.size = Bytes(whole_number(number_of(&entry, "size").value_or(0)));
  row.type = text_of(entry, "type");
  row.redop = text_of(entry, "redop");
  const JsonValue* out = entry.find("out_of_place");
  row.time_us = time_of(out).value_or(0);
  row.busbw_gb_per_s = number_of(out, "bus_bw");
  row.wrong = whole_number(number_of(out, "nwrong").value_or(0));
  row.in_place_time_us = time_of(entry.find("in_place"));
  return row;
}

std::optional<work::CollectiveKind> kind_of(const JsonValue& root) {
  const JsonValue* arguments = root.find("args");
  if (arguments == nullptr) return std::nullopt;
  for (const JsonValue& argument : arguments->items) {
    std::string_view word = argument.text;
    if (!word.ends_with("_perf")) continue;
    word.remove_suffix(5);
    const std::size_t slash = word.rfind('/');
    return work::parse_collective(slash == std::string_view::npos ? word : word.substr(slash + 1));
  }
  return std::nullopt;
}

class NcclTestsJsonReader final : public Reader {
 public:
  [[nodiscard]] std::string_view name() const override { return "nccl_tests_json"; }
  [[nodiscard]] std::string_view summary() const override { return "JSON of nccl-tests -J"; }
  [[nodiscard]] bool recognises(std::string_view text) const override {
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    return first != std::string_view::npos && text[first] == '{' &&
           text.find("\"out_of_place\"") != std::string_view::npos;
  }
  [[nodiscard]] Table read(std::string_view text, const std::string& file) const override {
    const JsonValue root = parse_json(text, file);
    Table table;
    table.format = name();
    table.kind = kind_of(root);
    if (table.kind) table.test = std::string(work::to_text(*table.kind)) + "_perf";
    const JsonValue* config = root.find("config");
    const JsonValue* devices = config == nullptr ? nullptr : config->find("devices");
    table.ranks = devices == nullptr ? 0 : static_cast<int>(devices->items.size());
    const JsonValue* results = root.find("results");
    if (results == nullptr || results->items.empty())
      throw InputError({file, 1, 1}, "the log has no results",
                       "was the run interrupted before its first row?");
    for (const JsonValue& entry : results->items) table.rows.push_back(row_of(entry));
    return table;
  }
};

}  // namespace

const Reader& nccl_tests_json_reader() {
  static const NcclTestsJsonReader kReader;
  return kReader;
}

}  // namespace weft::measured
