// A small cluster, its routes and a Setup over it, for the tests of the engines. Test code only.
#pragma once

#include <memory>
#include <utility>

#include "engine/engine.h"
#include "fabric/test_servers.h"

namespace weft::engine::testing {

// Collectives reach what NCCL's model says links carry, and take the latency it says.
inline collective::Constants ideal_constants() {
  collective::Constants constants;
  constants.generations.emplace_back();
  return constants;
}

// Two servers "a" and "c" under two leaves and one spine; rank r is the fabric's GPU r, so with
// hgx servers ranks 0..7 are in "a" and 8..15 in "c".
class TestCluster {
 public:
  explicit TestCluster(const fabric::Fabric& server, bool one_leaf = true, bool reduces = false)
      : fabric_(std::make_unique<fabric::Fabric>(
            fabric::testing::cluster(server, fabric::LinkKind::infiniband, one_leaf, reduces)
                .fabric)),
        routes_(std::make_unique<routing::Routes>(*fabric_, routing::RouteOptions{})) {
    setup.fabric = fabric_.get();
    setup.routes = routes_.get();
    setup.constants = ideal_constants();
    const std::size_t gpus = fabric_->of_kind(fabric::DeviceKind::gpu).size();
    setup.work.groups.emplace_back();
    for (std::size_t i = 0; i < gpus; ++i) {
      setup.work.rank_gpu.push_back(static_cast<std::uint32_t>(i));
      setup.work.groups[0].emplace_back(i);
    }
  }

  work::OpId add(decltype(work::Op::what) what, std::vector<work::OpId> after = {},
                 Instant earliest = {}) {
    setup.work.ops.push_back({std::move(what), earliest, std::move(after), {}});
    return work::OpId(setup.work.ops.size() - 1);
  }
  work::OpId transfer(std::size_t from, std::size_t to, Bytes size,
                      std::vector<work::OpId> after = {}) {
    return add(work::Transfer{work::RankId(from), work::RankId(to), size}, std::move(after));
  }
  // The data path that a transfer takes.
  [[nodiscard]] fabric::DataPath path(std::size_t from, std::size_t to) const {
    const auto gpus = fabric_->of_kind(fabric::DeviceKind::gpu);
    const fabric::NetworkRoute route =
        [this](fabric::DeviceId a, fabric::DeviceId b, std::uint64_t entropy,
               std::vector<fabric::LinkId>& out) { routes_->path(a, b, entropy, out); };
    fabric::PathQuery query;
    query.source = gpus[from];
    query.destination = gpus[to];
    query.via = setup.options.via;
    return fabric::find_data_path(*fabric_, setup.costs, route, query).path.value();
  }

  Setup setup;

 private:
  std::unique_ptr<fabric::Fabric> fabric_;
  std::unique_ptr<routing::Routes> routes_;
};

}  // namespace weft::engine::testing
