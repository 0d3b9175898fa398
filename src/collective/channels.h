// ChannelPlan: the rings and trees found on the fabric given, as NCCL's graph search would find
// them (its bandwidth ladder), not assumed from the server's name. Built once per
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
  std::vector<std::uint32_t> local_order;  // indexes into the node's GPU list
  bool alternates = false;  // odd nodes go through local_order backwards, so a cross-NIC ring
                            // leaves and enters by the same rail (NCCL's crossNic 2)
  std::vector<fabric::DeviceId> enter_nic, leave_nic;  // by node; empty on one node
  [[nodiscard]] fabric::DeviceId nic_of(std::size_t node, bool leaving) const;
  // The node's GPU at position `at` of the ring.
  [[nodiscard]] std::uint32_t local_at(std::size_t node, std::size_t at) const {
    return alternates && node % 2 == 1 ? local_order[local_order.size() - 1 - at] : local_order[at];
  }
};

enum class IntraLink : std::uint8_t { nvlink, pcie };  // selects NCCL's hardware latency row

struct ChannelPlan {
  Group group;
  int nodes = 1;
  int ranks_per_node = 1;  // of the smallest node; unequal nodes are refused
  std::vector<std::vector<std::uint32_t>> node_ranks;  // node -> ranks, in local order
  std::vector<std::uint32_t> rank_node, rank_local;    // the reverse: rank -> node, place in it
  std::vector<Channel> channels;
  // The nearest NICs of each rank, rails spread: rank r has nics_per_rank of them from
  // rank_nic[r * nics_per_rank] on (four with 32 NICs for 8 GPUs). Empty: one node.
  std::vector<fabric::DeviceId> rank_nic;
  int nics_per_rank = 1;
  // The part of the network that each of rank_nic is in, where rails or planes are not joined
  // (network_parts.h); empty: one network. Bytes between parts are relayed inside the node.
  std::vector<std::uint32_t> rank_nic_part;
  // GPU that sits nearest to rank_nic or to a channel's NIC, as place in its node, for PXN.
  std::vector<std::uint32_t> channel_enter_local, channel_leave_local;
  // Per-channel bandwidths of the search, GB/s (NCCL's bwIntra and bwInter), and path types.
  double ring_bw_intra = 0, ring_bw_inter = 0;
  double tree_bw_intra = 0, tree_bw_inter = 0;
  IntraLink intra_link = IntraLink::nvlink;
  fabric::PathClass intra_type, inter_type;
  bool pxn = false;         // rings leave through the GPU next to the NIC, over NVLink
  bool rail_relay = false;  // sends can do so too: NVLink between all GPUs of a node, a NIC each
  bool cross_nic = false;   // a ring leaves by another NIC than it enters
  bool collnet = false;     // the switches at all its NICs reduce (SHARP), and are told to
  bool nvls = false;        // every GPU and switch can multicast
  bool c2c = false;         // GPUs reach their CPU, and the NICs beyond it, over NVLink-C2C
  int nvls_channels = 0;
  double nvls_bw_intra = 0, nvls_bw_inter = 0;
  int compute_capability = 0;  // lowest of the group
  fabric::Vendor cpu_vendor = fabric::Vendor::unknown;
  double nic_latency_us = 0;
  std::string nic_model;  // of the first NIC used, for the constants of NIC and stack
  fabric::Vendor nic_vendor = fabric::Vendor::unknown;
  std::vector<std::string> notes;  // how each figure came about, for --explain
};

// Throws nothing; a group that cannot communicate has channels.empty() and says why in notes.
struct ChannelOptions {
  int force_channels = 0;
  bool use_nvls = true;
};
ChannelPlan plan_channels(const fabric::Fabric& fabric, const Group& group,
                          ChannelOptions options = {});

// What NCCL's graph search takes a link to carry, GB/s of 1e9 B in one direction: NVLink per
// generation of GPU (compute capability 0: by the link's own generation), xGMI, PCIe by lanes.
// 0 for kinds that it has no figure of its own for (network links: their rate).
double nccl_link_gb_per_s(const fabric::LinkClass& link, int compute_capability);

}  // namespace weft::collective
