// Edges that end in the network's switches (SHARP): from a GPU through its NIC to the first switch
// or back, and one copy each way over the tree that joins these switches.
#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "engine/expand.h"
#include "engine/expand_totals.h"
#include "engine/reduction_tree.h"

namespace weft::engine {

namespace {

bool starts_at_switch(const fabric::Fabric& fabric, fabric::LinkId link) {
  return fabric.kind(fabric.from(link)) == fabric::DeviceKind::network_switch;
}

}  // namespace

// Keeps of the path just resolved what lies before the first switch (up), or after the last (down);
// the switch itself is what the path enters or leaves.
fabric::DeviceId Expander::cut_at_switch(bool up) {
  const fabric::Fabric& fabric = *setup_->fabric;
  std::vector<LinkShare>& shares = resolved_.shares;
  const auto at_switch = [&](const LinkShare& share) {
    return starts_at_switch(fabric, share.link);
  };
  if (up) {
    const auto first = std::find_if(shares.begin(), shares.end(), at_switch);
    if (first == shares.end()) return {};
    const fabric::DeviceId device = fabric.from(first->link);
    shares.erase(first, shares.end());
    return device;
  }
  const auto last = std::find_if(shares.rbegin(), shares.rend(), at_switch);
  if (last == shares.rend()) return {};
  const fabric::DeviceId device = fabric.from(last->link);
  shares.erase(shares.begin(), last.base() - 1);
  return device;
}

// One tree: `edges` are those of its channel.
void Expander::add_reduction(work::OpId op, std::uint32_t channel,
                             const std::vector<const collective::Edge*>& edges,
                             const collective::Fluid& fluid, const collective::ChannelPlan& plan) {
  std::vector<fabric::DeviceId> leaves;
  double most = 0;
  LinkShare network;  // what a byte takes of a network link
  for (const collective::Edge* edge : edges) {
    const bool up = edge->to == collective::kSwitchPlane;
    if (!resolve_to_switch(*edge, edges, plan)) refuse(op, paths_.refusal());
    const fabric::DeviceId leaf = cut_at_switch(up);
    if (!leaf.valid()) refuse(op, "its NICs are not behind a switch");
    leaves.push_back(leaf);
    most = std::max(most, edge->bytes);
    for (const LinkShare& share : resolved_.shares)
      if (fabric::is_network(setup_->fabric->link_class(share.link).kind)) network = share;
    add_path(edge->bytes, fluid, plan);
  }
  const auto tree = reduction_tree(*setup_->fabric, leaves, channel);
  if (!tree) refuse(op, "no switches that reduce join its NICs");
  const double factor = fluid.network_wire_factor;
  for (fabric::LinkId link : *tree)
    for (fabric::LinkId direction : {link, fabric::reverse(link)})
      totals_->add(direction, most * network.spent * factor,
                   most * network.wire * std::min(protocol_factor_, factor));
}

// The path between the edge's GPU and a member of another node: its first half is the way to the
// first switch, whichever member that is.
bool Expander::resolve_to_switch(const collective::Edge& edge,
                                 const std::vector<const collective::Edge*>& edges,
                                 const collective::ChannelPlan& plan) {
  const auto rank_of = [](const collective::Edge& e) {
    return e.to == collective::kSwitchPlane ? e.from : e.to;
  };
  const auto nic_of = [](const collective::Edge& e) {
    return e.to == collective::kSwitchPlane ? e.from_nic : e.to_nic;
  };
  const auto other = std::find_if(edges.begin(), edges.end(), [&](const collective::Edge* e) {
    return plan.rank_node[rank_of(*e)] != plan.rank_node[rank_of(edge)];
  });
  CHECK(other != edges.end());
  const bool up = edge.to == collective::kSwitchPlane;
  const collective::Edge& source = up ? edge : **other;
  const collective::Edge& target = up ? **other : edge;
  Connection connection;
  connection.mover = fabric::Mover::sm;
  connection.via = setup_->options.via;
  connection.source = plan.group.gpus[rank_of(source)];
  connection.destination = plan.group.gpus[rank_of(target)];
  connection.source_nic = nic_of(source);
  connection.destination_nic = nic_of(target);
  return paths_.resolve(connection, resolved_);
}

void Expander::add_reductions(work::OpId op, const collective::Fluid& fluid,
                              const collective::ChannelPlan& plan) {
  std::map<std::uint32_t, std::vector<const collective::Edge*>> trees;
  for (const collective::Edge& edge : fluid.edges)
    if (edge.in_network()) trees[edge.channel].push_back(&edge);
  for (const auto& [channel, edges] : trees) add_reduction(op, channel, edges, fluid, plan);
}

}  // namespace weft::engine
