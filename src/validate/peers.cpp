#include "validate/peers.h"

#include <algorithm>

#include "collective/tuner.h"

namespace weft::validate {
namespace {

using work::CollectiveKind;

bool is_hopper(const collective::ChannelPlan& plan) {
  return plan.compute_capability == 90;
}

double nccl_model_us(const collective::ChannelPlan& plan, const work::CollectiveOp& op,
                     std::string_view algorithm, std::string_view protocol) {
  const auto parsed = collective::parse_protocol(protocol);
  if (!parsed) return 0;
  const collective::ModelPoint point =
      collective::model_at({op.kind, op.size, &plan}, algorithm, *parsed);
  if (point.bandwidth_gb_per_s <= 0) return 0;
  return point.latency_us + op.size.to_double() / (point.bandwidth_gb_per_s * 1e3);
}

// Steps of a ring, a step a chunk of size/n at 385.5 GB/s and 3.76 us: the line through what a
// build of its congestion-aware backend gave for 8 GPUs (1 MiB 57.4, 16 MiB 128.8, 128 MiB 662,
// 512 MiB 2490 us, all within 0.3 %).
double astra_sim_us(const collective::ChannelPlan& plan, const work::CollectiveOp& op) {
  if (plan.nodes != 1 || !is_hopper(plan)) return 0;
  const auto n = static_cast<double>(plan.rank_node.size());
  double steps = 0;
  switch (op.kind) {
    case CollectiveKind::all_reduce:
      steps = 2 * (n - 1);
      break;
    case CollectiveKind::all_gather:
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::all_to_all:
      steps = n - 1;
      break;
    default:
      return 0;
  }
  constexpr double kBytesPerUs = 385.5e3, kStepUs = 3.76;
  return steps * (op.size.to_double() / n / kBytesPerUs + kStepUs);
}

// NVLink 12 x 20 (A100) or 18 x 20.6 GB/s (H100); NVLS 475; NIC 23.5 (200G) or 48.5 GB/s (400G).
// Ring: one server NVLink; several min(NVLink, NICs). All-to-all across servers: NICs / g x
// (n-1)/((N-1) g).
double simai_us(const collective::ChannelPlan& plan, const work::CollectiveOp& op,
                std::string_view algorithm) {
  const bool ampere = plan.compute_capability == 80;
  if (!ampere && !is_hopper(plan)) return 0;
  const auto n = static_cast<double>(plan.rank_node.size());
  const double nvlink = ampere ? 12 * 20.0 : 18 * 20.6;
  const double one_nic = ampere ? 23.5 : 48.5;
  const double local = plan.ranks_per_node;
  const double nics = one_nic * local * plan.nics_per_rank;
  double busbw = algorithm.starts_with("nvls") ? 475 : nvlink;
  if (plan.nodes > 1) busbw = std::min(nvlink, nics);
  if (plan.nodes > 1 && op.kind == CollectiveKind::all_to_all)
    busbw = nics / local * (n - 1) / ((plan.nodes - 1) * local);
  const int ranks = static_cast<int>(plan.rank_node.size());
  return op.size.to_double() * work::busbw_factor(op.kind, ranks) / (busbw * 1e3);
}

}  // namespace

PeerTimes peer_times(const collective::ChannelPlan& plan, const work::CollectiveOp& op,
                     std::string_view algorithm, std::string_view protocol) {
  return {nccl_model_us(plan, op, algorithm, protocol), astra_sim_us(plan, op),
          simai_us(plan, op, algorithm)};
}

}  // namespace weft::validate
