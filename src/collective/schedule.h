// What the algorithms' files share: how a buffer is cut, the order of a channel's ring, the trees
// over nodes, and how an edge gets its NICs. Docs: docs/models/collectives.md.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collective/collective.h"

namespace weft::collective {

using EmitStep = std::function<void(const Step&)>;

// The index-th of `pieces` nearly equal parts: they differ by at most one byte and add up to size.
Bytes piece_of(Bytes size, std::int64_t pieces, std::int64_t index);

// Ranks in the order of the channel's ring, node after node.
std::vector<std::uint32_t> ring_ranks(const ChannelPlan& plan, const Channel& channel);

// NCCL's pair of binary trees over `count` nodes: every node is inner in at most one of them.
struct NodeTree {
  std::vector<std::optional<std::uint32_t>> parent;  // by node; none: the root
  std::vector<std::uint32_t> height;                 // longest way down to a leaf
  std::vector<std::uint32_t> depth;                  // hops up to the root
  std::uint32_t root = 0;
};
std::array<NodeTree, 2> double_binary_tree(std::uint32_t count);

// Collects edges. Between nodes an edge gets the NICs asked for; when the sender's NIC is next to
// another GPU (PXN) the edge is written as two.
class EdgeList {
 public:
  EdgeList(const ChannelPlan& plan, Fluid& fluid) : plan_(plan), fluid_(fluid) {}

  // By the NICs of the channel's ring (leave the sender's node, enter the receiver's).
  void ring(std::uint32_t from, std::uint32_t to, std::size_t channel, double bytes);
  // Between the heads of a tree: both by the NIC at which the channel enters.
  void head(std::uint32_t from, std::uint32_t to, std::size_t channel, double bytes);
  // By the nearest NICs of each rank, in equal parts; where the network does not join two of them,
  // over a GPU of the sender's node whose NIC reaches the receiver's.
  void nearest(std::uint32_t from, std::uint32_t to, std::size_t channel, double bytes);
  // Between a GPU and the NVSwitches.
  void to_switch(std::uint32_t from, std::size_t channel, double bytes);
  void from_switch(std::uint32_t to, std::size_t channel, double bytes);
  // Between a GPU and the network's switches, which reduce: up and down, by the rank's own NICs.
  // Edges of one `tree` are added up together.
  void through_network(std::uint32_t rank, std::size_t tree, double bytes);

 private:
  // The rank of from's node that sends for it to the i-th NIC of `to`: itself unless only another's
  // NIC is in the same part of the network; and the place of that NIC among the rank's.
  struct Sender {
    std::uint32_t rank = 0;
    std::size_t nic = 0;
  };
  [[nodiscard]] Sender sender_to(std::uint32_t from, std::uint32_t to, std::size_t i) const;
  [[nodiscard]] bool crosses(std::uint32_t from, std::uint32_t to) const {
    return plan_.rank_node[from] != plan_.rank_node[to];
  }
  Edge& add(std::uint32_t from, std::uint32_t to, std::size_t channel, double bytes);

  const ChannelPlan& plan_;
  Fluid& fluid_;
};

enum class Efficiency { ring, tree, direct, nvls };

// Latency, factors and cap from the model and the constants. `cap_by_model`: the SMs, not the
// links, bound it (LL, LL128, trees).
Fluid start_fluid(std::string_view algorithm, const Request& request, const ChannelPlan& plan,
                  const Constants& constants, Efficiency efficiency, bool cap_by_model);

// Of an MoE exchange: links as direct sends, latency as measured of such kernels.
Fluid start_moe(std::string_view algorithm, const Request& request, const ChannelPlan& plan,
                const Constants& constants);

// Reduction in the network. Places in a node whose GPUs have NICs of their own; why an all-reduce
// by it cannot run; the two rounds in which the GPUs of that place hand in their sums and get the
// total (the first node's stands for the switches).
std::vector<std::uint32_t> network_heads(const ChannelPlan& plan);
std::string refuse_collnet(std::string_view name, const Request& request, const ChannelPlan& plan);
void network_steps(const ChannelPlan& plan, std::uint32_t local, std::uint32_t round, Step step,
                   const EmitStep& emit);

// Offsets between nodes over which a large all-to-all is spread: all of them up to `exact` edges a
// rank, else 16 evenly spaced ones. The bytes of each rank stay exact; which far node gets them is
// then a sample.
std::vector<std::uint32_t> node_offsets(std::uint32_t nodes);

// `each` bytes from every rank to every other, straight; far nodes by node_offsets.
void every_pair(const ChannelPlan& plan, double each, EdgeList& edges);

// All-to-all along rails: by NVLink to the local GPU of the target's place, then across.
void rail_exchange_steps(const Request& request, const ChannelPlan& plan, const EmitStep& emit);
void rail_exchange_edges(const Request& request, const ChannelPlan& plan, EdgeList& edges);

}  // namespace weft::collective
