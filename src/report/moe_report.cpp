#include "report/moe_report.h"

#include <fmt/format.h>

#include "base/json.h"
#include "report/bench_report.h"

namespace weft::report {
namespace {

std::string shape_text(const work::MoeShape& shape) {
  std::string out = fmt::format("{} of {} experts, hidden {}, {} B a token", shape.top_k,
                                shape.experts, shape.hidden, shape.token_bytes());
  if (shape.max_nodes > 0) out += fmt::format(", on at most {} nodes", shape.max_nodes);
  out += shape.drawn ? fmt::format("; drawn with seed {}, skew {:g}", shape.seed, shape.skew)
                     : "; expected routing";
  return out;
}

std::string optional_number(const std::optional<double>& value) {
  return value ? nccl_number(*value, 8) : fmt::format("{:>8}", "-");
}

}  // namespace

std::string moe_table(const MoeBench& bench) {
  std::string out = fmt::format("{} on {} GPUs of {} ({}, {} engine)\n", work::to_text(bench.kind),
                                bench.ranks, bench.source, bench.stack, bench.engine);
  if (!bench.rows.empty()) out += shape_text(bench.rows.front().shape) + "\n";
  out += fmt::format("\n{:>8} {:>9} {:>10} {:>10} {:>10} {:>10} {:>8} {:>8}  {:<10}  {}\n",
                     "tokens", "time (us)", "RDMA (MB)", "most", "NVL (MB)", "most", "RDMA", "NVL",
                     "algorithm", "limited by");
  out += fmt::format("{:>8} {:>9} {:>10} {:>10} {:>10} {:>10} {:>8} {:>8}\n", "a rank", "",
                     "a rank", "", "a rank", "", "(GB/s)", "(GB/s)");
  for (const MoeRow& row : bench.rows)
    out += fmt::format("{:>8} {} {} {} {} {} {} {}  {:<10}  {} {:.0f} %\n", row.shape.tokens,
                       nccl_number(row.time_us, 9), nccl_number(row.rdma_mean / 1e6, 10),
                       nccl_number(row.rdma_most / 1e6, 10), nccl_number(row.nvlink_mean / 1e6, 10),
                       nccl_number(row.nvlink_most / 1e6, 10), optional_number(row.rdma_gb_per_s),
                       optional_number(row.nvlink_gb_per_s), row.algorithm, row.bottleneck.name,
                       row.bottleneck.share * 100);
  if (!bench.rows.empty() && !bench.rows.back().bottleneck.sentence.empty())
    out += "\n" + bench.rows.back().bottleneck.sentence + "\n";
  return out;
}

std::string moe_json(const MoeBench& bench) {
  JsonWriter json;
  json.begin_object().member("schema", "weft/bench-moe/1");
  json.member("collective", work::to_text(bench.kind));
  json.member("ranks", bench.ranks).member("nodes", bench.nodes);
  json.member("source", bench.source).member("stack", bench.stack).member("engine", bench.engine);
  json.key("rows").begin_array();
  for (const MoeRow& row : bench.rows) {
    const work::MoeShape& shape = row.shape;
    json.begin_object();
    json.member("tokens", shape.tokens).member("hidden", shape.hidden);
    json.member("experts", shape.experts).member("top_k", shape.top_k);
    json.member("max_nodes", shape.max_nodes).member("token_bytes", shape.token_bytes());
    json.member("routing", shape.drawn ? "drawn" : "expected").member("skew", shape.skew);
    json.member("time_us", row.time_us);
    json.member("rdma_bytes_mean", row.rdma_mean).member("rdma_bytes_most", row.rdma_most);
    json.member("nvlink_bytes_mean", row.nvlink_mean).member("nvlink_bytes_most", row.nvlink_most);
    json.member("nodes_a_token", row.nodes).member("ranks_a_token", row.ranks);
    if (row.rdma_gb_per_s) json.member("rdma_gb_per_s", *row.rdma_gb_per_s);
    if (row.nvlink_gb_per_s) json.member("nvlink_gb_per_s", *row.nvlink_gb_per_s);
    json.member("algorithm", row.algorithm);
    json.key("bottleneck").begin_object();
    json.member("link", row.bottleneck.name).member("share", row.bottleneck.share);
    json.member("sentence", row.bottleneck.sentence).end_object().end_object();
  }
  json.end_array().key("assumptions").begin_array();
  for (const std::string& assumption : bench.assumptions) json.value(assumption);
  json.end_array().end_object();
  return json.take();
}

std::string moe_csv(const MoeBench& bench) {
  std::string out =
      "collective,ranks,tokens,hidden,experts,top_k,max_nodes,token_bytes,time_us,rdma_bytes_mean,"
      "rdma_bytes_most,nvlink_bytes_mean,nvlink_bytes_most,rdma_gb_per_s,nvlink_gb_per_s,algorithm,"
      "bottleneck,bottleneck_share\n";
  for (const MoeRow& row : bench.rows) {
    const work::MoeShape& shape = row.shape;
    const auto number = [](const std::optional<double>& value) {
      return value ? fmt::format("{}", *value) : std::string();
    };
    out += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},\"{}\",{}\n",
                       work::to_text(bench.kind), bench.ranks, shape.tokens, shape.hidden,
                       shape.experts, shape.top_k, shape.max_nodes, shape.token_bytes(),
                       row.time_us, row.rdma_mean, row.rdma_most, row.nvlink_mean, row.nvlink_most,
                       number(row.rdma_gb_per_s), number(row.nvlink_gb_per_s), row.algorithm,
                       row.bottleneck.name, row.bottleneck.share);
  }
  return out;
}

}  // namespace weft::report
