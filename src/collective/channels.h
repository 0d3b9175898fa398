// ChannelPlan: the rings and trees found on the fabric given, as NCCL's graph search would find
// them (bandwidth ladder, FORMATS 6 and 7), not assumed from the server's name. Built once per
// group. Method: docs/models/channels.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fabric/data_path.h"
#include "fabric/path_class.h"

namespace weft::collective {

// The ranks of one collective, by rank.
struct Group {
  std::vector<fabric::DeviceId> gpus;
};

// One channel: for every node the local order in which the ring visits its GPUs, and the NICs by
// which it enters and leaves. A ring over all ranks = the node orders one after the other.
struct Channel {
  std::vector<std::uint32_t> local_order;  // indexes into the node's GPU list; same on every node
  fabric::DeviceId nic_of(std::size_t node, bool leaving) const;
  std::vector<fabric::DeviceId> enter_nic, leave_nic;  // by node; empty on one node
};

enum class IntraLink : std::uint8_t { nvlink, pcie };  // selects NCCL's hardware latency row

struct ChannelPlan {
  Group group;
  int nodes = 1;
  int ranks_per_node = 1;  // of the smallest node; unequal nodes are refused
  std::vector<std::vector<std::uint32_t>> node_ranks;  // node -> ranks, in local order
  std::vector<Channel> channels;
  // Per-channel bandwidths of the search, GB/s (NCCL's bwIntra and bwInter), and path types.
  double ring_bw_intra = 0, ring_bw_inter = 0;
  double tree_bw_intra = 0, tree_bw_inter = 0;
  IntraLink intra_link = IntraLink::nvlink;
  fabric::PathClass intra_type, inter_type;
  bool nvls = false;  // every GPU and switch can multicast
  int nvls_channels = 0;
  double nvls_bw_intra = 0;
  int compute_capability = 0;  // lowest of the group
  fabric::Vendor cpu_vendor = fabric::Vendor::unknown;
  double nic_latency_us = 0;
  std::vector<std::string> notes;  // how each figure came about, for --explain
};

// Throws nothing; a group that cannot communicate has channels.empty() and says why in notes.
struct ChannelOptions {
  int force_channels = 0;
  bool use_nvls = true;
};
ChannelPlan plan_channels(const fabric::Fabric& fabric, const Group& group,
                          ChannelOptions options = {});

}  // namespace weft::collective
