#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <tuple>

#include "base/text.h"
#include "validate/validate.h"

namespace weft::validate {
namespace {

// Sessions by what they are made of: searching rings of one cluster once is enough.
class Sessions : public Predictor {
 public:
  explicit Sessions(const RunOptions& options) : options_(&options) {}

  [[nodiscard]] const scenario::Session& session(const Set& set) const override {
    const Key key{set.cluster.text, set.nodes.value_or(0), set.stack ? set.stack->text : "",
                  set.queue_pairs, set.via};
    auto found = sessions_.find(key);
    if (found == sessions_.end()) found = sessions_.emplace(key, open(set)).first;
    return *found->second;
  }

 private:
  using Key = std::tuple<std::string, std::int64_t, std::string, int, fabric::Via>;

  [[nodiscard]] std::unique_ptr<scenario::Session> open(const Set& set) const {
    scenario::OpenOptions open;
    open.nodes = set.nodes;
    open.asked_at = set.cluster.where;
    scenario::StackOptions stack;
    stack.stack = set.stack;
    stack.queue_pairs = set.queue_pairs;
    stack.via = set.via;
    auto session = std::make_unique<scenario::Session>(
        *options_->library, scenario::open_cluster(*options_->library, set.cluster.text, open),
        stack);
    if (options_->constants) session->use_constants(*options_->constants);
    return session;
  }

  const RunOptions* options_;
  mutable std::map<Key, std::unique_ptr<scenario::Session>> sessions_;
};

void check_filters(const Set& set, const CsvTable& table) {
  Diagnostics diagnostics;
  for (const Filter& filter : set.where) {
    if (!table.column(filter.column))
      diagnostics.add(set.position,
                      fmt::format("{} has no column '{}'", table.file(), filter.column),
                      suggest(filter.column, table.columns()));
  }
  diagnostics.throw_if_any();
  if (rows_of(set, table).empty())
    throw InputError(set.position, fmt::format("no row of {} passes the filter", table.file()),
                     "compare the values of where with those in the file");
}

using Tables = std::map<std::string, CsvTable>;

void judge_set(const Set& set, const std::filesystem::path& folder, Tables& tables,
               const Predictor& predictor, Diagnostics& diagnostics, std::vector<Point>& out) {
  const std::string path = (folder / set.file).string();
  if (!tables.contains(path)) tables.emplace(path, CsvTable::parse(read_file(path), path));
  check_filters(set, tables.at(path));
  set.judge->judge(set, tables.at(path), predictor, diagnostics, out);
}

}  // namespace

std::vector<const CsvTable::Row*> rows_of(const Set& set, const CsvTable& table) {
  return rows_passing(set.where, table);
}

std::vector<const CsvTable::Row*> rows_passing(const std::vector<Filter>& where,
                                               const CsvTable& table) {
  std::vector<const CsvTable::Row*> rows;
  for (const CsvTable::Row& row : table.rows()) {
    const bool kept = std::all_of(where.begin(), where.end(), [&](const Filter& filter) {
      return std::find(filter.values.begin(), filter.values.end(),
                       table.cell(row, filter.column)) != filter.values.end();
    });
    if (kept) rows.push_back(&row);
  }
  return rows;
}

std::string size_class(std::string_view kind, Bytes size) {
  const char* const word = size < Bytes::kib(64)   ? "small"
                           : size < Bytes::mib(16) ? "medium"
                                                   : "large";
  return fmt::format("{}_{}", kind, word);
}

std::vector<Point> run(const Map& map, const RunOptions& options) {
  const Sessions sessions(options);
  const std::filesystem::path folder = std::filesystem::path(map.file).parent_path();
  Tables tables;
  std::vector<Point> points;
  Diagnostics diagnostics;
  for (std::size_t s = 0; s < map.sets.size(); ++s) {
    const std::size_t before = points.size();
    try {
      judge_set(map.sets[s], folder, tables, sessions, diagnostics, points);
    } catch (const InputError& error) {  // go on: all faults of a map at once
      for (const Diagnostic& each : error.diagnostics())
        diagnostics.add(each.where, each.what, each.hint);
    }
    for (std::size_t p = before; p < points.size(); ++p) points[p].set = s;
    if (options.progress) options.progress(s + 1);
  }
  diagnostics.throw_if_any();
  return points;
}

}  // namespace weft::validate
