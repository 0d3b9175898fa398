#include "collective/tuner.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "base/text.h"
#include "collective/tuner_model.h"

namespace weft::collective {
namespace {

using work::CollectiveKind;

constexpr std::array<Protocol, 3> kAllProtocols{Protocol::ll, Protocol::ll128, Protocol::simple};

// NCCL's send and receive switch from LL to Simple above this many bytes to one peer.
constexpr double kPeerLlLimit = 16384;
// Ring + Simple over several nodes: below this many bytes a channel and rank latency counts once.
constexpr std::int64_t kPlateauBytes = 64;

std::size_t index(Protocol p) {
  return static_cast<std::size_t>(p);
}

std::optional<Row> find_row(std::string_view name) {
  for (const RowName& row : kRows)
    if (row.name == name) return row.row;
  return std::nullopt;
}

ModelPoint sized(const TunerInput& input, Row row, Protocol protocol) {
  ModelPoint out = Model(input.kind, *input.plan, input.moe).point(row, protocol);
  const double bare =
      Model(input.kind, *input.plan, 0.0, input.moe).point(row, protocol).latency_us;
  out.nic_us = out.latency_us - bare;
  out.crossings =
      Model(input.kind, *input.plan, 1.0, input.moe).point(row, protocol).latency_us - bare;
  const std::int64_t bytes = input.size.count();
  const ChannelPlan& plan = *input.plan;
  if (row == Row::tree && input.kind == CollectiveKind::all_reduce && bytes >= 64) {
    const auto log =
        static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(bytes)) - 7);
    if (log < tables::kTreeSizes)
      out.bandwidth_gb_per_s *= tables::kTreeCorrection[index(protocol)][log];
  }
  const auto pieces = static_cast<std::int64_t>(plan.channels.size() *
                                                std::max<std::size_t>(plan.group.gpus.size(), 1));
  const bool plateau = row == Row::ring && protocol == Protocol::simple && plan.nodes > 1 &&
                       input.kind == CollectiveKind::all_reduce && pieces > 0 &&
                       bytes / pieces >= kPlateauBytes;
  if (plateau) {
    const double factor = plan.compute_capability < 80 ? 1.9 : 1.4;
    out.latency_us *= factor;
    out.nic_us *= factor;
    out.latency_text = fmt::format("({}) x {}", out.latency_text, factor);
  }
  return out;
}

// LL and Simple of sends are not compared: NCCL goes by the bytes to one peer.
bool peer_protocol_fits(const TunerInput& input, Protocol protocol) {
  const double n = static_cast<double>(std::max<std::size_t>(input.plan->group.gpus.size(), 1));
  double to_peer = input.size.to_double();
  if (input.kind == CollectiveKind::hypercube)
    to_peer /= 2;  // the last round, which moves most
  else if (input.kind != CollectiveKind::send_recv)
    to_peer /= n;
  return (to_peer <= kPeerLlLimit) == (protocol == Protocol::ll);
}

Candidate candidate(const TunerInput& input, const RowName& row, Protocol protocol) {
  const ModelPoint point = sized(input, row.row, protocol);
  Candidate out;
  out.algorithm = row.name;
  out.protocol = protocol;
  const bool by_head = row.row == Row::nvls || row.row == Row::nvls_tree;
  out.channels =
      by_head ? input.plan->nvls_channels : static_cast<int>(input.plan->channels.size());
  out.latency_us = point.latency_us;
  out.bandwidth_gb_per_s = point.bandwidth_gb_per_s;
  out.why_not = Model(input.kind, *input.plan, input.moe).why_not(row.row, protocol);
  out.only_forced = starts_with(out.why_not, "not one of NCCL's");
  const bool nccl_sends = row.row == Row::direct || row.row == Row::pxn ||
                          (row.row == Row::hypercube && input.kind == CollectiveKind::hypercube);
  if (out.why_not.empty() && nccl_sends && !peer_protocol_fits(input, protocol)) {
    out.why_not = protocol == Protocol::ll ? "LL carries up to 16 KiB to a peer"
                                           : "up to 16 KiB to a peer go by LL";
    out.only_forced = true;
  }
  if (out.why_not.empty() && !(point.bandwidth_gb_per_s > 0)) out.why_not = "has no bandwidth here";
  out.enabled = out.why_not.empty();
  if (point.bandwidth_gb_per_s > 0)
    out.time_us = point.latency_us + input.size.to_double() / (1000 * point.bandwidth_gb_per_s);
  return out;
}

}  // namespace

ModelPoint model(CollectiveKind kind, std::string_view algorithm, Protocol protocol,
                 const ChannelPlan& plan) {
  const auto row = find_row(algorithm);
  return row ? Model(kind, plan).point(*row, protocol) : ModelPoint{};
}

ModelPoint model_at(const TunerInput& input, std::string_view algorithm, Protocol protocol) {
  const auto row = find_row(algorithm);
  return row ? sized(input, *row, protocol) : ModelPoint{};
}

std::vector<Candidate> candidates(const TunerInput& input) {
  std::vector<Candidate> out;
  const Model model(input.kind, *input.plan, input.moe);
  for (const RowName& row : kRows)
    for (Protocol protocol : kAllProtocols)
      if (model.has(row.row, protocol)) out.push_back(candidate(input, row, protocol));
  std::stable_sort(out.begin(), out.end(), [](const Candidate& a, const Candidate& b) {
    if (a.enabled != b.enabled) return a.enabled;
    return a.time_us < b.time_us;
  });
  return out;
}

std::optional<Candidate> choose(const TunerInput& input, const Forced& forced,
                                std::string& reason) {
  reason.clear();
  std::optional<Candidate> best;
  for (const Candidate& each : candidates(input)) {
    if (!forced.algorithm.empty() && each.algorithm != forced.algorithm) continue;
    if (forced.protocol && each.protocol != *forced.protocol) continue;
    const bool asked = !forced.algorithm.empty() || forced.protocol;
    if (each.enabled || (asked && each.only_forced)) {
      if (!best) best = each;
    } else if (reason.empty()) {
      reason = fmt::format("{} with {}: {}", each.algorithm, to_text(each.protocol), each.why_not);
    }
  }
  if (!best) {
    if (reason.empty())
      reason =
          fmt::format("{} has no {}{}", work::to_text(input.kind),
                      forced.algorithm.empty() ? "algorithm" : forced.algorithm,
                      forced.protocol ? fmt::format(" with {}", to_text(*forced.protocol)) : "");
    return std::nullopt;
  }
  reason.clear();
  if (forced.channels > 0 && best->channels > 0 && forced.channels != best->channels) {
    best->bandwidth_gb_per_s *= static_cast<double>(forced.channels) / best->channels;
    best->channels = forced.channels;
    best->enabled = true;
    best->time_us = best->latency_us + input.size.to_double() / (1000 * best->bandwidth_gb_per_s);
  }
  return best;
}

}  // namespace weft::collective
