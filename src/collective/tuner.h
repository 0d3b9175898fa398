// NCCL 2.30's cost model (docs/models/tuner.md), as pure functions: which algorithm, protocol
// and number of channels NCCL would choose, and the time it would predict. Reimplemented from its
// published constants; exact reference latencies are tests.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "collective/collective.h"

namespace weft::collective {

struct Candidate {
  std::string algorithm;  // ring, tree, nvls, nvls_tree, ...
  Protocol protocol = Protocol::simple;
  int channels = 0;
  double latency_us = 0;
  double bandwidth_gb_per_s = 0;  // algorithm bandwidth
  double time_us = 0;             // NCCL's own prediction
  bool enabled = true;
  bool only_forced = false;  // not NCCL's own, but runs when asked for by name
  std::string why_not;       // when not enabled
};

struct TunerInput {
  work::CollectiveKind kind = work::CollectiveKind::all_reduce;
  Bytes size;
  const ChannelPlan* plan = nullptr;
  const work::MoeShape* moe = nullptr;  // of moe_dispatch and moe_combine
};

// The model's figures of one algorithm and protocol, whether or not it could run. The bandwidth is
// before the tree's size correction and the latency before the ring's plateau factor; `latency` and
// `bandwidth` at a size: model_at. Zero bandwidth: NCCL has no such combination.
struct ModelPoint {
  double latency_us = 0;
  double nic_us = 0;  // of latency_us: what the NIC's plugin declares, no business of the GPU
  double bandwidth_gb_per_s = 0;
  std::string latency_text;  // "8.4 + 14 x 3.4"
  double crossings = 0;  // times that a message leaves a node in the chain counted by latency_us
};
ModelPoint model(work::CollectiveKind kind, std::string_view algorithm, Protocol protocol,
                 const ChannelPlan& plan);
ModelPoint model_at(const TunerInput& input, std::string_view algorithm, Protocol protocol);

// Every candidate, best (lowest time among enabled) first.
std::vector<Candidate> candidates(const TunerInput& input);

struct Forced {
  std::string algorithm;
  std::optional<Protocol> protocol;
  int channels = 0;
};
// The choice, honouring what the user forces. nullopt when what is forced cannot run; `reason` says
// why.
std::optional<Candidate> choose(const TunerInput& input, const Forced& forced, std::string& reason);

}  // namespace weft::collective
