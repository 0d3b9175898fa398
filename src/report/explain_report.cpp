#include "report/explain_report.h"

#include <fmt/format.h>

namespace weft::report {
namespace {

std::string plan_text(const collective::ChannelPlan& plan) {
  std::string out = fmt::format("\nchannels found on this fabric: {} ({} node{} x {} GPU{})\n",
                                plan.channels.size(), plan.nodes, plan.nodes == 1 ? "" : "s",
                                plan.ranks_per_node, plan.ranks_per_node == 1 ? "" : "s");
  out += fmt::format("  ring: {:g} GB/s a channel inside a node", plan.ring_bw_intra);
  if (plan.nodes > 1) out += fmt::format(", {:g} GB/s between nodes", plan.ring_bw_inter);
  const bool nvlink = plan.intra_type.kind == fabric::PathKind::nvlink;
  out += fmt::format("; paths {} inside{}\n", nvlink ? "NVL" : to_text(plan.intra_type),
                     plan.nodes > 1 ? ", " + to_text(plan.inter_type) + " to the NIC" : "");
  for (const std::string& note : plan.notes) out += "  " + note + "\n";
  return out;
}

std::string verdict(const ExplainRow& row) {
  const collective::Candidate* best = nullptr;
  const collective::Candidate* second = nullptr;
  for (const collective::Candidate& candidate : row.candidates) {
    if (!candidate.enabled) continue;
    if (best == nullptr) {
      best = &candidate;
    } else if (second == nullptr) {
      second = &candidate;
    }
  }
  if (row.forced)
    return fmt::format("{}/{} was forced\n", row.predicted.algorithm, row.predicted.protocol);
  if (best == nullptr) return "no candidate can run\n";
  if (second == nullptr)
    return fmt::format("{}/{} is the only candidate\n", best->algorithm, to_text(best->protocol));
  return fmt::format("{}/{} wins: {:.1f} us, the next ({}/{}) {:.1f} us, {:.0f} % longer\n",
                     best->algorithm, to_text(best->protocol), best->time_us, second->algorithm,
                     to_text(second->protocol), second->time_us,
                     (second->time_us / best->time_us - 1) * 100);
}

}  // namespace

std::string explain_text(const collective::ChannelPlan& plan, const std::vector<ExplainRow>& rows) {
  std::string out = plan_text(plan);
  for (const ExplainRow& row : rows) {
    out += fmt::format("\n{} B: {}", row.predicted.size.count(), verdict(row));
    out += fmt::format("  {:<16} {:<7} {:>3} {:>13} {:>15} {:>13}\n", "algorithm", "proto", "ch",
                       "latency (us)", "algbw (GB/s)", "time (us)");
    for (const collective::Candidate& candidate : row.candidates) {
      out += fmt::format("  {:<16} {:<7}", candidate.algorithm, to_text(candidate.protocol));
      if (candidate.enabled) {
        out += fmt::format(" {:>3} {:>13.1f} {:>15.1f} {:>13.1f}\n", candidate.channels,
                           candidate.latency_us, candidate.bandwidth_gb_per_s, candidate.time_us);
      } else {
        out += fmt::format(" cannot run: {}\n", candidate.why_not);
      }
    }
    out += fmt::format(
        "  weft predicts {:.1f} us for {}/{} (the cost model chooses, the engine predicts)\n",
        row.predicted.time_us, row.predicted.algorithm, row.predicted.protocol);
  }
  return out;
}

}  // namespace weft::report
