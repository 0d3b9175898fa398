// Rows of nccl-tests and its kin: a collective, a size, a time or a bus bandwidth.
#include <fmt/format.h>

#include <map>
#include <set>

#include "base/text.h"
#include "collective/channels.h"
#include "engine/analytic/analytic_engine.h"
#include "report/bench_report.h"
#include "validate/validate.h"

namespace weft::validate {
namespace {

struct Columns {
  std::string collective = "collective", size = "size_bytes", time = "time_us";
  std::string busbw = "busbw_GBps", type = "dtype", redop = "redop", ranks = "n_ranks";
  std::string placement = "placement";
};

// What a benchmark's host code costs an iteration: a run is never shorter than its launches.
struct Launcher {
  int gpus_per_process = 1;  // nccl-tests -g: one thread launches on so many GPUs in turn
  bool torch = false;        // called through torch.distributed

  void hold_back(work::CollectiveKind kind, int ranks, Point& point) const {
    const double floor = floor_us(kind, ranks);
    if (point.predicted >= floor) return;
    point.predicted = floor;
    point.chosen = "host";  // says nothing of the collective: no constants are fitted on it
  }

 private:
  [[nodiscard]] double floor_us(work::CollectiveKind kind, int ranks) const {
    if (torch) return kTorchUs;
    if (gpus_per_process == 1) return 0;
    const bool sends = kind == work::CollectiveKind::all_to_all;
    return gpus_per_process * (kLaunchUs + (sends ? (ranks - 1) * kSendUs : 0));
  }

  // Fitted on data/validation/nccl. Launches: 8 A100 driven by one thread, all_reduce and
  // all_gather of up to 16 KiB 34.8 us, alltoall 87 us (residual 2 %). Torch: 8 H200, 32 to 512
  // KiB 39.4 us.
  static constexpr double kLaunchUs = 4.35, kSendUs = 0.93, kTorchUs = 39.4;
};

class CollectiveJudge : public Judge {
 public:
  Columns columns;
  std::optional<work::CollectiveKind> kind;  // when no column says it
  std::optional<std::uint32_t> gpus;         // the first so many GPUs
  bool gpus_of_row = false;                  // as many as the row's ranks say
  bool size_is_elements = false, time_is_ms = false;
  Launcher launcher;
  std::string algorithm, protocol, type;
  int channels = 0;
  Bytes size;

  void judge(const Set& set, const CsvTable& table, const Predictor& predictor,
             Diagnostics& diagnostics, std::vector<Point>& out) const override;

 private:
  // In place and out of place, and some types, ask the same question.
  using Question = std::tuple<work::CollectiveKind, std::int64_t, bool, bool, std::uint32_t>;
  using Known = std::map<Question, Point>;

  std::string type_of(const CsvTable& table, const CsvTable::Row& row) const;
  bool read_row(const CsvTable& table, const CsvTable::Row& row, int ranks,
                Diagnostics& diagnostics, Point& point, work::CollectiveOp& op) const;
  bool read_time(const CsvTable& table, const CsvTable::Row& row, int ranks,
                 Diagnostics& diagnostics, Point& point, const work::CollectiveOp& op) const;
};

// The element type by nccl-tests' name; libraries and frameworks have names of their own.
std::string CollectiveJudge::type_of(const CsvTable& table, const CsvTable::Row& row) const {
  const std::string word(type.empty() ? table.cell(row, columns.type) : type);
  if (word.empty() || word.starts_with("float32")) return "float";
  if (word == "float16") return "half";
  return word;
}

// Asks the engine; plans of one group are found once.
class Oracle {
 public:
  explicit Oracle(const scenario::Session& session) : session_(&session) {}

  // Fills predicted, peers and chosen.
  void answer(work::Work work, const work::CollectiveOp& op, Point& point) {
    const PlanKey key{work.rank_gpu.size(), op.channels, op.switch_reduction};
    auto plan = plans_.find(key);
    if (plan == plans_.end()) plan = plans_.emplace(key, plan_of(work, op)).first;
    work.ops = {work::Op{op, Instant(), {}, ""}};
    const result::Result result =
        engine::analytic_engine().run(session_->setup(std::move(work)), nullptr);
    const result::OpSpan& span = result.ops[0];
    point.predicted = result.completion.to_microseconds();
    point.peers = peer_times(plan->second, op, span.algorithm, span.protocol);
    point.chosen = fmt::format("{}/{}", span.algorithm, span.protocol);
  }

 private:
  using PlanKey = std::tuple<std::size_t, int, bool>;

  [[nodiscard]] collective::ChannelPlan plan_of(const work::Work& work,
                                                const work::CollectiveOp& op) const {
    collective::Group group;
    const auto gpus = session_->fabric().of_kind(fabric::DeviceKind::gpu);
    for (const std::uint32_t ordinal : work.rank_gpu) group.gpus.push_back(gpus[ordinal]);
    return collective::plan_channels(session_->fabric(), group, {op.channels, op.switch_reduction});
  }

  const scenario::Session* session_;
  std::map<PlanKey, collective::ChannelPlan> plans_;
};

bool CollectiveJudge::read_time(const CsvTable& table, const CsvTable::Row& row, int ranks,
                                Diagnostics& diagnostics, Point& point,
                                const work::CollectiveOp& op) const {
  const auto time = table.number(row, columns.time, diagnostics);
  if (time && *time > 0) {
    point.measured = time_is_ms ? *time * 1e3 : *time;
    return true;
  }
  const auto busbw = table.number(row, columns.busbw, diagnostics);
  if (!busbw || *busbw <= 0) return false;  // a row without a measurement
  point.measured = op.size.to_double() * work::busbw_factor(op.kind, ranks) / (*busbw * 1e3);
  return true;
}

bool CollectiveJudge::read_row(const CsvTable& table, const CsvTable::Row& row, int ranks,
                               Diagnostics& diagnostics, Point& point,
                               work::CollectiveOp& op) const {
  const SourcePosition where{table.file(), row.line, 0};
  const std::string_view word = table.cell(row, columns.collective);
  const auto parsed = kind ? kind : work::parse_collective(word);
  if (!parsed) {
    diagnostics.add(where, fmt::format("unknown collective '{}'", word),
                    suggest(word, work::collective_names()));
    return false;
  }
  op.kind = *parsed;
  const std::string type_word = type_of(table, row);
  const auto element = report::type_size(type_word);
  if (!element) {
    diagnostics.add(where, fmt::format("unknown element type '{}'", type_word),
                    "set type in the map: " + join(report::bench_types(), ", "));
    return false;
  }
  const auto bytes = table.number(row, columns.size, diagnostics);
  op.size =
      bytes ? Bytes(static_cast<std::int64_t>(*bytes) * (size_is_elements ? *element : 1)) : size;
  if (op.size.count() <= 0) return false;  // nccl-tests prints rows of 0 B, which move nothing
  const auto stated = table.number(row, columns.ranks, diagnostics);
  if (stated && !gpus_of_row && static_cast<int>(*stated) != ranks) {
    diagnostics.add(where,
                    fmt::format("the row has {} ranks, the cluster of its set {}", *stated, ranks),
                    "set nodes or gpus in the map");
    return false;
  }
  const std::string redop_word(table.cell(row, columns.redop));
  op.switch_reduction =
      report::switch_can_reduce(type_word, redop_word.empty() ? "sum" : redop_word);
  op.in_place = table.cell(row, columns.placement) == "in_place";
  op.algorithm = algorithm;
  op.protocol = protocol;
  op.channels = channels;
  point.line = row.line;
  point.what = std::string(work::to_text(op.kind));
  point.size = op.size;
  point.unit = "us";
  point.measure_class = size_class("collectives", op.size);
  return read_time(table, row, ranks, diagnostics, point, op);
}

// How many servers the first `gpus` GPUs sit in, and what they are.
void place(const fabric::Fabric& fabric, std::optional<std::uint32_t> gpus, Point& point) {
  const auto all = fabric.of_kind(fabric::DeviceKind::gpu);
  const std::size_t count = std::min<std::size_t>(gpus.value_or(all.size()), all.size());
  std::set<std::uint32_t> servers;
  for (std::size_t g = 0; g < count; ++g) servers.insert(fabric.info(all[g]).server.value);
  point.nodes = static_cast<int>(servers.size());
  point.compute_capability = fabric.device_class(all[0]).compute_capability;
  if (const auto nics = fabric.of_kind(fabric::DeviceKind::nic); !nics.empty()) {
    point.nic = fabric.device_class(nics[0]).model;
    point.nic_vendor = fabric::to_text(fabric.device_class(nics[0]).vendor);
  }
}

void CollectiveJudge::judge(const Set& set, const CsvTable& table, const Predictor& predictor,
                            Diagnostics& diagnostics, std::vector<Point>& out) const {
  const scenario::Session& session = predictor.session(set);
  Known known;
  Oracle oracle(session);
  for (const CsvTable::Row* row : rows_of(set, table)) {
    std::optional<std::uint32_t> first = gpus;
    if (gpus_of_row) {
      const auto stated = table.number(*row, columns.ranks, diagnostics);
      if (!stated) continue;
      first = static_cast<std::uint32_t>(*stated);
    }
    work::Work work = scenario::work_on_all_gpus(session.fabric(), first);
    const auto ranks = static_cast<int>(work.rank_gpu.size());
    Point point;
    work::CollectiveOp op;
    op.group = work::GroupId(0);
    if (!read_row(table, *row, ranks, diagnostics, point, op)) continue;
    const Question question{op.kind, op.size.count(), op.switch_reduction, op.in_place,
                            static_cast<std::uint32_t>(ranks)};
    place(session.fabric(), first, point);
    if (!known.contains(question)) {
      oracle.answer(std::move(work), op, point);
      launcher.hold_back(op.kind, ranks, point);
      known[question] = point;
    }
    const Point& answer = known[question];
    point.predicted = answer.predicted;
    point.peers = answer.peers;
    point.chosen = answer.chosen;
    out.push_back(std::move(point));
  }
}

class Collectives : public Kind {
 public:
  std::string_view name() const override { return "collectives"; }
  std::string_view summary() const override {
    return "nccl-tests and its kin: collective, size, time or bus bandwidth.";
  }
  std::unique_ptr<Judge> read(Fields& fields, Diagnostics& diagnostics) const override {
    auto judge = std::make_unique<CollectiveJudge>();
    if (const auto word = fields.optional_choice("collective", work::collective_names()))
      judge->kind = work::parse_collective(work::collective_names()[*word]);
    if (const auto gpus = fields.optional_int("gpus", 2, UINT32_MAX - 1))
      judge->gpus = static_cast<std::uint32_t>(*gpus);
    judge->gpus_of_row = fields.optional_bool("gpus_of_row").value_or(false);
    judge->launcher.gpus_per_process =
        static_cast<int>(fields.optional_int("gpus_per_process", 1, 1024).value_or(1));
    judge->launcher.torch = fields.optional_choice("launcher", {"nccl_tests", "torch"}) == 1;
    judge->size_is_elements =
        fields.optional_choice("size_unit", {"bytes", "elements"}).value_or(0) == 1;
    judge->time_is_ms = fields.optional_choice("time_unit", {"us", "ms"}).value_or(0) == 1;
    judge->algorithm = fields.optional_string("algorithm").value_or("");
    judge->protocol = fields.optional_string("protocol").value_or("");
    judge->type = fields.optional_string("type").value_or("");
    judge->channels = static_cast<int>(fields.optional_int("channels", 1, 1024).value_or(0));
    judge->size = fields.optional_bytes("size").value_or(Bytes());
    if (const YamlNode* node = fields.optional_node("columns")) {
      Fields names(*node, "columns", diagnostics);
      const auto take = [&names](const char* key, std::string& into) {
        if (auto text = names.optional_string(key)) into = *text;
      };
      take("collective", judge->columns.collective);
      take("size", judge->columns.size);
      take("time", judge->columns.time);
      take("busbw", judge->columns.busbw);
      take("type", judge->columns.type);
      take("ranks", judge->columns.ranks);
      take("placement", judge->columns.placement);
      names.finish();
    }
    return judge;
  }
};

}  // namespace

const Kind& collectives() {
  static const Collectives kRow;
  return kRow;
}

}  // namespace weft::validate
