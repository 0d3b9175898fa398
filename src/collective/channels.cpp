#include "collective/channels.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>

#include "collective/channel_search.h"
#include "collective/network_parts.h"
#include "collective/nic_choice.h"
#include "collective/node_view.h"

namespace weft::collective {
namespace {

using fabric::DeviceId;
using fabric::DeviceKind;

constexpr int kMaxChannels = 32;   // of one graph; NCCL connects up to 64
constexpr int kMaxNvlsHeads = 32;  // arity of NCCL's NVLS kernels
// What the OFI plugin declares for EFA (aws-ofi-nccl, platform-aws.c): p4d, p5 75 us, p3dn 150 us.
constexpr double kEfaLatency = 75, kEfaLatencyVolta = 150;

fabric::PathClass to_path_class(Reach reach, int nvlinks) {
  using fabric::PathKind;
  switch (reach) {
    case Reach::loc:
      return {PathKind::self, 0};
    case Reach::nvl:
      return {PathKind::nvlink, nvlinks};
    case Reach::c2c:
      return {PathKind::c2c, 0};
    case Reach::pix:
      return {PathKind::pix, 0};
    case Reach::pxb:
    case Reach::pxn:
      return {PathKind::pxb, 0};
    case Reach::phb:
      return {PathKind::phb, 0};
    case Reach::sys:
    case Reach::none:
      break;
  }
  return {PathKind::sys, 0};
}

std::string_view reach_name(Reach reach) {
  constexpr std::array<std::string_view, 9> kNames{"LOC", "NVL", "C2C", "PIX", "PXB",
                                                   "PXN", "PHB", "SYS", "none"};
  return kNames[static_cast<std::size_t>(reach)];
}

// Nodes as NCCL counts them: servers, or what NVSwitches outside the servers join into one.
class Domains {
 public:
  Domains(const fabric::Fabric& fabric, const std::vector<DeviceId>& gpus) : fabric_(fabric) {
    parent_.resize(fabric.server_count() + fabric.device_count());
    std::iota(parent_.begin(), parent_.end(), 0u);
    for (DeviceId gpu : gpus) {
      for (fabric::LinkId link : fabric.out_links(gpu)) {
        const DeviceId other = fabric.to(link);
        if (fabric.kind(other) != DeviceKind::nvswitch) continue;
        join(slot(gpu), slot(other));
      }
    }
  }

  [[nodiscard]] std::uint32_t of(DeviceId device) { return root(slot(device)); }

 private:
  // A device of a server stands for its server, one outside for itself.
  [[nodiscard]] std::uint32_t slot(DeviceId device) const {
    const fabric::ServerId server = fabric_.info(device).server;
    if (server.valid()) return server.value;
    return static_cast<std::uint32_t>(fabric_.server_count() + device.index());
  }
  std::uint32_t root(std::uint32_t at) {
    while (parent_[at] != at) at = parent_[at] = parent_[parent_[at]];
    return at;
  }
  void join(std::uint32_t a, std::uint32_t b) {
    a = root(a);
    b = root(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }

  const fabric::Fabric& fabric_;
  std::vector<std::uint32_t> parent_;
};

struct Node {
  std::vector<std::uint32_t> ranks;
  std::vector<DeviceId> gpus;
  std::vector<DeviceId> devices;
  std::size_t shape = 0;  // index of the view it shares
};

struct Shape {
  NodeView view;
  Found found;
  std::vector<std::uint32_t> gpu_nic;  // nearest NICs, nics_per_rank of each GPU
};

class Planner {
 public:
  Planner(const fabric::Fabric& fabric, const Group& group, const ChannelOptions& options)
      : fabric_(fabric), options_(options) {
    plan_.group = group;
  }

  ChannelPlan run() {
    plan();
    return std::move(plan_);
  }

 private:
  void plan() {
    if (plan_.group.gpus.size() < 2) return note("a group of one GPU has nobody to talk to");
    gather_nodes();
    if (!equal_nodes()) return;
    find_shapes();
    if (!network_reaches()) return;
    describe_shapes();
    if (!search()) return;
    fill_channels();
    fill_nics();
    fill_nvls();
    note_result();
  }
  void note(std::string text) { plan_.notes.push_back(std::move(text)); }
  [[nodiscard]] bool several() const { return nodes_.size() > 1; }

  void gather_nodes();
  bool equal_nodes();
  void collect_devices();
  void find_shapes();
  [[nodiscard]] std::uint64_t signature(const Node& node) const;
  bool network_reaches();
  void describe_shapes();
  bool search();
  void fill_channels();
  void fill_nics();
  void fill_nvls();
  void note_result();

  const fabric::Fabric& fabric_;
  ChannelOptions options_;
  ChannelPlan plan_;
  std::vector<Node> nodes_;
  std::vector<Shape> shapes_;
  std::vector<std::uint32_t> position_;  // device -> place in its node's devices
};

void Planner::gather_nodes() {
  Domains domains(fabric_, plan_.group.gpus);
  std::map<std::uint32_t, std::size_t> by_domain;
  const std::size_t n = plan_.group.gpus.size();
  plan_.rank_node.resize(n);
  plan_.rank_local.resize(n);
  for (std::uint32_t rank = 0; rank < n; ++rank) {
    const DeviceId gpu = plan_.group.gpus[rank];
    const auto [at, fresh] = by_domain.try_emplace(domains.of(gpu), nodes_.size());
    if (fresh) nodes_.emplace_back();
    Node& node = nodes_[at->second];
    plan_.rank_node[rank] = static_cast<std::uint32_t>(at->second);
    plan_.rank_local[rank] = static_cast<std::uint32_t>(node.ranks.size());
    node.ranks.push_back(rank);
    node.gpus.push_back(gpu);
  }
  plan_.nodes = static_cast<int>(nodes_.size());
  for (const Node& node : nodes_) plan_.node_ranks.push_back(node.ranks);
}

bool Planner::equal_nodes() {
  const auto [least, most] = std::minmax_element(
      nodes_.begin(), nodes_.end(),
      [](const Node& a, const Node& b) { return a.ranks.size() < b.ranks.size(); });
  plan_.ranks_per_node = static_cast<int>(least->ranks.size());
  if (least->ranks.size() == most->ranks.size()) return true;
  note(
      fmt::format("nodes of unequal size are not modelled: one has {} GPUs of the group, "
                  "another {}",
                  least->ranks.size(), most->ranks.size()));
  return false;
}

// Every device of the node's servers in id order, then the NVSwitches outside that serve it.
void Planner::collect_devices() {
  position_.assign(fabric_.device_count(), 0xffffffffu);
  for (Node& node : nodes_) {
    std::vector<fabric::ServerId> servers;
    std::vector<DeviceId> outside;
    for (DeviceId gpu : node.gpus) {
      const fabric::ServerId server = fabric_.info(gpu).server;
      if (server.valid()) servers.push_back(server);
      for (fabric::LinkId link : fabric_.out_links(gpu)) {
        const DeviceId other = fabric_.to(link);
        const bool switch_outside =
            fabric_.kind(other) == DeviceKind::nvswitch && fabric_.info(other).server != server;
        if (switch_outside) outside.push_back(other);
      }
    }
    std::sort(servers.begin(), servers.end());
    servers.erase(std::unique(servers.begin(), servers.end()), servers.end());
    std::sort(outside.begin(), outside.end());
    outside.erase(std::unique(outside.begin(), outside.end()), outside.end());
    for (fabric::ServerId server : servers) {
      const auto range = fabric_.devices_of(server);
      for (std::uint32_t d = range.first; d < range.last; ++d) node.devices.emplace_back(d);
    }
    for (DeviceId device : outside)
      if (std::find(node.devices.begin(), node.devices.end(), device) == node.devices.end())
        node.devices.push_back(device);
    for (std::uint32_t at = 0; at < node.devices.size(); ++at)
      position_[node.devices[at].index()] = at;
  }
}

// Equal for nodes whose devices, links and chosen GPUs correspond one to one (FNV-1a).
std::uint64_t Planner::signature(const Node& node) const {
  std::uint64_t hash = 0xcbf29ce484222325u;
  const auto mix = [&hash](std::uint64_t value) { hash = (hash ^ value) * 0x100000001b3u; };
  for (DeviceId device : node.devices) {
    const fabric::DeviceInfo& info = fabric_.info(device);
    mix(info.device_class.value * 2 + info.acs_redirect);
    for (fabric::LinkId link : fabric_.out_links(device)) {
      const std::uint32_t to = position_[fabric_.to(link).index()];
      const bool inside = to < node.devices.size() && node.devices[to] == fabric_.to(link);
      mix(inside ? to + 2u : 1u);
      mix(fabric_.link_class_id(link).value);
    }
  }
  for (DeviceId gpu : node.gpus) mix(position_[gpu.index()]);
  return hash;
}

void Planner::find_shapes() {
  collect_devices();
  std::map<std::uint64_t, std::size_t> known;
  for (Node& node : nodes_) {
    const auto [at, fresh] = known.try_emplace(signature(node), shapes_.size());
    if (fresh) {
      shapes_.emplace_back();
      shapes_.back().view = view_node(fabric_, node.devices, node.gpus);
    }
    node.shape = at->second;
  }
}

bool Planner::network_reaches() {
  if (!several()) return true;
  for (const Node& node : nodes_) {
    if (!shapes_[node.shape].view.nics.empty()) continue;
    note(fmt::format("the group spans {} nodes, but the node of {} has no NIC", nodes_.size(),
                     fabric_.name(node.gpus.front())));
    return false;
  }
  return true;
}

void Planner::describe_shapes() {
  const NodeView& first = shapes_.front().view;
  plan_.compute_capability = first.compute_capability;
  plan_.cpu_vendor = first.cpu_vendor;
  for (const fabric::LinkId link : fabric_.out_links(plan_.group.gpus.front()))
    plan_.c2c |= fabric_.link_class(link).kind == fabric::LinkKind::c2c;
  bool multicast = true;
  for (const Shape& shape : shapes_) {
    plan_.compute_capability = std::min(plan_.compute_capability, shape.view.compute_capability);
    multicast = multicast && shape.view.multicast;
  }
  plan_.nvls = multicast && options_.use_nvls && plan_.ranks_per_node > 1;
  if (multicast && !options_.use_nvls) note("NVLS is switched off");
  if (several() && !first.nics.empty()) {
    const fabric::DeviceClass& nic = fabric_.device_class(first.devices[first.nics.front()]);
    plan_.nic_model = nic.model;
    plan_.nic_vendor = nic.vendor;
    if (nic.vendor == fabric::Vendor::aws)
      plan_.nic_latency_us = plan_.compute_capability < 80 ? kEfaLatencyVolta : kEfaLatency;
  }
  note(fmt::format("{} node{} of {} GPUs, {} kind{} of node", nodes_.size(), several() ? "s" : "",
                   plan_.ranks_per_node, shapes_.size(), shapes_.size() == 1 ? "" : "s"));
  note(fmt::format("each GPU: {:.4g} GB/s of NVLink or xGMI by NCCL's figure, {:.4g} GB/s in all",
                   first.nvlink_total, first.total));
  for (std::size_t k = 0; several() && k < first.nics.size(); ++k)
    note(fmt::format(
        "{}: {:.4g} GB/s to the network, {:.4g} GB/s by {} to its nearest GPU",
        fabric_.name(first.devices[first.nics[k]]), first.links[first.nic_out[k]].bandwidth,
        first.gpu_nic[gpu_near_nic(first, static_cast<std::uint32_t>(k))][k].bandwidth,
        reach_name(first.gpu_nic[gpu_near_nic(first, static_cast<std::uint32_t>(k))][k].reach)));
}

bool Planner::search() {
  SearchLimits limits;
  limits.network = several();
  limits.max_channels = kMaxChannels;
  for (Shape& shape : shapes_) {
    shape.found = search_rings(shape.view, limits);
    if (shape.found.channels.empty()) {
      note("no ring over all GPUs of a node was found, not even at the ladder's lowest rung");
      return false;
    }
    note(fmt::format("search: {} channel{} of {:.4g} GB/s, GPUs by {}{}",
                     shape.found.channels.size(), shape.found.channels.size() == 1 ? "" : "s",
                     shape.found.intra, reach_name(shape.found.reach_intra),
                     several()
                         ? fmt::format(", NICs by {}{}", reach_name(shape.found.reach_inter),
                                       shape.found.cross_nic ? ", leaving by another NIC" : "")
                         : ""));
    const std::size_t before = shape.found.channels.size();
    duplicate_channels(shape.found, plan_.compute_capability, kMaxChannels);
    if (shape.found.channels.size() != before)
      note(fmt::format("wide channels are used twice: {} of {:.4g} GB/s",
                       shape.found.channels.size(), shape.found.intra));
  }
  return true;
}

void Planner::fill_channels() {
  // Unequal kinds of node: what the weakest bears.
  std::size_t count = shapes_.front().found.channels.size();
  plan_.ring_bw_intra = shapes_.front().found.intra;
  plan_.ring_bw_inter = shapes_.front().found.inter;
  double tree_intra = 1e9;
  Reach intra = Reach::loc, inter = Reach::loc;
  for (const Shape& shape : shapes_) {
    const Found& found = shape.found;
    count = std::min(count, found.channels.size());
    plan_.ring_bw_intra = std::min(plan_.ring_bw_intra, found.intra);
    plan_.ring_bw_inter = std::min(plan_.ring_bw_inter, found.inter);
    tree_intra = std::min(tree_intra, raise_chain_bandwidth(shape.view, found, several()));
    intra = std::max(intra, plan_.ranks_per_node > 1 ? found.reach_intra : Reach::loc);
    inter = std::max(inter, found.reach_inter);
    plan_.pxn |= several() && found.reach_inter == Reach::pxn && plan_.ranks_per_node > 1;
    plan_.cross_nic |= found.cross_nic;
  }
  if (options_.force_channels > 0) {
    note(fmt::format("{} channels asked for, {} found", options_.force_channels, count));
    count = std::min(count, static_cast<std::size_t>(options_.force_channels));
  }
  plan_.tree_bw_intra = tree_intra;
  plan_.tree_bw_inter = several() ? plan_.ring_bw_inter : 0;
  plan_.intra_link = intra <= Reach::nvl ? IntraLink::nvlink : IntraLink::pcie;
  plan_.intra_type = to_path_class(intra, 0);
  plan_.inter_type = to_path_class(inter, 0);

  const Shape& lead = shapes_.front();
  for (std::size_t c = 0; c < count; ++c) {
    const FoundChannel& found = lead.found.channels[c];
    Channel channel;
    channel.local_order = found.order;
    channel.alternates = several() && lead.found.cross_nic;
    for (std::size_t i = 0; several() && i < nodes_.size(); ++i) {
      const Shape& shape = shapes_[nodes_[i].shape];
      const FoundChannel& own = shape.found.channels[c];
      // Kinds of node that differ keep the leading kind's order, so their own ends may not fit it.
      std::uint32_t in = own.nic_in, out = own.nic_out;
      if (channel.alternates && i % 2 == 1) std::swap(in, out);
      channel.enter_nic.push_back(nodes_[i].devices[shape.view.nics[in]]);
      channel.leave_nic.push_back(nodes_[i].devices[shape.view.nics[out]]);
    }
    plan_.channels.push_back(std::move(channel));
    plan_.channel_enter_local.push_back(several() ? gpu_near_nic(lead.view, found.nic_in)
                                                  : found.order.front());
    plan_.channel_leave_local.push_back(several() ? gpu_near_nic(lead.view, found.nic_out)
                                                  : found.order.back());
  }
}

void Planner::fill_nics() {
  if (!several()) return;
  std::size_t each = nics_for_each_gpu(shapes_.front().view);
  for (const Shape& shape : shapes_) each = std::min(each, nics_for_each_gpu(shape.view));
  for (Shape& shape : shapes_) shape.gpu_nic = nearest_nics(shape.view, each);
  plan_.nics_per_rank = static_cast<int>(each);
  plan_.rank_nic.resize(plan_.group.gpus.size() * each);
  for (const Node& node : nodes_) {
    const Shape& shape = shapes_[node.shape];
    for (std::size_t i = 0; i < node.ranks.size() * each; ++i)
      plan_.rank_nic[node.ranks[i / each] * each + i % each] =
          node.devices[shape.view.nics[shape.gpu_nic[i]]];
  }
  plan_.rank_nic_part = network_parts(fabric_, plan_.rank_nic);
  if (!plan_.rank_nic_part.empty())
    note(
        "the network joins only NICs of one rail or plane: other bytes go over NVLink to the GPU "
        "beside a NIC of the right one (PXN)");
  plan_.collnet = options_.use_nvls && network_reduces(fabric_, plan_.rank_nic);
  if (plan_.collnet) note("the network's switches reduce (SHARP)");
  plan_.rail_relay = plan_.ranks_per_node > 1 &&
                     std::all_of(shapes_.begin(), shapes_.end(), [](const Shape& shape) {
                       return can_relay(shape.view, shape.gpu_nic);
                     });
}

// One channel a head GPU. Per channel the head's links carry twice, the others once, so a GPU whose
// links bear C takes (heads + 1) channels' worth: NCCL's search, in closed form.
void Planner::fill_nvls() {
  if (!plan_.nvls) return;
  const int heads = std::min(plan_.ranks_per_node, kMaxNvlsHeads);
  for (const Shape& shape : shapes_) {
    double intra = 0, inter = 0;
    for (double rung : ladder(shape.view, false))
      if (rung * (heads + 1) <= shape.view.nvlink_total + 1e-6) intra = std::max(intra, rung);
    if (several()) {
      const double share = network_of_a_gpu(shape.view, shape.gpu_nic);
      for (double rung : ladder(shape.view, true))
        if (rung <= share + 1e-6) inter = std::max(inter, rung);
    }
    const bool first = plan_.nvls_channels == 0;
    plan_.nvls_bw_intra = first ? intra : std::min(plan_.nvls_bw_intra, intra);
    plan_.nvls_bw_inter = first ? inter : std::min(plan_.nvls_bw_inter, inter);
    plan_.nvls_channels = heads;
  }
  plan_.nvls = plan_.nvls_bw_intra > 0;
  note(fmt::format("NVLS: {} heads of {:.4g} GB/s: {} x {:.4g} of {:.4g} GB/s", heads,
                   plan_.nvls_bw_intra, heads + 1, plan_.nvls_bw_intra,
                   shapes_.front().view.nvlink_total));
}

void Planner::note_result() {
  const double channels = static_cast<double>(plan_.channels.size());
  note(fmt::format("ring: {} x {:.4g} = {:.4g} GB/s", plan_.channels.size(), plan_.ring_bw_intra,
                   channels * plan_.ring_bw_intra));
  if (several())
    note(fmt::format("tree: {:.4g} GB/s a channel inside the node, {:.4g} across",
                     plan_.tree_bw_intra, plan_.tree_bw_inter));
  if (plan_.pxn) note("PXN: a ring leaves through the GPU next to its NIC, by NVLink");
  if (plan_.cross_nic)
    note(
        "a ring leaves by another NIC than it entered; odd nodes run it backwards to stay on rail");
  if (plan_.nic_latency_us > 0)
    note(fmt::format("the NIC's plugin declares {} us of latency", plan_.nic_latency_us));
}

}  // namespace

fabric::DeviceId Channel::nic_of(std::size_t node, bool leaving) const {
  const std::vector<DeviceId>& nics = leaving ? leave_nic : enter_nic;
  return node < nics.size() ? nics[node] : DeviceId();
}

ChannelPlan plan_channels(const fabric::Fabric& fabric, const Group& group,
                          ChannelOptions options) {
  return Planner(fabric, group, options).run();
}

}  // namespace weft::collective
