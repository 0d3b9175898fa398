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
    legs.refusal = fmt::format("no network route from {} to {}", fabric.name(legs.source_nic),
                               fabric.name(legs.destination_nic));
    return legs;
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
