// Which NICs and which network links join two memories, and why none might.
#include <fmt/format.h>

#include "fabric/data_path_parts.h"
#include "fabric/path_class.h"

namespace weft::fabric {

namespace {

std::string_view server_text(const Fabric& fabric, DeviceId device) {
  const std::string_view name = fabric.name(device);
  return name.substr(0, name.find('/'));
}

std::string wrong_nic(const Fabric& fabric, DeviceId nic, DeviceId end) {
  if (fabric.kind(nic) != DeviceKind::nic) {
    return fmt::format("{} is no NIC", fabric.name(nic));
  }
  if (fabric.info(nic).server != fabric.info(end).server) {
    return fmt::format("{} is not in the server of {}", fabric.name(nic), fabric.name(end));
  }
  return {};
}

// RoCE v1 is an Ethernet frame without an IP header: one switch forwards it, a router does not.
std::string leaves_subnet(const Fabric& fabric, const NetworkCosts& network,
                          const std::vector<LinkId>& links) {
  if (network.routable) return {};
  for (const LinkId link : links) {
    const DeviceId head = fabric.to(link);
    const bool router = fabric.kind(head) == DeviceKind::gateway || fabric.info(head).tier >= 2;
    if (router || fabric.link_class(link).kind == LinkKind::wide_area) {
      return fmt::format("{} has no IP header and cannot be routed: {} leaves its subnet",
                         network.name, fabric.link_name(link));
    }
  }
  return {};
}

// The nearest NICs of both servers that a route joins, when it does not join the usual ones: by the
// sum of both path classes, then in order. Fills legs, and says what happened.
void take_other_nics(const Fabric& fabric, const NetworkRoute& route, const PathQuery& query,
                     NetworkLegs& legs) {
  const std::string usual =
      fmt::format("no network route from {} to {}", fabric.name(legs.source_nic),
                  fabric.name(legs.destination_nic));
  legs.refusal = usual + ", nor between other NICs of their servers";
  if (query.source_nic || query.destination_nic) legs.refusal = usual;
  int best = 1000;
  std::vector<LinkId> links;
  for (const DeviceId from : fabric.of_kind(DeviceKind::nic, fabric.info(query.source).server)) {
    if (query.source_nic && from != *query.source_nic) continue;
    const int near = static_cast<int>(path_class(fabric, query.source, from).kind);
    for (const DeviceId to :
         fabric.of_kind(DeviceKind::nic, fabric.info(query.destination).server)) {
      if (query.destination_nic && to != *query.destination_nic) continue;
      const int far = static_cast<int>(path_class(fabric, query.destination, to).kind);
      links.clear();
      if (near + far >= best) continue;
      route(from, to, query.entropy, links);
      if (links.empty()) continue;
      best = near + far;
      legs.source_nic = from;
      legs.destination_nic = to;
      legs.links = links;
    }
  }
  if (legs.links.empty()) return;
  legs.refusal.clear();
  legs.note = fmt::format(
      "{}: {} and {} are used instead, over PCIe; collectives relay such bytes over NVLink (PXN)",
      usual, fabric.name(legs.source_nic), fabric.name(legs.destination_nic));
}

}  // namespace

NetworkLegs find_network(const Fabric& fabric, const NetworkCosts& network,
                         const NetworkRoute& route, const PathQuery& query) {
  NetworkLegs legs;
  const bool pinned = query.source_nic && query.destination_nic;
  const bool one_server = fabric.info(query.source).server == fabric.info(query.destination).server;
  if (one_server && (!pinned || *query.source_nic == *query.destination_nic)) {
    legs.refusal = "both ends are in one server";
    return legs;
  }
  const auto choose = [&](std::optional<DeviceId> wanted, DeviceId end) {
    const auto nic = wanted ? wanted : nearest_nic(fabric, end);
    if (!nic) {
      legs.refusal = fmt::format("{} has no NIC on a network", server_text(fabric, end));
      return DeviceId();
    }
    legs.refusal = wrong_nic(fabric, *nic, end);
    return *nic;
  };
  legs.source_nic = choose(query.source_nic, query.source);
  if (!legs.refusal.empty()) return legs;
  legs.destination_nic = choose(query.destination_nic, query.destination);
  if (!legs.refusal.empty()) return legs;
  if (route) route(legs.source_nic, legs.destination_nic, query.entropy, legs.links);
  if (legs.links.empty()) {
    if (route) take_other_nics(fabric, route, query, legs);
    if (!route) legs.refusal = "no network is known";
    if (!legs.refusal.empty()) return legs;
  }
  legs.refusal = leaves_subnet(fabric, network, legs.links);
  return legs;
}

Duration nic_pair_time(const Fabric& fabric, const NetworkCosts& network, const NetworkLegs& legs) {
  const auto one = [&](DeviceId nic) {
    const Duration stated = fabric.device_class(nic).nic_latency;
    return stated.ps() > 0 ? stated : network.nic_pair.scaled(0.5);
  };
  return one(legs.source_nic) + one(legs.destination_nic);
}

}  // namespace weft::fabric
