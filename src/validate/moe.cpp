// Rows of MoE dispatch and combine: a latency, or a bandwidth as DeepEP counts it (one copy of each
// token a node over RDMA, one a rank over NVLink).
#include <fmt/format.h>

#include "base/text.h"
#include "collective/moe_traffic.h"
#include "engine/analytic/analytic_engine.h"
#include "validate/validate.h"

namespace weft::validate {
namespace {

class MoeJudge : public Judge {
 public:
  int experts = 256, max_nodes = 0;
  std::string algorithm;

  void judge(const Set& set, const CsvTable& table, const Predictor& predictor,
             Diagnostics& diagnostics, std::vector<Point>& out) const override;

 private:
  struct Row {
    work::CollectiveKind kind = work::CollectiveKind::moe_dispatch;
    work::MoeShape shape;
    std::uint32_t ranks = 0;
    std::optional<double> latency_us, gb_per_s;
  };

  std::optional<Row> read(const CsvTable& table, const CsvTable::Row& cells,
                          Diagnostics& diagnostics) const;
  void predict(const scenario::Session& session, const Row& row, Point& point) const;
};

std::optional<MoeJudge::Row> MoeJudge::read(const CsvTable& table, const CsvTable::Row& cells,
                                            Diagnostics& diagnostics) const {
  Row row;
  const std::string phase = fmt::format("moe_{}", table.cell(cells, "phase"));
  const auto kind = work::parse_collective(phase);
  if (!kind) {
    diagnostics.add({table.file(), cells.line, 0}, fmt::format("unknown phase '{}'", phase),
                    "dispatch or combine");
    return std::nullopt;
  }
  row.kind = *kind;
  row.shape = row.kind == work::CollectiveKind::moe_dispatch ? work::dispatch_shape()
                                                             : work::combine_shape();
  const auto whole = [&](std::string_view column, std::int64_t fallback) {
    return static_cast<std::int64_t>(
        table.number(cells, column, diagnostics).value_or(static_cast<double>(fallback)));
  };
  row.ranks = static_cast<std::uint32_t>(whole("ep", 0));
  row.shape.tokens = whole("tokens_per_gpu", row.shape.tokens);
  row.shape.hidden = whole("hidden", row.shape.hidden);
  row.shape.top_k = static_cast<int>(whole("topk", row.shape.top_k));
  row.shape.experts = experts;
  row.shape.max_nodes = max_nodes;
  if (const std::string_view type = table.cell(cells, "dtype"); !type.empty()) {
    row.shape.element_bytes = type == "fp8" ? 1 : 2;
    row.shape.scale_block = type == "fp8" ? 128 : 0;
  }
  row.latency_us = table.number(cells, "latency_us", diagnostics);
  row.gb_per_s = table.number(cells, "bw_GBps", diagnostics);
  if (row.ranks < 2 || (!row.latency_us && !row.gb_per_s)) return std::nullopt;
  return row;
}

void MoeJudge::predict(const scenario::Session& session, const Row& row, Point& point) const {
  work::Work work = scenario::work_on_all_gpus(session.fabric(), row.ranks);
  work::CollectiveOp op;
  op.kind = row.kind;
  op.group = work::GroupId(0);
  op.size = row.shape.size();
  op.moe = row.shape;
  op.algorithm = algorithm;
  work.ops = {work::Op{op, Instant(), {}, ""}};
  const result::Result result =
      engine::analytic_engine().run(session.setup(std::move(work)), nullptr);
  const double time_us = result.completion.to_microseconds();
  point.chosen = result.ops[0].algorithm;
  point.size = op.size;
  if (row.latency_us) {
    point.measured = *row.latency_us;
    point.predicted = time_us;
    point.unit = "us";
    return;
  }
  const auto spread =
      collective::expected_spread(row.shape, static_cast<int>(row.ranks), point.nodes);
  const double copies = point.chosen == "moe_direct" ? row.shape.top_k
                        : point.nodes > 1            ? spread.nodes
                                                     : spread.ranks;
  point.measured = *row.gb_per_s;
  point.predicted =
      static_cast<double>(row.shape.tokens * row.shape.token_bytes()) * copies / (time_us * 1e3);
  point.unit = "GB/s";
}

void MoeJudge::judge(const Set& set, const CsvTable& table, const Predictor& predictor,
                     Diagnostics& diagnostics, std::vector<Point>& out) const {
  const scenario::Session& session = predictor.session(set);
  const auto gpus = session.fabric().of_kind(fabric::DeviceKind::gpu);
  const std::size_t per_server =
      gpus.size() / std::max<std::size_t>(session.fabric().server_count(), 1);
  for (const CsvTable::Row* cells : rows_of(set, table)) {
    const auto row = read(table, *cells, diagnostics);
    if (!row) continue;
    if (row->ranks > gpus.size()) {
      diagnostics.add({table.file(), cells->line, 0},
                      fmt::format("the row has {} ranks, the cluster of its set {} GPUs",
                                  row->ranks, gpus.size()),
                      "set nodes in the map");
      continue;
    }
    Point point;
    point.line = cells->line;
    point.what = std::string(work::to_text(row->kind));
    point.measure_class = "moe";
    point.nodes = static_cast<int>((row->ranks + per_server - 1) / per_server);
    point.compute_capability = session.fabric().device_class(gpus[0]).compute_capability;
    predict(session, *row, point);
    out.push_back(std::move(point));
  }
}

class Moe : public Kind {
 public:
  std::string_view name() const override { return "moe"; }
  std::string_view summary() const override {
    return "MoE dispatch and combine: ranks, tokens, and a latency or DeepEP's bandwidth.";
  }
  std::unique_ptr<Judge> read(Fields& fields, Diagnostics& /*diagnostics*/) const override {
    auto judge = std::make_unique<MoeJudge>();
    judge->experts = static_cast<int>(fields.optional_int("experts", 2, 65536).value_or(256));
    judge->max_nodes = static_cast<int>(fields.optional_int("max_nodes", 1, 65536).value_or(0));
    judge->algorithm = fields.optional_string("algorithm").value_or("");
    return judge;
  }
};

}  // namespace

const Kind& moe() {
  static const Moe kRow;
  return kRow;
}

}  // namespace weft::validate
