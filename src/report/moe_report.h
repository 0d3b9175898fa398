// What `weft bench moe_dispatch` and `moe_combine` found, as a table, JSON and CSV. Bandwidths are
// counted as DeepEP counts them (docs/models/moe.md), bytes as they leave a rank.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "result/result.h"

namespace weft::report {

struct MoeRow {
  work::MoeShape shape;
  double time_us = 0;
  // Bytes that a rank sends through its NICs and over NVLink: mean of the ranks, and the most that
  // one sends or receives.
  double rdma_mean = 0, rdma_most = 0, nvlink_mean = 0, nvlink_most = 0;
  // Of one token, by mean: nodes and ranks that it goes to, the own ones included.
  double nodes = 0, ranks = 0;
  // DeepEP's figures; RDMA: one copy a node (relay) or all copies (direct), NVLink: one a rank.
  std::optional<double> rdma_gb_per_s, nvlink_gb_per_s;
  std::string algorithm;
  result::Bottleneck bottleneck;
};

struct MoeBench {
  work::CollectiveKind kind = work::CollectiveKind::moe_dispatch;
  int ranks = 0, nodes = 1;
  std::string engine, source, stack;
  std::vector<std::string> assumptions;
  std::vector<MoeRow> rows;
};

std::string moe_table(const MoeBench& bench);
std::string moe_json(const MoeBench& bench);  // schema weft/bench-moe/1
std::string moe_csv(const MoeBench& bench);

}  // namespace weft::report
