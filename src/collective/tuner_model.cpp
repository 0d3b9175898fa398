#include "collective/tuner_model.h"

#include <fmt/format.h>

#include "collective/moe_traffic.h"

namespace weft::collective {
namespace {

using work::CollectiveKind;

constexpr const char* kNotNccls = "not one of NCCL's: runs when asked for";

std::size_t index(Protocol p) {
  return static_cast<std::size_t>(p);
}

}  // namespace

std::string_view name_of(Row row) {
  for (const RowName& each : kRows)
    if (each.row == row) return each.name;
  return {};
}

Model::Model(CollectiveKind kind, const ChannelPlan& plan, double nic_latency_us,
             const work::MoeShape* moe)
    : kind_(kind), plan_(plan), nic_latency_(nic_latency_us), moe_(moe) {
  n_ = static_cast<int>(plan.group.gpus.size());
  nodes_ = std::max(plan.nodes, 1);
  local_ = n_ / nodes_;
  steps_ = kind == CollectiveKind::all_reduce ? 2 * (n_ - 1) : gathers() ? n_ - 1 : n_;
  const int cc = plan.compute_capability;
  // AMD names its GPUs by gfx number (942): its latest rows stand in, NCCL knows none for it.
  generation_ = cc >= 900 ? 2 : cc >= 100 ? 3 : cc >= 90 ? 2 : cc >= 80 ? 1 : 0;
  scale_ = nodes_ <= 2 ? static_cast<std::size_t>(nodes_ - 1) : 2;
}

bool Model::has(Row row, Protocol protocol) const {
  const bool simple = protocol == Protocol::simple;
  switch (row) {
    case Row::ring:
      return kind_ == CollectiveKind::all_reduce || gathers() ||
             kind_ == CollectiveKind::broadcast || kind_ == CollectiveKind::reduce;
    case Row::tree:
      return kind_ == CollectiveKind::all_reduce;
    case Row::nvls:
    case Row::collnet_direct:
      return simple && (kind_ == CollectiveKind::all_reduce || gathers());
    case Row::nvls_tree:
    case Row::collnet_chain:
      return simple && kind_ == CollectiveKind::all_reduce;
    case Row::pat:
      return simple && gathers();
    case Row::direct:
      return protocol != Protocol::ll128 &&
             (kind_ == CollectiveKind::all_to_all || kind_ == CollectiveKind::send_recv ||
              kind_ == CollectiveKind::gather || kind_ == CollectiveKind::scatter ||
              (simple && gathers()));
    case Row::hierarchical:
      return simple && (kind_ == CollectiveKind::all_reduce || gathers() ||
                        kind_ == CollectiveKind::all_to_all);
    case Row::moe_direct:
    case Row::moe_relay:
      return simple && work::is_moe(kind_);
    default:
      return protocol != Protocol::ll128 && sends(row);
  }
}

// Which collectives the algorithms made of sends do.
bool Model::sends(Row row) const {
  switch (row) {
    case Row::halving_doubling:
      return kind_ == CollectiveKind::all_reduce || gathers();
    case Row::bruck:
      return kind_ == CollectiveKind::all_to_all || kind_ == CollectiveKind::all_gather;
    case Row::hypercube:
      return kind_ == CollectiveKind::all_to_all || kind_ == CollectiveKind::all_gather ||
             kind_ == CollectiveKind::hypercube;
    case Row::pairwise:
    case Row::pxn:
      return kind_ == CollectiveKind::all_to_all;
    case Row::binomial:
      return work::has_root(kind_);
    default:
      return false;
  }
}

ModelPoint Model::point(Row row, Protocol protocol) const {
  if (!has(row, protocol) || n_ < 2) return {};
  switch (row) {
    case Row::ring:
      return ring(protocol);
    case Row::tree:
      return tree(protocol);
    case Row::nvls:
      return nvls();
    case Row::nvls_tree:
      return nvls_tree();
    case Row::collnet_direct:
      return collnet_direct();
    case Row::collnet_chain:
      return collnet_chain();
    case Row::pat:
      return pat();
    case Row::direct:
      return direct(protocol);
    case Row::hierarchical:
      return hierarchical();
    case Row::moe_direct:
    case Row::moe_relay:
      return moe(row);
    default:
      return by_shares(shares_of(name_of(row), kind_, plan_), protocol);
  }
}

ModelPoint Model::ring(Protocol protocol) const {
  const std::size_t p = index(protocol);
  double bandwidth = channels() * (nodes_ <= 2 ? plan_.ring_bw_intra : plan_.ring_bw_inter);
  if (protocol == Protocol::ll) bandwidth = std::min(ll_max(), bandwidth * 0.5);
  if (protocol == Protocol::ll128)
    bandwidth = std::min(bandwidth * 0.92, channels() * tables::kRingLl128[generation_][scale_]);
  bandwidth *= ring_ratio();
  if (kind_ == CollectiveKind::broadcast || kind_ == CollectiveKind::reduce)
    return rooted_ring(protocol, bandwidth);

  const double overhead_base = plan_.cpu_vendor == fabric::Vendor::amd ? tables::kNetworkOverheadAmd
                                                                       : tables::kNetworkOverhead;
  const double overhead = nodes_ == 1 ? 0 : overhead_base * (protocol == Protocol::simple ? 3 : 1);
  const double intra = std::max(inside().ring[p], overhead);
  const double inter = across(tables::kNetworkHop.ring[p], protocol);
  const int passes = kind_ == CollectiveKind::all_reduce ? 2 : 1;
  const int inter_steps = nodes_ == 1 ? 0 : passes * (nodes_ - 1);
  const double base = tables::kRingBase[p];
  ModelPoint out;
  out.latency_us = base + (steps_ - inter_steps) * intra + inter_steps * inter;
  out.bandwidth_gb_per_s = bandwidth;
  out.latency_text = fmt::format("{} + {} x {}", base, steps_ - inter_steps, intra);
  if (inter_steps > 0) out.latency_text += fmt::format(" + {} x {}", inter_steps, inter);
  return out;
}

// Broadcast and reduce: the message flows down the chain; when every channel visits the GPUs in the
// same order the hops of the channels overlap and one is counted.
ModelPoint Model::rooted_ring(Protocol protocol, double bandwidth) const {
  const std::size_t p = index(protocol);
  const bool same = std::all_of(plan_.channels.begin(), plan_.channels.end(), [&](const auto& c) {
    return c.local_order == plan_.channels.front().local_order;
  });
  const tables::HopLatency& hop = nodes_ == 1 ? inside() : tables::kNetworkHop;
  const double lat = protocol == Protocol::simple && !same ? hop.tree[p] : hop.ring[p];
  const int hops = same ? 1 : steps_;
  const double base = tables::kRingBase[p];
  return {base + hops * lat, 0, bandwidth, fmt::format("{} + {} x {}", base, hops, lat)};
}

ModelPoint Model::tree(Protocol protocol) const {
  const std::size_t p = index(protocol);
  double bandwidth = channels() * (nodes_ <= 2 ? plan_.tree_bw_intra : plan_.tree_bw_inter);
  bandwidth = std::min(bandwidth * 0.92, channels() * tables::kTree[generation_][scale_]);
  if (protocol == Protocol::ll) bandwidth = std::min(bandwidth / 3.8, ll_max());
  if (protocol == Protocol::ll128)
    bandwidth = std::min(bandwidth * (nodes_ == 1 ? 7.0 / 9.0 : 120.0 / 128.0),
                         channels() * tables::kTreeLl128[generation_][scale_]);
  const double intra = inside().tree[p];
  const double inter = across(tables::kNetworkHop.tree[p], protocol);
  const double base = tables::kTreeBase[p];
  ModelPoint out;
  out.latency_us = base + 2 * ((local_ - 1) * intra + log2_nodes() * inter);
  out.bandwidth_gb_per_s = bandwidth * 0.5;
  out.latency_text = fmt::format("{} + 2 x ({} x {}", base, local_ - 1, intra);
  if (nodes_ > 1) out.latency_text += fmt::format(" + {} x {}", log2_nodes(), inter);
  out.latency_text += ")";
  return out;
}

ModelPoint Model::nvls() const {
  const double heads = plan_.nvls_channels;
  double per_channel = nvls_intra();
  if (kind_ == CollectiveKind::all_reduce)
    per_channel *= 2;
  else
    per_channel *= static_cast<double>(local_ - 1) / local_;
  double bandwidth = heads * per_channel;
  if (kind_ == CollectiveKind::all_reduce) bandwidth *= ring_ratio();
  // With SHARP each head's NIC carries its share once each way.
  if (nodes_ > 1 && plan_.collnet) bandwidth = std::min(bandwidth, heads * plan_.nvls_bw_inter);
  const double intra = inside().nvls;
  const double inter = nodes_ > 1 ? across(tables::kNetworkHop.nvls, Protocol::simple) : 0;
  return {intra + inter, 0, bandwidth,
          nodes_ > 1 ? fmt::format("{} + {}", intra, inter) : fmt::format("{}", intra)};
}

// What the network carries of it is a double tree over nodes: two nodes exchange each byte once
// each way, more send it up and down (docs/models/tuner.md says how this term was inferred).
ModelPoint Model::nvls_tree() const {
  const double intra_bw = 2 * nvls_intra();
  const double inter_bw = nodes_ <= 2 ? 2 * plan_.nvls_bw_inter : plan_.nvls_bw_inter;
  double bandwidth = plan_.nvls_channels * std::min(intra_bw, inter_bw);
  bandwidth = std::min(bandwidth, plan_.nvls_channels * tables::kNvlsTree[generation_][scale_]);
  bandwidth *= ring_ratio();
  const double intra = inside().nvls_tree;
  const double inter = across(tables::kNetworkHop.nvls_tree, Protocol::simple);
  return {intra + 2 * log2_nodes() * inter, 0, bandwidth,
          fmt::format("{} + 2 x {} x {}", intra, log2_nodes(), inter)};
}

ModelPoint Model::collnet_direct() const {
  double bandwidth = channels() * plan_.tree_bw_intra;
  if (gathers()) {
    bandwidth = local_ * std::min(plan_.tree_bw_intra, plan_.tree_bw_inter * 0.9);
  } else {
    double factor = channels() > 0 ? local_ / channels() : 1;  // GPUs a channel
    factor -= (factor - 1) / 2;
    bandwidth = bandwidth / factor * (plan_.compute_capability >= 90 ? 0.85 : 1.0) * 0.5;
  }
  const double intra = inside().collnet_direct;
  const double inter = across(tables::kNetworkHop.collnet_direct, Protocol::simple);
  const double lat = 2 * (std::min(1, local_ - 1) * intra + 0.4 * (local_ - 1)) + inter;
  return {
      lat, 0, bandwidth,
      fmt::format("2 x ({} + 0.4 x {}) + {}", std::min(1, local_ - 1) * intra, local_ - 1, inter)};
}

ModelPoint Model::collnet_chain() const {
  const double intra = inside().collnet_chain;
  const double inter = across(tables::kNetworkHop.collnet_chain, Protocol::simple);
  return {2 * (local_ - 1) * intra + inter, 0, channels() * plan_.tree_bw_intra * 0.5,
          fmt::format("2 x {} x {} + {}", local_ - 1, intra, inter)};
}

ModelPoint Model::pat() const {
  const double bandwidth =
      0.75 * channels() * (nodes_ <= 2 ? plan_.ring_bw_intra : plan_.ring_bw_inter);
  const double inter = across(tables::kNetworkHop.pat, Protocol::simple) / 3.5;
  return {tables::kPatBase + log2_nodes() * inter + 2.8 * n_, 0, bandwidth,
          fmt::format("{} + {} x {:.3g} + 2.8 x {}", tables::kPatBase, log2_nodes(), inter, n_)};
}

// Not in NCCL's tables: sends and receives are not tuned. All peers at once: one hop of Simple, and
// of LL two (the receiver's flag goes back before the buffer is used again), which is what the
// measured 512 B to 64 KiB rows of three generations show (docs/models/direct.md).
ModelPoint Model::direct(Protocol protocol) const {
  const std::size_t p = index(protocol);
  const double intra = channels() * plan_.ring_bw_intra;
  double bandwidth = kind_ == CollectiveKind::send_recv ? intra : intra * n_ / (n_ - 1);
  if (nodes_ > 1) {
    const double nics = channels() * plan_.ring_bw_inter / local_;  // GB/s a rank
    const double share =
        kind_ == CollectiveKind::send_recv ? 1 : static_cast<double>(n_ - local_) / n_;
    bandwidth = std::min(bandwidth, nics / share);
  }
  if (protocol == Protocol::ll) bandwidth *= 0.5;
  const double base = tables::kRingBase[p];
  const double hop = nodes_ > 1 ? across(tables::kNetworkHop.ring[p], protocol) : inside().ring[p];
  const int hops = protocol == Protocol::ll ? 2 : 1;
  return {base + hops * hop, 0, bandwidth, fmt::format("{} + {} x {}", base, hops, hop)};
}

// Not in NCCL's tables either: its latencies with the hops of the three phases.
ModelPoint Model::hierarchical() const {
  const std::size_t p = index(Protocol::simple);
  const double intra = inside().ring[p];
  const double inter = across(tables::kNetworkHop.ring[p], Protocol::simple);
  const int passes = kind_ == CollectiveKind::all_reduce ? 2 : 1;
  const bool exchange = kind_ == CollectiveKind::all_to_all;
  const int intra_hops = exchange ? std::min(1, local_ - 1) : passes * (local_ - 1);
  const int inter_hops = exchange ? 1 : passes * (nodes_ - 1);
  const double inside_share = passes * static_cast<double>(local_ - 1) / local_;
  const double outside_share = exchange
                                   ? static_cast<double>(nodes_ - 1) / nodes_
                                   : passes * static_cast<double>(nodes_ - 1) / nodes_ / local_;
  const double intra_bw = channels() * plan_.ring_bw_intra;
  const double nic_bw = channels() * plan_.ring_bw_inter / local_;
  const double seconds_per_gb = std::max(inside_share / intra_bw, outside_share / nic_bw);
  const double base = tables::kRingBase[p];
  return {base + intra_hops * intra + inter_hops * inter, 0,
          seconds_per_gb > 0 ? 1 / seconds_per_gb : 0,
          fmt::format("{} + {} x {} + {} x {}", base, intra_hops, intra, inter_hops, inter)};
}

// Rounds of sends, in the style of the rows above: a hop for each round, what the busiest rank puts
// on its NVLinks and its NICs. LL waits for its flag as in `direct`. nccl-tests' hypercube launches
// every round for itself.
ModelPoint Model::by_shares(const Shares& shares, Protocol protocol) const {
  const std::size_t p = index(protocol);
  const double intra = inside().ring[p];
  const double inter = nodes_ > 1 ? across(tables::kNetworkHop.ring[p], protocol) : 0;
  const double intra_bw = channels() * plan_.ring_bw_intra;
  const double nic_bw = channels() * plan_.ring_bw_inter / local_;
  double seconds_per_gb = intra_bw > 0 ? shares.inside / intra_bw : 0;
  if (nic_bw > 0) seconds_per_gb = std::max(seconds_per_gb, shares.outside / nic_bw);
  if (protocol == Protocol::ll) seconds_per_gb *= 2;
  const int launches =
      kind_ == CollectiveKind::hypercube ? shares.intra_hops + shares.inter_hops : 1;
  const double base = launches * tables::kRingBase[p];
  const int flags = protocol == Protocol::ll ? 1 : 0;
  const int intra_hops = shares.intra_hops + (shares.inter_hops == 0 ? flags : 0);
  const int inter_hops = shares.inter_hops + (shares.inter_hops > 0 ? flags : 0);
  return {base + intra_hops * intra + inter_hops * inter, 0,
          seconds_per_gb > 0 ? 1 / seconds_per_gb : 0,
          fmt::format("{} + {} x {} + {} x {}", base, intra_hops, intra, inter_hops, inter)};
}

// EFA brings a tuner of its own, which stands before NCCL's. On 8-GPU nodes it keeps NVLS tree for
// two nodes and for more than 128 ranks (aws-ofi-nccl, Apache-2.0, src/tuner/nccl_ofi_regions.cpp,
// the regions of P5).
bool Model::takes_ring_over_nvls_tree() const {
  constexpr int kMostRanks = 128;
  return plan_.nic_vendor == fabric::Vendor::aws && local_ == 8 && nodes_ > 2 &&
         nodes_ * local_ <= kMostRanks;
}

// As rounds of sends, of expected routing.
ModelPoint Model::moe(Row row) const {
  if (moe_ == nullptr || !work::validate(*moe_, n_, nodes_).empty()) return {};
  const ExpectedSpread spread = expected_spread(*moe_, n_, nodes_);
  const double copies = moe_->top_k, nodes = nodes_, local = local_;
  Shares shares{local_ > 1 ? 1 : 0, nodes_ > 1 ? 1 : 0, 0, 0};
  if (row == Row::moe_direct) {
    shares.inside = (local - 1) / n_;
    shares.outside = (n_ - local) / n_;
  } else {
    shares.inside = spread.ranks / copies * (local - 1) / local;
    shares.outside = spread.nodes / copies * (nodes - 1) / nodes;
  }
  return by_shares(shares, Protocol::simple);
}

// DeepEP has kernels for few tokens (decoding, up to 128 a rank) and for many.
std::string Model::why_not_moe(Row row) const {
  constexpr std::int64_t kFewTokens = 256;
  const std::string why = refuse_moe(moe_, plan_);
  if (!why.empty()) return why;
  if ((moe_->tokens <= kFewTokens) == (row == Row::moe_direct)) return {};
  return row == Row::moe_direct ? "not one of NCCL's: for more than 256 tokens runs when asked for"
                                : "not one of NCCL's: up to 256 tokens runs when asked for";
}

// Rows whose algorithm itself says what it needs.
std::string Model::refused(Row row) const {
  const Algorithm* algorithm = find_algorithm(name_of(row));
  const std::string why = algorithm->refuse({kind_, Bytes(), 0, Protocol::simple}, plan_);
  const bool own =
      row == Row::pat || row == Row::pxn || row == Row::collnet_direct || row == Row::collnet_chain;
  if (!why.empty() || own || kind_ == CollectiveKind::hypercube) return why;
  return kNotNccls;
}

std::string Model::why_not(Row row, Protocol protocol) const {
  if (plan_.channels.empty()) return "no channel was found on this fabric";
  if (protocol == Protocol::ll128) {
    if (plan_.intra_link != IntraLink::nvlink)
      return "LL128 needs NVLink inside the node (128-byte stores must stay whole)";
    if (plan_.compute_capability < 70) return "LL128 needs compute capability 7.0";
    const auto kind = plan_.inter_type.kind;
    const bool near = kind != fabric::PathKind::phb && kind != fabric::PathKind::node &&
                      kind != fabric::PathKind::sys;
    if (nodes_ > 1 && (!near || (plan_.pxn && plan_.compute_capability < 90)))
      return "LL128 needs each NIC behind the same PCIe switches as its GPU";
  }
  switch (row) {
    case Row::nvls:
      if (!plan_.nvls) return "needs NVSwitches and GPUs with multicast (NVLink SHARP)";
      if (nodes_ > 1 && !plan_.collnet)
        return "one node only without SHARP in the network; nvls_tree is for more";
      if (nodes_ > 1 && gathers()) return "all_reduce only with SHARP in the network";
      return {};
    case Row::nvls_tree:
      if (!plan_.nvls) return "needs NVSwitches and GPUs with multicast (NVLink SHARP)";
      if (nodes_ == 1) return "needs two nodes or more";
      if (takes_ring_over_nvls_tree())
        return "the EFA plugin's tuner takes ring at this size of job";
      return {};
    case Row::direct:
      if (gathers()) return "not one of NCCL's for this collective: runs when asked for";
      return kind_ == CollectiveKind::all_to_all && nodes_ > 1 && plan_.rail_relay
                 ? "not one of NCCL's here, it sends by PXN: runs when asked for"
                 : "";
    case Row::ring:
    case Row::tree:
      return {};
    case Row::moe_direct:
    case Row::moe_relay:
      return why_not_moe(row);
    default:
      return refused(row);
  }
}

}  // namespace weft::collective
