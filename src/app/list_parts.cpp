#include "app/list_parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "import/part_query.h"

namespace weft::app {
namespace {

using import::PartCondition;
using import::PartKind;
using import::PartRecord;

void check_column(const PartKind& kind, const std::string& key, std::string_view option) {
  if (import::is_part_column(kind, key)) return;
  throw option_error(option, fmt::format("{} have no field '{}'", kind.section, key),
                     suggest(key, import::part_columns(kind)));
}

std::vector<std::string> columns_of(const PartKind& kind, const Arguments& arguments,
                                    const std::vector<PartCondition>& conditions) {
  std::vector<std::string> columns = {"name"};
  if (const auto asked = arguments.text("columns")) {
    for (const std::string_view word : split(*asked, ',')) {
      columns.emplace_back(trim(word));
      check_column(kind, columns.back(), "columns");
    }
    return columns;
  }
  for (const std::string_view key : kind.columns) columns.emplace_back(key);
  // What was asked about is shown.
  for (const PartCondition& condition : conditions) {
    if (std::find(columns.begin(), columns.end(), condition.key) == columns.end())
      columns.push_back(condition.key);
  }
  return columns;
}

// By a column: numbers by their middle, texts by the alphabet, what states nothing last.
void sort_by(std::vector<const PartRecord*>& records, std::string key) {
  const bool descending = starts_with(key, "-");
  if (descending) key = key.substr(1);
  const auto before = [&key, descending](const PartRecord* a, const PartRecord* b) {
    const auto x = import::part_amount(*a, key), y = import::part_amount(*b, key);
    if (x && y) return descending ? y->typical() < x->typical() : x->typical() < y->typical();
    if (x.has_value() != y.has_value()) return x.has_value();
    const std::string s = import::part_cell(*a, key), t = import::part_cell(*b, key);
    if (s.empty() != t.empty()) return !s.empty();
    return descending ? t < s : s < t;
  };
  std::stable_sort(records.begin(), records.end(), before);
}

std::vector<const PartRecord*> fitting(std::vector<const PartRecord*> records,
                                       const std::vector<PartCondition>& conditions,
                                       const Streams& streams) {
  for (const PartCondition& condition : conditions) {
    std::size_t silent = 0;
    std::erase_if(records, [&](const PartRecord* record) {
      if (holds(*record, condition)) return false;
      if (import::part_cell(*record, condition.key).empty()) ++silent;
      return true;
    });
    if (silent > 0)
      note(streams, fmt::format("note: {} left out because no {} is published for them", silent,
                                condition.key));
  }
  return records;
}

}  // namespace

std::string aligned(const std::vector<std::vector<std::string>>& rows) {
  std::vector<int> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t c = 0; c < row.size(); ++c)
      widths[c] = std::max(widths[c], display_width(row[c]));
  }
  std::string out;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c) {
      line += row[c];
      line.append(static_cast<std::size_t>(widths[c] - display_width(row[c]) + 2), ' ');
    }
    out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return out;
}

std::vector<OptionSpec> part_list_options() {
  return {
      {"where", "", "CONDITION", "only parts that fit: 'ports_800g>=128 and power<=500 W'", ""},
      {"columns", "", "FIELDS", "what to show of each part, such as power,price", ""},
      {"sort", "", "FIELD", "order by a field; -FIELD for the largest first", ""},
  };
}

void write_part(JsonWriter& json, const PartRecord& record, const import::Catalogue& catalogue) {
  json.begin_object()
      .member("name", record.name)
      .member("kind", record.kind->section)
      .member("title", record.title)
      .member("vendor", record.vendor);
  json.key("aliases").begin_array();
  for (const std::string& alias : record.aliases) json.value(alias);
  json.end_array();
  json.key("identity").begin_object();
  for (const auto& [key, text] : record.identity) json.member(key, text);
  json.end_object();
  if (record.capacity().bps() > 0)
    json.member("capacity_one_way_tbps", record.capacity().gbps() / 1000);
  json.key("figures").begin_array();
  for (const import::PartFigure& f : record.figures) {
    const import::PartField* field = record.kind->field(f.key);
    json.begin_object().member("key", f.key).member("value", f.value).member("unit", f.unit);
    if (f.amount && field != nullptr) {
      const bool any = field->type == import::FieldType::value;
      json.member("low", f.amount->low)
          .member("high", f.amount->high)
          .member("in", any ? std::string_view(f.unit) : field->unit);
    }
    json.member("source", f.source)
        .member("source_title", catalogue.source_title(f.source))
        .member("confidence", f.confidence)
        .member("derived", f.derived)
        .member("note", f.note)
        .end_object();
  }
  json.end_array().end_object();
}

int list_parts(const PartKind& kind, const import::Catalogue& catalogue, const Arguments& arguments,
               const Streams& streams) {
  std::vector<PartCondition> conditions;
  if (const auto where = arguments.text("where"))
    conditions = import::parse_part_conditions(*where, kind, "command line, --where");
  const std::vector<std::string> columns = columns_of(kind, arguments, conditions);
  const std::string order = arguments.text("sort").value_or("");
  if (!order.empty()) check_column(kind, order.substr(order[0] == '-' ? 1 : 0), "sort");
  auto records = fitting(catalogue.records_of(kind.section), conditions, streams);
  if (!order.empty()) sort_by(records, order);
  if (arguments.flag("json")) {
    JsonWriter json;
    json.begin_object().member("schema", "weft/parts/1").member("kind", kind.section);
    json.key("entries").begin_array();
    for (const PartRecord* record : records) write_part(json, *record, catalogue);
    json.end_array().end_object();
    print(streams, json.take());
    return 0;
  }
  std::vector<std::vector<std::string>> rows = {columns};
  for (const PartRecord* record : records) {
    std::vector<std::string> row;
    for (const std::string& key : columns) {
      const std::string cell = import::part_cell(*record, key);
      row.push_back(cell.empty() ? "-" : cell);
    }
    rows.push_back(std::move(row));
  }
  print(streams, aligned(rows));
  return 0;
}

}  // namespace weft::app
