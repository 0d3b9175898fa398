#include "collective/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "base/check.h"
#include "collective/tuner.h"

namespace weft::collective {
namespace {

// More nodes than these are sampled by node_offsets.
constexpr std::uint32_t kExactNodes = 64;
constexpr std::uint32_t kSampledOffsets = 16;

std::optional<std::uint32_t> first_tree_parent(std::uint32_t node, std::uint32_t count) {
  if (node == 0) return std::nullopt;
  const std::uint32_t bit = node & (~node + 1);  // lowest set bit
  const std::uint32_t up = (node ^ bit) | (bit << 1);
  return up < count ? up : node ^ bit;
}

// The second tree: the first mirrored (even count) or moved by one (odd count).
std::optional<std::uint32_t> second_tree_parent(std::uint32_t node, std::uint32_t count) {
  if (count % 2 == 0) {
    const auto up = first_tree_parent(count - 1 - node, count);
    return up ? std::optional(count - 1 - *up) : std::nullopt;
  }
  const auto up = first_tree_parent((node + count - 1) % count, count);
  return up ? std::optional((*up + 1) % count) : std::nullopt;
}

void measure(NodeTree& tree) {
  const auto count = static_cast<std::uint32_t>(tree.parent.size());
  tree.height.assign(count, 0);
  tree.depth.assign(count, 0);
  for (std::uint32_t node = 0; node < count; ++node) {
    std::uint32_t hops = 0;
    for (std::uint32_t at = node; tree.parent[at]; at = *tree.parent[at]) {
      ++hops;
      tree.height[*tree.parent[at]] = std::max(tree.height[*tree.parent[at]], hops);
    }
    tree.depth[node] = hops;
    if (hops == 0) tree.root = node;
  }
}

double protocol_factor(Protocol protocol) {
  switch (protocol) {
    case Protocol::ll:
      return 2;  // 4 bytes of flag with every 4 of data
    case Protocol::ll128:
      return 128.0 / 120.0;  // 8 bytes of flag in every line of 128
    case Protocol::simple:
      return 1;
  }
  return 1;
}

}  // namespace

Bytes piece_of(Bytes size, std::int64_t pieces, std::int64_t index) {
  const std::int64_t whole = size.count() / pieces, rest = size.count() % pieces;
  return Bytes(whole + (index < rest ? 1 : 0));
}

std::vector<std::uint32_t> ring_ranks(const ChannelPlan& plan, const Channel& channel) {
  std::vector<std::uint32_t> out;
  out.reserve(plan.group.gpus.size());
  for (std::size_t node = 0; node < plan.node_ranks.size(); ++node)
    for (std::size_t at = 0; at < channel.local_order.size(); ++at)
      out.push_back(plan.node_ranks[node][channel.local_at(node, at)]);
  return out;
}

std::array<NodeTree, 2> double_binary_tree(std::uint32_t count) {
  std::array<NodeTree, 2> trees;
  for (std::uint32_t node = 0; node < count; ++node) {
    trees[0].parent.push_back(first_tree_parent(node, count));
    trees[1].parent.push_back(second_tree_parent(node, count));
  }
  for (NodeTree& tree : trees) measure(tree);
  return trees;
}

Edge& EdgeList::add(std::uint32_t from, std::uint32_t to, std::size_t channel, double bytes) {
  Edge edge;
  edge.from = from;
  edge.to = to;
  edge.channel = static_cast<std::uint16_t>(channel);
  edge.bytes = bytes;
  fluid_.edges.push_back(edge);
  return fluid_.edges.back();
}

void EdgeList::ring(std::uint32_t from, std::uint32_t to, std::size_t channel, double bytes) {
  if (!crosses(from, to)) {
    add(from, to, channel, bytes);
    return;
  }
  const Channel& own = plan_.channels[channel];
  const std::uint32_t from_node = plan_.rank_node[from], to_node = plan_.rank_node[to];
  std::uint32_t sender = from;
  if (plan_.pxn) {
    const std::uint32_t near = plan_.node_ranks[from_node][plan_.channel_leave_local[channel]];
    if (near != from) {
      Edge& relay = add(from, near, channel, bytes);
      relay.relay = true;
      relay.origin = from;
      sender = near;
    }
  }
  Edge& edge = add(sender, to, channel, bytes);
  edge.from_nic = own.nic_of(from_node, true);
  edge.to_nic = own.nic_of(to_node, false);
  if (sender != from) edge.origin = from;
}

void EdgeList::head(std::uint32_t from, std::uint32_t to, std::size_t channel, double bytes) {
  Edge& edge = add(from, to, channel, bytes);
  if (!crosses(from, to)) return;
  edge.from_nic = plan_.channels[channel].nic_of(plan_.rank_node[from], false);
  edge.to_nic = plan_.channels[channel].nic_of(plan_.rank_node[to], false);
}

void EdgeList::nearest(std::uint32_t from, std::uint32_t to, std::size_t channel, double bytes) {
  if (!crosses(from, to) || plan_.rank_nic.empty()) {
    add(from, to, channel, bytes);
    return;
  }
  const auto each = static_cast<std::size_t>(plan_.nics_per_rank);
  for (std::size_t i = 0; i < each; ++i) {
    const double part = bytes / static_cast<double>(each);
    const Sender sender = sender_to(from, to, i);
    if (sender.rank != from) {
      Edge& relay = add(from, sender.rank, channel, part);
      relay.relay = true;
      relay.origin = from;
    }
    Edge& edge = add(sender.rank, to, channel, part);
    edge.from_nic = plan_.rank_nic[sender.rank * each + sender.nic];
    edge.to_nic = plan_.rank_nic[to * each + i];
    if (sender.rank != from) edge.origin = from;
  }
}

EdgeList::Sender EdgeList::sender_to(std::uint32_t from, std::uint32_t to, std::size_t i) const {
  const auto& part = plan_.rank_nic_part;
  const auto each = static_cast<std::size_t>(plan_.nics_per_rank);
  if (part.empty() || part[from * each + i] == part[to * each + i]) return {from, i};
  for (const std::uint32_t rank : plan_.node_ranks[plan_.rank_node[from]])
    for (std::size_t nic = 0; nic < each; ++nic)
      if (part[rank * each + nic] == part[to * each + i]) return {rank, nic};
  return {from, i};  // nothing reaches it: the engine says so
}

void EdgeList::through_network(std::uint32_t rank, std::size_t tree, double bytes) {
  const auto each = static_cast<std::size_t>(plan_.nics_per_rank);
  for (std::size_t i = 0; i < each; ++i) {
    const fabric::DeviceId nic = plan_.rank_nic[rank * each + i];
    Edge& up = add(rank, kSwitchPlane, tree * each + i, bytes / static_cast<double>(each));
    up.multicast = true;
    up.from_nic = nic;
    Edge& down = add(kSwitchPlane, rank, tree * each + i, bytes / static_cast<double>(each));
    down.multicast = true;
    down.to_nic = nic;
  }
}

void EdgeList::to_switch(std::uint32_t from, std::size_t channel, double bytes) {
  add(from, kSwitchPlane, channel, bytes).multicast = true;
}

void EdgeList::from_switch(std::uint32_t to, std::size_t channel, double bytes) {
  add(kSwitchPlane, to, channel, bytes).multicast = true;
}

namespace {

const GenerationConstants::ByKind& pattern_of(const GenerationConstants& own,
                                              Efficiency efficiency) {
  switch (efficiency) {
    case Efficiency::ring:
      return own.ring;
    case Efficiency::tree:
      return own.tree;
    case Efficiency::direct:
      return own.direct;
    case Efficiency::nvls:
      return own.nvls;
  }
  CHECK(false);
}

// A rank's links carry (n-1)/n of the size (twice that for all_reduce) while its SMs also copy the
// own 1/n: time x (1 + own_copy / (n-1)), or half as much more for all_reduce.
double own_copy_factor(const PatternConstants& pattern, const Request& request,
                       const ChannelPlan& plan) {
  if (request.in_place && request.kind != work::CollectiveKind::all_reduce) return 1;
  const auto peers = static_cast<double>(plan.rank_node.size()) - 1;
  const double passes = request.kind == work::CollectiveKind::all_reduce ? 2 : 1;
  return 1 + pattern.own_copy / (passes * peers);
}

// Between nodes the copy of the own share goes first and the network waits for it.
double own_copy_us(const GenerationConstants& own, const Request& request,
                   const ChannelPlan& plan) {
  const bool gathers = request.kind == work::CollectiveKind::all_gather ||
                       request.kind == work::CollectiveKind::reduce_scatter;
  if (plan.nodes == 1 || request.in_place || !gathers || own.channel_copy_gb_per_s <= 0) return 0;
  const double share = request.size.to_double() / static_cast<double>(plan.rank_node.size());
  const auto channels = static_cast<double>(std::max<std::size_t>(plan.channels.size(), 1));
  return share / (own.channel_copy_gb_per_s * 1e3 * channels);
}

// Where GPUs of a node, or GPU and NIC, only meet in host memory.
struct Staging {
  double efficiency = 1, latency_scale = 1, network_efficiency = 1, hop_us = 0;
};

Staging staging_of(const ChannelPlan& plan, const StagingConstants& constants) {
  // NCCL's default levels: P2P and GPUDirect RDMA go no farther than PXB.
  const auto far = [](const fabric::PathClass& path) {
    return path.kind == fabric::PathKind::phb || path.kind == fabric::PathKind::node ||
           path.kind == fabric::PathKind::sys;
  };
  Staging out;
  if (plan.ranks_per_node > 1 && plan.intra_link == IntraLink::pcie && far(plan.intra_type)) {
    out.efficiency = constants.shared_memory_efficiency;
    if (plan.cpu_vendor == fabric::Vendor::amd)
      out.latency_scale = constants.shared_memory_latency_scale_amd;
  }
  if (plan.nodes > 1 && far(plan.inter_type) && !plan.c2c) {
    out.network_efficiency = constants.network_efficiency;
    out.hop_us = constants.network_hop_us;
  }
  return out;
}

}  // namespace

Fluid start_fluid(std::string_view algorithm, const Request& request, const ChannelPlan& plan,
                  const Constants& constants, Efficiency efficiency, bool cap_by_model) {
  const GenerationConstants& own = constants.of(plan.compute_capability);
  const auto kind = static_cast<std::size_t>(request.kind);
  const ModelPoint point =
      model_at({request.kind, request.size, &plan, request.moe}, algorithm, request.protocol);
  const PatternConstants& pattern = pattern_of(own, efficiency)[kind];
  const NicConstants& nic = constants.nic(plan.nic_model, plan.nic_vendor);
  const bool simple = request.protocol == Protocol::simple, several = plan.nodes > 1;
  const SizeCurve& curve = several  ? (simple ? nic.simple : nic.low_latency)
                           : simple ? pattern.simple
                                    : pattern.low_latency;
  const double bend = curve.at(request.size);
  const Staging staging = staging_of(plan, constants.staging);
  const double scale =
      (efficiency == Efficiency::nvls ? own.nvls_latency_scale : own.latency_scale) *
      staging.latency_scale * bend;
  Fluid fluid;
  // The measured scale is of GPU and kernel, not of what the NIC's plugin declares.
  const bool sends = request.kind == work::CollectiveKind::send_recv && several;
  const double hop_us = nic.hop_us + staging.hop_us + (sends ? constants.network_send.hop_us : 0);
  const double nic_us = point.nic_us * nic.latency_share + point.crossings * hop_us;
  const Calibration& site = constants.calibration;
  const double latency_us = ((point.latency_us - point.nic_us) * scale + nic_us) * site.latency +
                            own_copy_us(own, request, plan);
  fluid.latency = Duration::picoseconds(static_cast<std::int64_t>(latency_us * 1e6 + 0.5));
  fluid.latency_text = fmt::format("({}) x {:.3g} us", point.latency_text, scale);
  if (nic_us > 0)
    fluid.latency_text += fmt::format(", {:.4g} us of NIC latency in it unscaled", nic_us);
  const double factor = protocol_factor(request.protocol) * bend;
  fluid.wire_factor = site.inside * factor / pattern.efficiency / staging.efficiency *
                      own_copy_factor(pattern, request, plan);
  fluid.network_wire_factor = site.network * factor / nic.efficiency / staging.network_efficiency /
                              (sends ? constants.network_send.efficiency : 1);
  // NCCL's figure of what a tree's channel moves is 24 GB/s on Blackwell, and three nodes of GB200
  // move twice that (NVIDIA/nccl issue 1801): there the links alone bind.
  const bool modest = efficiency == Efficiency::tree && own.compute_capability >= 100 && simple;
  if (((cap_by_model && !modest) || !simple) && point.bandwidth_gb_per_s > 0)
    fluid.cap = BitRate::from_gigabytes_per_second(point.bandwidth_gb_per_s / bend /
                                                   (several ? site.network : site.inside));
  return fluid;
}

Fluid start_moe(std::string_view algorithm, const Request& request, const ChannelPlan& plan,
                const Constants& constants) {
  Fluid fluid = start_fluid(algorithm, request, plan, constants, Efficiency::direct, false);
  fluid.cap.reset();
  // None of what NCCL's launches and copies add holds for these kernels: links and NICs only.
  const PatternConstants& sends =
      constants.of(plan.compute_capability).direct[static_cast<std::size_t>(request.kind)];
  fluid.wire_factor = 1 / sends.efficiency;
  fluid.network_wire_factor = 1 / constants.nic(plan.nic_model, plan.nic_vendor).efficiency;
  const MoeLatency own = constants.moe_latency(algorithm, request.kind);
  const double latency_us = plan.nodes > 1 ? own.across_us : own.inside_us;
  fluid.latency = Duration::picoseconds(static_cast<std::int64_t>(latency_us * 1e6 + 0.5));
  fluid.latency_text = fmt::format("{:.3g} us of the kernels", latency_us);
  return fluid;
}

std::vector<std::uint32_t> node_offsets(std::uint32_t nodes) {
  std::vector<std::uint32_t> out;
  if (nodes <= kExactNodes) {
    for (std::uint32_t offset = 1; offset < nodes; ++offset) out.push_back(offset);
    return out;
  }
  // (k + 1/2) / 16 of the way round: near, middle and far nodes alike, and never the node itself.
  for (std::uint32_t k = 0; k < kSampledOffsets; ++k)
    out.push_back((2 * k + 1) * nodes / (2 * kSampledOffsets));
  return out;
}

void every_pair(const ChannelPlan& plan, double each, EdgeList& edges) {
  const auto n = static_cast<std::uint32_t>(plan.group.gpus.size());
  const auto nodes = static_cast<std::uint32_t>(plan.node_ranks.size());
  const std::vector<std::uint32_t> offsets = node_offsets(nodes);
  const double far = offsets.empty() ? 0 : each * (nodes - 1) / static_cast<double>(offsets.size());
  for (std::uint32_t from = 0; from < n; ++from) {
    const std::uint32_t own = plan.rank_node[from];
    for (std::uint32_t to : plan.node_ranks[own])
      if (to != from) edges.nearest(from, to, 0, each);
    for (std::uint32_t offset : offsets)
      for (std::uint32_t to : plan.node_ranks[(own + offset) % nodes])
        edges.nearest(from, to, 0, far);
  }
}

void rail_exchange_steps(const Request& request, const ChannelPlan& plan, const EmitStep& emit) {
  const auto n = static_cast<std::uint32_t>(plan.group.gpus.size());
  const auto local = static_cast<std::uint32_t>(plan.ranks_per_node);
  const auto send = [&](std::uint32_t from, std::uint32_t to, std::uint32_t source,
                        std::uint32_t target, std::uint32_t round) {
    Step step;
    step.from = from;
    step.to = to;
    step.round = round;
    step.chunk = source * n + target;
    step.size = piece_of(request.size, n, target);
    emit(step);
  };
  for (std::uint32_t source = 0; source < n; ++source)
    for (std::uint32_t target = 0; target < n; ++target) {
      const auto& node = plan.node_ranks[plan.rank_node[source]];
      const std::uint32_t relay = node[plan.rank_local[target]];
      if (relay != source) send(source, relay, source, target, 0);
      if (relay != target) send(relay, target, source, target, local > 1 ? 1 : 0);
    }
}

void rail_exchange_edges(const Request& request, const ChannelPlan& plan, EdgeList& edges) {
  const double each = request.size.to_double() / static_cast<double>(plan.group.gpus.size());
  const auto nodes = static_cast<std::uint32_t>(plan.nodes);
  const std::vector<std::uint32_t> offsets = node_offsets(nodes);
  const double far = each * plan.ranks_per_node * (nodes - 1) / static_cast<double>(offsets.size());
  for (std::uint32_t node = 0; node < nodes; ++node)
    for (std::uint32_t from : plan.node_ranks[node]) {
      for (std::uint32_t to : plan.node_ranks[node])
        if (to != from) edges.nearest(from, to, 0, each * nodes);
      for (std::uint32_t offset : offsets)
        edges.nearest(from, plan.node_ranks[(node + offset) % nodes][plan.rank_local[from]], 0,
                      far);
    }
}

std::vector<std::uint32_t> network_heads(const ChannelPlan& plan) {
  std::vector<std::uint32_t> heads;
  std::vector<fabric::DeviceId> used;
  const std::vector<std::uint32_t>& node = plan.node_ranks.front();
  for (std::uint32_t local = 0; local < node.size(); ++local) {
    const fabric::DeviceId nic =
        plan.rank_nic[node[local] * static_cast<std::size_t>(plan.nics_per_rank)];
    if (std::find(used.begin(), used.end(), nic) != used.end()) continue;
    used.push_back(nic);
    heads.push_back(local);
  }
  return heads;
}

std::string refuse_collnet(std::string_view name, const Request& request, const ChannelPlan& plan) {
  if (plan.channels.empty()) return "no channel was found on this fabric";
  if (request.kind != work::CollectiveKind::all_reduce)
    return fmt::format("{} does all_reduce only", name);
  if (plan.nodes < 2) return "needs two nodes or more";
  if (!plan.collnet)
    return "needs switches that reduce (SHARP), and sharp: true in the cluster file";
  return {};
}

void network_steps(const ChannelPlan& plan, std::uint32_t local, std::uint32_t round, Step step,
                   const EmitStep& emit) {
  const std::uint32_t lead = plan.node_ranks.front()[local];
  step.in_network = true;
  for (std::size_t node = 1; node < plan.node_ranks.size(); ++node) {
    step.from = plan.node_ranks[node][local];
    step.to = lead;
    step.round = round;
    step.reduce = true;
    emit(step);
    std::swap(step.from, step.to);
    step.round = round + 1;
    step.reduce = false;
    emit(step);
  }
}

}  // namespace weft::collective
