// Constants of the collective model, one set per GPU generation, as plain data. Values, sources,
// confidence and (for fitted ones) residuals: data/constants/collective.yaml, loaded by scenario/.
// The choice of algorithm follows NCCL's own cost model (tuner.h) and never uses these; these scale
// what the engines predict to what is measured.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "collective/calibration.h"
#include "fabric/classes.h"
#include "work/work.h"

namespace weft::collective {

// A factor on the predicted time by message size: linear in log2 of the size between the points,
// flat beyond them, 1 without any.
struct SizeCurve {
  struct Point {
    double log2_bytes = 0, factor = 1;
  };
  std::vector<Point> points;
  [[nodiscard]] double at(Bytes size) const;
};

// Of one collective by one pattern (ring, tree, direct, NVLS).
struct PatternConstants {
  double efficiency = 1;  // share of the links' NCCL-effective rate that large messages reach
  // Link rate over the rate at which a rank copies its own share from one buffer to the other; that
  // share is size / n, so the copy weighs most where ranks are few.
  double own_copy = 0;
  SizeCurve low_latency, simple;  // LL and LL128; Simple
};

// Of one GPU generation (by compute capability).
struct GenerationConstants {
  using ByKind = std::array<PatternConstants, work::kCollectiveKindCount>;
  int compute_capability = 0;
  ByKind ring{}, tree{}, direct{}, nvls{};
  double latency_scale = 1;          // measured / NCCL's model, small messages
  double nvls_latency_scale = 1;     // the same for NVLS, which starts at a few MiB
  double channel_copy_gb_per_s = 0;  // own share of all_gather through one channel; 0: not known
};

// Of collectives that cross nodes by one class of NIC.
struct NicConstants {
  std::string name;       // starts the NIC's catalogue name ("efa"), or is its vendor ("aws"), or
                          // "default"
  double efficiency = 1;  // share of the payload rate (line rate less framing) that is reached
  double latency_share = 1;  // true part of the latency that the NIC's plugin declares
  double hop_us = 0;         // beyond NCCL's model, each time a message leaves a node
  SizeCurve low_latency, simple;
};

// What it costs to pass through host memory where GPUs, or GPU and NIC, may not reach each other.
struct StagingConstants {
  double shared_memory_efficiency = 1;         // GPU to GPU of one node, of the PCIe rate
  double shared_memory_latency_scale_amd = 1;  // hops between the dies of an EPYC
  double network_efficiency = 1;               // GPU to NIC, of the network's rate
  double network_hop_us = 0;                   // each time a message leaves a node so
};

// Grouped sends and receives between nodes: each is a connection of its own.
struct NetworkSendConstants {
  double efficiency = 1;  // of what collectives reach
  double hop_us = 0;
};

// Start, synchronisation and end of an MoE exchange's kernels.
struct MoeLatency {
  std::string algorithm;
  work::CollectiveKind kind = work::CollectiveKind::moe_dispatch;
  double inside_us = 0, across_us = 0;  // one node; several
};

struct Constants {
  std::vector<GenerationConstants> generations;
  std::vector<NicConstants> nics;
  StagingConstants staging;
  NetworkSendConstants network_send;
  Calibration calibration;  // of the site, from its own logs
  std::vector<MoeLatency> moe;
  [[nodiscard]] MoeLatency moe_latency(std::string_view algorithm, work::CollectiveKind kind) const;
  [[nodiscard]] const GenerationConstants& of(int compute_capability) const;  // nearest at or below
  [[nodiscard]] const NicConstants& nic(std::string_view model, fabric::Vendor vendor) const;
};

// Reads data/constants/collective.yaml. Throws InputError with every fault of it.
Constants parse_constants(std::string_view text, const std::string& file);

}  // namespace weft::collective
