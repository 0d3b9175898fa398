// Rows of point-to-point tests (perftest, OSU, nvbandwidth, ...): a test, two ends, a size, a time
// or a bandwidth. Texts of the map may hold {column}, which a row fills in.
#include <fmt/format.h>

#include <array>

#include "base/text.h"
#include "pointtest/pointtest.h"
#include "validate/validate.h"

namespace weft::validate {
namespace {

struct Unit {
  std::string_view name;
  bool time;
  double factor;  // from us, or from GB/s
};
constexpr std::array<Unit, 6> kUnits = {{
    {"us", true, 1},
    {"ns", true, 1e3},
    {"GB/s", false, 1},
    {"Gb/s", false, 8},
    {"MB/s", false, 1e3},
    {"MiB/s", false, 1e9 / 1048576},
}};

const Unit* find_unit(std::string_view name) {
  for (const Unit& unit : kUnits) {
    if (unit.name == name) return &unit;
  }
  return nullptr;
}

struct Texts {
  std::string test, from, to, from_nic, to_nic, unit;
  std::string pairs = "1", messages = "1", mover = "copy_engine", access = "on", chunk;
};

class TransferJudge : public Judge {
 public:
  Texts texts;
  std::string value_column = "value", size_column = "size_bytes", measure_class;
  std::optional<Bytes> size, mtu;
  bool bidirectional = false, read = false, interleave = true;
  int rails = 1;

  void judge(const Set& set, const CsvTable& table, const Predictor& predictor,
             Diagnostics& diagnostics, std::vector<Point>& out) const override;

 private:
  struct Asked {
    const CsvTable& table;
    const CsvTable::Row& row;
    Diagnostics& diagnostics;
    [[nodiscard]] SourcePosition where() const { return {table.file(), row.line, 0}; }
  };
  static std::optional<std::string> filled(const std::string& text, const Asked& asked);
  static std::optional<fabric::DeviceId> device(const fabric::Fabric& fabric,
                                                const std::string& text, const Asked& asked);
  static bool count(const std::string& text, const Asked& asked, int& into);
  bool fill_path(const Asked& asked, pointtest::Question& question) const;
  bool fill_rest(const Asked& asked, pointtest::Question& question) const;
  bool predict(const Asked& asked, const pointtest::Question& question, Point& point) const;
};

std::optional<std::string> TransferJudge::filled(const std::string& text, const Asked& asked) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t close = text[at] == '{' ? text.find('}', at) : std::string::npos;
    if (close == std::string::npos) {
      out += text[at++];
      continue;
    }
    const std::string column = text.substr(at + 1, close - at - 1);
    if (!asked.table.column(column)) {
      asked.diagnostics.add({asked.table.file(), 1, 0},
                            fmt::format("there is no column '{}'", column),
                            suggest(column, asked.table.columns()));
      return std::nullopt;
    }
    out += asked.table.cell(asked.row, column);
    at = close + 1;
  }
  return out;
}

std::optional<fabric::DeviceId> TransferJudge::device(const fabric::Fabric& fabric,
                                                      const std::string& text, const Asked& asked) {
  const auto name = filled(text, asked);
  if (!name) return std::nullopt;
  if (const auto found = fabric.find(*name)) return found;
  if (const auto found = fabric.find("node0/" + *name)) return found;
  asked.diagnostics.add(asked.where(), fmt::format("the cluster has no device '{}'", *name),
                        "weft topo shows their names");
  return std::nullopt;
}

bool TransferJudge::count(const std::string& text, const Asked& asked, int& into) {
  const auto word = filled(text, asked);
  if (!word) return false;
  const auto number = parse_int(*word);
  if (!number || *number < 1 || *number > 1'000'000) {
    asked.diagnostics.add(asked.where(), fmt::format("'{}' is not a count", *word));
    return false;
  }
  into = static_cast<int>(*number);
  return true;
}

bool TransferJudge::fill_path(const Asked& asked, pointtest::Question& question) const {
  const auto from = filled(texts.from, asked), to = filled(texts.to, asked);
  if (!from || !to) return false;
  // "host" is the memory nearest to the other end.
  const bool from_host = *from == "host", to_host = *to == "host";
  const auto source = device(*question.fabric, from_host ? texts.to : texts.from, asked);
  const auto destination = device(*question.fabric, to_host ? texts.from : texts.to, asked);
  if (!source || !destination) return false;
  question.path.source = from_host ? pointtest::host_memory_of(*question.fabric, *source) : *source;
  question.path.destination =
      to_host ? pointtest::host_memory_of(*question.fabric, *destination) : *destination;
  for (const auto& [text, into] : {std::pair{&texts.from_nic, &question.path.source_nic},
                                   std::pair{&texts.to_nic, &question.path.destination_nic}}) {
    if (text->empty()) continue;
    *into = device(*question.fabric, *text, asked);
    if (!*into) return false;
  }
  return true;
}

bool TransferJudge::fill_rest(const Asked& asked, pointtest::Question& question) const {
  const auto mover = filled(texts.mover, asked), access = filled(texts.access, asked);
  if (!mover || !access) return false;
  question.path.mover = *mover == "sm" ? fabric::Mover::sm : fabric::Mover::copy_engine;
  question.peer_access = *access != "off";
  question.bidirectional = bidirectional;
  question.read = read;
  question.interleave = interleave;
  question.rails = rails;
  if (!texts.chunk.empty()) {
    const auto word = filled(texts.chunk, asked);
    if (!word) return false;
    const auto bytes = parse_int(*word);
    question.chunk = bytes ? Bytes(*bytes) : parse_bytes(*word);
    if (!question.chunk || question.chunk->count() < 1) {
      asked.diagnostics.add(asked.where(), fmt::format("'{}' is not a chunk size", *word));
      return false;
    }
  }
  return count(texts.pairs, asked, question.pairs) &&
         count(texts.messages, asked, question.messages);
}

bool TransferJudge::predict(const Asked& asked, const pointtest::Question& question,
                            Point& point) const {
  const auto name = filled(texts.test, asked), unit_name = filled(texts.unit, asked);
  if (!name || !unit_name) return false;
  const auto found = pointtest::find_test(*name);
  if (!found) {
    asked.diagnostics.add(asked.where(), fmt::format("there is no test '{}'", *name),
                          suggest(*name, pointtest::test_names()));
    return false;
  }
  const Unit* unit = find_unit(*unit_name);
  if (unit == nullptr) {
    asked.diagnostics.add(asked.where(), fmt::format("unknown unit '{}'", *unit_name),
                          "one of: us, ns, GB/s, Gb/s, MB/s, MiB/s");
    return false;
  }
  const pointtest::Answer answer = found->family->answer(*found->test, question, point.size);
  if (!answer.refusal.empty()) {
    asked.diagnostics.add(asked.where(),
                          fmt::format("{} cannot run there: {}", *name, answer.refusal));
    return false;
  }
  point.what = *name;
  point.unit = *unit_name;
  point.chosen = answer.way;
  point.predicted = (unit->time ? answer.time.to_microseconds() : answer.gb_per_s) * unit->factor;
  if (point.predicted > 0) return true;
  asked.diagnostics.add(asked.where(), fmt::format("{} does not print {}", *name, *unit_name));
  return false;
}

void TransferJudge::judge(const Set& set, const CsvTable& table, const Predictor& predictor,
                          Diagnostics& diagnostics, std::vector<Point>& out) const {
  const scenario::Session& session = predictor.session(set);
  fabric::PathCosts costs = session.costs();
  if (mtu) costs.network.mtu = *mtu;
  pointtest::Question asked_once;
  asked_once.fabric = &session.fabric();
  asked_once.costs = &costs;
  asked_once.constants = &session.point_constants();
  asked_once.route = session.network_route();
  asked_once.path.via = set.via;
  asked_once.queue_pairs = set.queue_pairs;
  for (const CsvTable::Row* row : rows_of(set, table)) {
    const Asked asked{table, *row, diagnostics};
    pointtest::Question question = asked_once;
    Point point;
    point.line = row->line;
    point.measure_class = measure_class;
    const auto value = table.number(*row, value_column, diagnostics);
    if (!value || *value <= 0) continue;  // a row without this measurement
    point.measured = *value;
    point.size = size.value_or(Bytes());
    if (!size) {
      const auto bytes = table.number(*row, size_column, diagnostics);
      if (bytes) point.size = Bytes(static_cast<std::int64_t>(*bytes));
    }
    if (!fill_path(asked, question) || !fill_rest(asked, question)) continue;
    if (predict(asked, question, point)) out.push_back(std::move(point));
  }
}

std::unique_ptr<TransferJudge> read_judge(Fields& fields) {
  auto judge = std::make_unique<TransferJudge>();
  Texts& texts = judge->texts;
  texts.test = fields.required_string("test");
  texts.from = fields.required_string("from");
  texts.to = fields.required_string("to");
  texts.unit = fields.required_string("unit");
  const auto take = [&fields](const char* key, std::string& into) {
    if (auto text = fields.optional_string(key)) into = *text;
  };
  take("from_nic", texts.from_nic);
  take("to_nic", texts.to_nic);
  take("pairs", texts.pairs);
  take("messages", texts.messages);
  take("mover", texts.mover);
  take("peer_access", texts.access);
  take("chunk", texts.chunk);
  take("value_column", judge->value_column);
  take("size_column", judge->size_column);
  judge->size = fields.optional_bytes("size");
  judge->mtu = fields.optional_bytes("mtu");
  judge->rails = static_cast<int>(fields.optional_int("rails", 1, 64).value_or(1));
  const std::vector<std::string> directions = {"one_way", "bidirectional"};
  judge->bidirectional = fields.optional_choice("direction", directions).value_or(0) == 1;
  judge->read = fields.optional_bool("read").value_or(false);
  judge->interleave = fields.optional_bool("interleave").value_or(true);
  return judge;
}

class Transfers : public Kind {
 public:
  std::string_view name() const override { return "transfers"; }
  std::string_view summary() const override {
    return "perftest, OSU, nvbandwidth and their kin: a test between two ends, time or bandwidth.";
  }
  std::unique_ptr<Judge> read(Fields& fields, Diagnostics& /*diagnostics*/) const override {
    auto judge = read_judge(fields);
    const std::vector<std::string> classes = {"copies",    "p2p", "latency",
                                              "bandwidth", "tcp", "staging"};
    const auto chosen = fields.optional_choice("class", classes);
    if (!chosen && !fields.has("class"))
      fields.complain("class", "a set of transfers needs a class",
                      "one of: " + join(classes, ", "));
    judge->measure_class = classes[chosen.value_or(0)];
    return judge;
  }
};

}  // namespace

const Kind& transfers() {
  static const Transfers kRow;
  return kRow;
}

}  // namespace weft::validate
