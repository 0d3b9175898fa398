// The rows of NCCL's cost model as pure functions of a plan: latency and bandwidth of each
// algorithm and protocol, and why a row cannot run. tuner.h asks here; nothing else needs it. Rows
// that NCCL does not have (direct, hierarchical) are modelled in its style. Source: tuner_tables.h.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

#include "collective/rounds.h"
#include "collective/tuner.h"
#include "collective/tuner_tables.h"

namespace weft::collective {

enum class Row : std::uint8_t {
  ring,
  tree,
  nvls,
  nvls_tree,
  collnet_direct,
  collnet_chain,
  pat,
  direct,
  pxn,
  hierarchical,
  halving_doubling,
  bruck,
  pairwise,
  hypercube,
  binomial,
  moe_direct,
  moe_relay
};
struct RowName {
  Row row;
  std::string_view name;
};
inline constexpr std::array<RowName, 17> kRows{{{Row::ring, "ring"},
                                                {Row::tree, "tree"},
                                                {Row::nvls, "nvls"},
                                                {Row::nvls_tree, "nvls_tree"},
                                                {Row::collnet_direct, "collnet_direct"},
                                                {Row::collnet_chain, "collnet_chain"},
                                                {Row::pat, "pat"},
                                                {Row::direct, "direct"},
                                                {Row::pxn, "pxn"},
                                                {Row::hierarchical, "hierarchical"},
                                                {Row::halving_doubling, "halving_doubling"},
                                                {Row::bruck, "bruck"},
                                                {Row::pairwise, "pairwise"},
                                                {Row::hypercube, "hypercube"},
                                                {Row::binomial, "binomial"},
                                                {Row::moe_direct, "moe_direct"},
                                                {Row::moe_relay, "moe_relay"}}};
std::string_view name_of(Row row);

// The figures of one plan and collective, with the model's notation.
class Model {
 public:
  explicit Model(work::CollectiveKind kind, const ChannelPlan& plan,
                 const work::MoeShape* moe = nullptr)
      : Model(kind, plan, plan.nic_latency_us, moe) {}
  // With another latency of the NIC than its plugin declares.
  Model(work::CollectiveKind kind, const ChannelPlan& plan, double nic_latency_us,
        const work::MoeShape* moe);

  // False: NCCL has no such combination.
  [[nodiscard]] bool has(Row row, Protocol protocol) const;
  [[nodiscard]] ModelPoint point(Row row, Protocol protocol) const;
  // Why it cannot run on this plan; empty when it can.
  [[nodiscard]] std::string why_not(Row row, Protocol protocol) const;
  [[nodiscard]] bool takes_ring_over_nvls_tree() const;

 private:
  [[nodiscard]] bool sends(Row row) const;
  [[nodiscard]] std::string refused(Row row) const;
  [[nodiscard]] bool gathers() const {
    return kind_ == work::CollectiveKind::all_gather ||
           kind_ == work::CollectiveKind::reduce_scatter;
  }
  [[nodiscard]] const tables::HopLatency& inside() const {
    return plan_.intra_link == IntraLink::nvlink ? tables::kNvlinkHop : tables::kPcieHop;
  }
  // Of a hop across the network; with one rank a node nothing hides it and the tree's figure holds.
  [[nodiscard]] double across(double own, Protocol protocol) const {
    const double hop =
        local_ == 1 ? tables::kNetworkHop.tree[static_cast<std::size_t>(protocol)] : own;
    return hop + nic_latency_ * (protocol == Protocol::simple ? 2 : 1);
  }
  [[nodiscard]] double channels() const { return static_cast<double>(plan_.channels.size()); }
  [[nodiscard]] double log2_nodes() const {
    return std::bit_width(static_cast<unsigned>(nodes_)) - 1;
  }
  [[nodiscard]] double ring_ratio() const { return static_cast<double>(n_) / steps_; }
  [[nodiscard]] double ll_max() const {
    const std::size_t cpu_row = plan_.cpu_vendor == fabric::Vendor::amd ? 1 : 0;
    return tables::kLlMax[nodes_ == 1 ? generation_ : cpu_row][scale_];
  }
  [[nodiscard]] double nvls_intra() const {
    const double heads = std::max(plan_.nvls_channels, 1);
    return plan_.nvls_bw_intra * tables::kNvlsEfficiency[generation_] * (heads - 1) / heads;
  }

  [[nodiscard]] ModelPoint ring(Protocol protocol) const;
  [[nodiscard]] ModelPoint rooted_ring(Protocol protocol, double bandwidth) const;
  [[nodiscard]] ModelPoint tree(Protocol protocol) const;
  [[nodiscard]] ModelPoint nvls() const;
  [[nodiscard]] ModelPoint nvls_tree() const;
  [[nodiscard]] ModelPoint collnet_direct() const;
  [[nodiscard]] ModelPoint collnet_chain() const;
  [[nodiscard]] ModelPoint pat() const;
  [[nodiscard]] ModelPoint direct(Protocol protocol) const;
  [[nodiscard]] ModelPoint hierarchical() const;
  [[nodiscard]] ModelPoint by_shares(const Shares& shares, Protocol protocol) const;
  [[nodiscard]] ModelPoint moe(Row row) const;
  [[nodiscard]] std::string why_not_moe(Row row) const;

  work::CollectiveKind kind_;
  const ChannelPlan& plan_;
  double nic_latency_;
  const work::MoeShape* moe_;
  int n_ = 0, nodes_ = 1, local_ = 1, steps_ = 0;
  std::size_t generation_ = 0, scale_ = 0;
};

}  // namespace weft::collective
