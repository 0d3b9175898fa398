// Asking for one data path and looking into it. Test code only.
#pragma once

#include <gtest/gtest.h>

#include "fabric/test_servers.h"

namespace weft::fabric::testing {

inline DataPath find(const Fabric& f, std::string_view from, std::string_view to, Via via,
                     const PathCosts& costs = {}, Mover mover = Mover::copy_engine) {
  PathQuery query;
  query.source = f.find(from).value();
  query.destination = f.find(to).value();
  query.via = via;
  query.mover = mover;
  PathAnswer answer = find_data_path(f, costs, shortest_route(f), query);
  EXPECT_TRUE(answer.path.has_value()) << answer.refusal;
  return answer.path ? *answer.path : DataPath();
}

inline std::string refusal(const Fabric& f, std::string_view from, std::string_view to, Via via,
                           const PathCosts& costs = {}) {
  PathQuery query;
  query.source = f.find(from).value();
  query.destination = f.find(to).value();
  query.via = via;
  const PathAnswer answer = find_data_path(f, costs, shortest_route(f), query);
  EXPECT_FALSE(answer.path.has_value());
  return answer.refusal;
}

inline PathCosts rocev2() {
  PathCosts costs;
  costs.network.name = "rocev2";
  costs.network.overhead = Bytes(82);
  costs.network.nic_pair = Duration::nanoseconds(800);
  return costs;
}

inline Duration part(const DataPath& path, std::string_view name) {
  Duration total;
  for (const LatencyPart& p : path.parts) {
    if (p.name == name) total += p.time;
  }
  return total;
}

inline bool crosses(const Fabric& f, const DataPath& path, std::string_view link_name) {
  for (const Leg& leg : path.legs) {
    for (const Hop& hop : leg.hops) {
      if (f.link_name(hop.link) == link_name) return true;
    }
  }
  return false;
}

}  // namespace weft::fabric::testing
