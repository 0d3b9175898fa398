// The search for rings in one node: as many channels as the links carry at one rung of NCCL's
// bandwidth ladder, each a path over every GPU of the node, closed (one node) or from a NIC to a
// NIC (several). Every channel takes its bandwidth from each link it crosses, so uplinks, host
// bridges and sockets are shared as NCCL counts them. Backtracks within a budget of steps.
// Source: NCCL 2.30 src/graph/search.cc (facts only); docs/models/channels.md.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "collective/node_view.h"

namespace weft::collective {

struct FoundChannel {
  std::vector<std::uint32_t> order;       // places in NodeView::gpus
  std::uint32_t nic_in = 0, nic_out = 0;  // places in NodeView::nics; 0 on one node
};

struct Found {
  std::vector<FoundChannel> channels;
  double intra = 0, inter = 0;  // GB/s a channel
  Reach reach_intra = Reach::loc, reach_inter = Reach::loc;
  bool cross_nic = false;
  [[nodiscard]] double total() const { return static_cast<double>(channels.size()) * intra; }
};

struct SearchLimits {
  bool network = false;
  int max_channels = 32;
};

Found search_rings(const NodeView& view, const SearchLimits& limits);

// NCCL's second use of the same order: the channels twice at half the bandwidth, where one is wide.
void duplicate_channels(Found& found, int compute_capability, int max_channels);

// The highest rung that the chains of `found` bear inside the node while the NICs carry
// `found.inter`; NCCL stops at the first rung that is twice the network's.
double raise_chain_bandwidth(const NodeView& view, const Found& found, bool network);

// GPU that stands next to the NIC.
std::uint32_t gpu_near_nic(const NodeView& view, std::uint32_t nic);

std::span<const double> ladder(const NodeView& view, bool network);

}  // namespace weft::collective
