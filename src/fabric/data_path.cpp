#include "fabric/data_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/check.h"
#include "fabric/data_path_parts.h"

namespace weft::fabric {

namespace {

using FindPath = PathAnswer (*)(const Fabric&, const PathCosts&, const NetworkRoute&,
                                const PathQuery&);

// One row a way, in the order of Via; `automatic` is their best and has no row.
struct Way {
  Via via;
  std::string_view name;
  FindPath find;
};
constexpr std::array<Way, 6> kWays = {{
    {Via::nvlink, "nvlink",
     [](const Fabric& f, const PathCosts& c, const NetworkRoute&, const PathQuery& q) {
       return nvlink_path(f, c, q);
     }},
    {Via::p2p, "p2p",
     [](const Fabric& f, const PathCosts& c, const NetworkRoute&, const PathQuery& q) {
       return p2p_path(f, c, q);
     }},
    {Via::gdr, "gdr", gdr_path},
    {Via::rdma, "rdma", rdma_path},
    {Via::staged, "staged", staged_path},
    {Via::tcp, "tcp", tcp_path},
}};
constexpr std::string_view kAutomatic = "automatic";

bool holds_memory(DeviceKind kind) {
  return kind == DeviceKind::gpu || kind == DeviceKind::cpu;
}

// Why the ends themselves are no good; empty when they are.
std::string bad_ends(const Fabric& fabric, const PathQuery& query) {
  for (const DeviceId end : {query.source, query.destination}) {
    const DeviceKind kind = fabric.kind(end);
    if (!holds_memory(kind)) {
      return fmt::format("{} is a {}: a data path leads from a gpu or cpu to a gpu or cpu",
                         fabric.name(end), to_text(kind));
    }
  }
  if (query.source == query.destination) {
    return fmt::format("{} is both ends", fabric.name(query.source));
  }
  return {};
}

// The fastest for long messages; equally fast ways by latency, then by their order.
bool better(const DataPath& a, const DataPath& b) {
  if (a.bandwidth != b.bandwidth) return a.bandwidth > b.bandwidth;
  return a.latency < b.latency;
}

PathAnswer best_path(const Fabric& fabric, const PathCosts& costs, const NetworkRoute& route,
                     const PathQuery& query) {
  PathAnswer best;
  std::string reasons;
  for (const Way& way : kWays) {
    PathAnswer answer = way.find(fabric, costs, route, query);
    if (!answer.path) {
      reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", way.name, answer.refusal);
    } else if (!best.path || better(*answer.path, *best.path)) {
      best = std::move(answer);
    }
  }
  if (!best.path) best.refusal = std::move(reasons);
  return best;
}

}  // namespace

std::string_view to_text(Via via) {
  for (const Way& way : kWays) {
    if (way.via == via) return way.name;
  }
  return kAutomatic;
}

std::optional<Via> parse_via(std::string_view text) {
  if (text == kAutomatic) return Via::automatic;
  for (const Way& way : kWays) {
    if (way.name == text) return way.via;
  }
  return std::nullopt;
}

std::vector<std::string> via_names() {
  std::vector<std::string> names = {std::string(kAutomatic)};
  for (const Way& way : kWays) names.emplace_back(way.name);
  return names;
}

std::string_view to_text(Mover mover) {
  static constexpr std::array<std::string_view, 4> kNames = {"copy engine", "SM", "NIC", "CPU"};
  const auto index = static_cast<std::size_t>(mover);
  CHECK(index < kNames.size());
  return kNames[index];
}

PathAnswer find_data_path(const Fabric& fabric, const PathCosts& costs, const NetworkRoute& route,
                          const PathQuery& query) {
  std::string fault = bad_ends(fabric, query);
  if (!fault.empty()) return refuse(std::move(fault));
  if (query.via == Via::automatic) return best_path(fabric, costs, route, query);
  const auto way = std::ranges::find(kWays, query.via, &Way::via);
  CHECK(way != kWays.end());
  return way->find(fabric, costs, route, query);
}

std::vector<std::pair<Via, PathAnswer>> find_all_data_paths(const Fabric& fabric,
                                                            const PathCosts& costs,
                                                            const NetworkRoute& route,
                                                            PathQuery query) {
  std::vector<std::pair<Via, PathAnswer>> answers;
  for (const Way& way : kWays) {
    query.via = way.via;
    answers.emplace_back(way.via, find_data_path(fabric, costs, route, query));
  }
  return answers;
}

}  // namespace weft::fabric
