#include "app/bench_moe.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "collective/moe_traffic.h"
#include "report/moe_report.h"

namespace weft::app {
namespace {

work::MoeShape shape_of(work::CollectiveKind kind, const Arguments& arguments) {
  const bool dispatch = kind == work::CollectiveKind::moe_dispatch;
  work::MoeShape shape = dispatch ? work::dispatch_shape() : work::combine_shape();
  shape.hidden = *arguments.integer("hidden", 1, 1'000'000);
  shape.experts = static_cast<int>(*arguments.integer("experts", 1, 65536));
  shape.top_k = static_cast<int>(*arguments.integer("topk", 1, 256));
  shape.max_nodes = static_cast<int>(arguments.integer("max_nodes", 1, 65536).value_or(0));
  if (const auto type = arguments.choice("moe_type", {"fp8", "bf16"})) {
    shape.element_bytes = *type == 0 ? 1 : 2;
    shape.scale_block = *type == 0 ? 128 : 0;
  }
  if (const auto text = arguments.text("skew")) {
    const auto skew = parse_double(*text);
    if (!skew || *skew < 0 || *skew > 3)
      throw option_error("skew", fmt::format("'{}' is no skew", *text), "a number from 0 to 3");
    shape.skew = *skew;
  }
  const auto routing = arguments.choice("moe_routing", {"expected", "drawn"});
  if (shape.skew > 0 && arguments.given("moe_routing") && *routing == 0)
    throw option_error("moe_routing", "a skew has no closed form",
                       "leave --moe_routing out, or drawn");
  shape.drawn = *routing == 1 || shape.skew > 0;
  shape.seed = static_cast<std::uint64_t>(arguments.integer("seed", 0, INT64_MAX).value_or(1));
  return shape;
}

std::vector<std::int64_t> token_counts(const Arguments& arguments) {
  std::vector<std::int64_t> counts;
  for (const std::string_view word : split(*arguments.text("tokens"), ',')) {
    const auto count = parse_int(trim(word));
    if (!count || *count < 1 || *count > 1'000'000)
      throw option_error("tokens", fmt::format("'{}' is no number of tokens", word),
                         "one or several from 1 to 1000000: --tokens 128,4096");
    counts.push_back(*count);
  }
  return counts;
}

// What every rank sends and takes, from the edges that the prediction was made of.
void fill_bytes(const collective::Fluid& fluid, std::size_t ranks, report::MoeRow& row) {
  std::vector<double> rdma_out(ranks), rdma_in(ranks), nvlink_out(ranks), nvlink_in(ranks);
  for (const collective::Edge& edge : fluid.edges) {
    const bool rdma = edge.from_nic.valid();
    (rdma ? rdma_out : nvlink_out)[edge.from] += edge.bytes;
    (rdma ? rdma_in : nvlink_in)[edge.to] += edge.bytes;
    (rdma ? row.rdma_mean : row.nvlink_mean) += edge.bytes / static_cast<double>(ranks);
  }
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    row.rdma_most = std::max({row.rdma_most, rdma_out[rank], rdma_in[rank]});
    row.nvlink_most = std::max({row.nvlink_most, nvlink_out[rank], nvlink_in[rank]});
  }
}

// Nodes and ranks of a token, and the bandwidths that DeepEP's tests print for them.
void fill_bandwidths(const collective::ChannelPlan& plan, report::MoeRow& row) {
  const auto n = static_cast<std::uint32_t>(plan.group.gpus.size());
  const collective::MoeTraffic traffic(row.shape, plan);
  const double all = static_cast<double>(row.shape.tokens) * n;
  for (std::uint32_t source = 0; source < n; ++source) {
    for (std::uint32_t node = 0; node < plan.node_ranks.size(); ++node)
      row.nodes += traffic.to_node(source, node) / all;
    for (std::uint32_t rank = 0; rank < n; ++rank) row.ranks += traffic.to_rank(source, rank) / all;
  }
  if (!(row.time_us > 0)) return;
  const double one = static_cast<double>(row.shape.tokens * row.shape.token_bytes()) /
                     (row.time_us * 1e3);  // GB/s of one copy of every token
  if (row.algorithm == "moe_direct") {
    row.rdma_gb_per_s = one * row.shape.top_k;
    return;
  }
  if (plan.nodes > 1) row.rdma_gb_per_s = one * row.nodes;
  row.nvlink_gb_per_s = one * row.ranks;
}

report::MoeRow measure(const scenario::Session& session, const engine::Engine& engine,
                       const collective::ChannelPlan& plan, work::Work& work) {
  const engine::Setup setup = session.setup(work);
  const result::Result result = run_engine(engine, setup, nullptr);
  const auto& op = std::get<work::CollectiveOp>(work.ops.front().what);
  report::MoeRow row;
  row.shape = *op.moe;
  row.time_us = result.completion.to_microseconds();
  row.algorithm = result.ops[0].algorithm;
  row.bottleneck = result.bottleneck;
  collective::Request request{op.kind, op.size, 0, collective::Protocol::simple};
  request.moe = &row.shape;
  fill_bytes(collective::find_algorithm(row.algorithm)->fluid(request, plan, setup.constants),
             plan.group.gpus.size(), row);
  fill_bandwidths(plan, row);
  return row;
}

std::string rendered(const report::MoeBench& bench, const std::string& format) {
  if (format == "json") return report::moe_json(bench);
  if (format == "csv") return report::moe_csv(bench);
  return report::moe_table(bench);
}

work::Work work_of(const scenario::Session& session, const Arguments& arguments,
                   const std::string& source) {
  std::optional<std::uint32_t> gpus;
  if (const auto given = arguments.integer("gpus", 2, UINT32_MAX - 1))
    gpus = static_cast<std::uint32_t>(*given);
  work::Work work = scenario::work_on_all_gpus(session.fabric(), gpus);
  if (work.rank_gpu.size() < 2)
    throw InputError(
        {"command line", 0, 0},
        fmt::format("{} has {} GPU, an exchange needs two", source, work.rank_gpu.size()),
        "use a larger server, or --nodes 2");
  return work;
}

}  // namespace

std::vector<OptionSpec> moe_options() {
  return {
      {"tokens", "", "LIST", "moe: tokens of each rank, one row each (128,4096)", "4096"},
      {"hidden", "", "N", "moe: elements of a token", "7168"},
      {"experts", "", "N", "moe: experts, in equal shares on the ranks", "256"},
      {"topk", "", "N", "moe: experts of a token", "8"},
      {"max_nodes", "", "N", "moe: a token's experts are on at most N nodes", ""},
      {"moe_type", "", "TYPE", "moe: fp8 (with scales) or bf16; default fp8 out, bf16 back", ""},
      {"moe_routing", "", "WAY", "moe: expected values, or drawn token by token with --seed",
       "expected"},
      {"skew", "", "S", "moe: popularity of the i-th expert 1/i^S; draws", ""},
  };
}

int run_moe_bench(work::CollectiveKind kind, const Arguments& arguments, const Streams& streams) {
  work::MoeShape shape = shape_of(kind, arguments);
  const std::vector<std::string> formats = {"table", "json", "csv"};
  const std::string format =
      arguments.flag("json") ? "json" : formats[*arguments.choice("format", formats)];
  const engine::Engine& engine = chosen_engine(arguments);
  const scenario::Library library = shipped_library(arguments);
  const auto source = arguments.text("cluster");
  if (!source)
    throw option_error("cluster", "weft bench needs a cluster",
                       "add -c demo-8x8-h100-rail, or a file");
  const scenario::Session session = open_session(library, *source, arguments, streams);
  work::Work work = work_of(session, arguments, *source);
  collective::Group group;
  const auto all = session.fabric().of_kind(fabric::DeviceKind::gpu);
  group.gpus.assign(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(work.rank_gpu.size()));
  const collective::ChannelPlan plan = collective::plan_channels(session.fabric(), group);
  report::MoeBench bench;
  bench.kind = kind;
  bench.ranks = static_cast<int>(work.rank_gpu.size());
  bench.nodes = plan.nodes;
  bench.engine = engine.name();
  bench.source = *source;
  bench.stack = session.stack();
  bench.assumptions = session.cluster().notes;
  for (const std::int64_t tokens : token_counts(arguments)) {
    shape.tokens = tokens;
    work::CollectiveOp op;
    op.kind = kind;
    op.group = work::GroupId(0);
    op.size = shape.size();
    op.moe = shape;
    op.algorithm = arguments.text("algo").value_or("");
    work.ops = {work::Op{op, Instant(), {}, ""}};
    bench.rows.push_back(measure(session, engine, plan, work));
  }
  print(streams, rendered(bench, format));
  return 0;
}

}  // namespace weft::app
