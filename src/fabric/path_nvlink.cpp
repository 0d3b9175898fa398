// GPU to GPU over NVLink or xGMI: stores that go straight into the peer's memory, spread over every
// parallel chain of links.
#include <fmt/format.h>

#include "fabric/data_path_parts.h"
#include "fabric/nvlink_route.h"

namespace weft::fabric {

PathAnswer nvlink_path(const Fabric& fabric, const PathCosts& costs, const PathQuery& query) {
  for (const DeviceId end : {query.source, query.destination}) {
    if (fabric.kind(end) != DeviceKind::gpu) {
      return refuse(fmt::format("{} is no GPU: NVLink joins GPUs", fabric.name(end)));
    }
  }
  const auto chains = nvlink_chains(fabric, query.source, query.destination);
  if (chains.empty()) {
    return refuse(fmt::format("no NVLink joins {} and {} (a GPU between them does not forward)",
                              fabric.name(query.source), fabric.name(query.destination)));
  }
  PathBuilder builder(fabric, costs, query, Via::nvlink);
  const bool by_engine = query.mover == Mover::copy_engine;
  const Duration launch = by_engine ? costs.copy_launch : Duration();
  builder.begin_leg(by_engine ? Mover::copy_engine : Mover::sm,
                    fmt::format("write to peer memory over {} NVLink chain{}", chains.size(),
                                chains.size() == 1 ? "" : "s"),
                    launch);
  builder.add_part("copy launch", launch);
  LinkUse use;
  use.mover = by_engine ? Mover::copy_engine : Mover::sm;
  for (std::size_t i = 0; i < chains.size(); ++i) {
    use.share = chains[i].share;
    use.stripe = static_cast<int>(i);
    builder.add_links(chains[i].links, use);
  }
  builder.add_part("GPU memory write", costs.gpu_memory_access);
  return builder.finish();
}

}  // namespace weft::fabric
