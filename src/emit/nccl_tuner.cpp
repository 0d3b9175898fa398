// Emitter row `nccl_tuner`: the configuration that NCCL's example tuner plugin reads
// (NCCL_TUNER_PLUGIN with NCCL_TUNER_CONFIG_FILE): for each collective and number of nodes, which
// algorithm and protocol from which size on. The choices are those of NCCL's cost model on this
// fabric (docs/models/tuner.md); channels stay NCCL's own, since it lowers them with the size.
// Format: plugins/tuner/example of NCCL 2.30.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/text.h"
#include "collective/tuner.h"
#include "emit/emitter.h"

namespace weft::emit {

namespace {

using collective::Candidate;
using fabric::DeviceKind;
using work::CollectiveKind;

struct Kind {
  CollectiveKind kind;
  std::string_view name;  // the plugin's
};
constexpr std::array<Kind, 5> kKinds{{{CollectiveKind::broadcast, "broadcast"},
                                      {CollectiveKind::reduce, "reduce"},
                                      {CollectiveKind::all_gather, "allgather"},
                                      {CollectiveKind::reduce_scatter, "reducescatter"},
                                      {CollectiveKind::all_reduce, "allreduce"}}};
constexpr std::array<std::string_view, 7> kAlgorithms{
    "tree", "ring", "collnet_direct", "collnet_chain", "nvls", "nvls_tree", "pat"};
constexpr std::int64_t kLargest = std::int64_t{1} << 36;  // asked of the model
constexpr std::int64_t kEnd = std::int64_t{1} << 40;      // in the file: no limit

struct Choice {
  std::string algorithm;
  collective::Protocol protocol = collective::Protocol::simple;
  friend bool operator==(const Choice&, const Choice&) = default;
};

// The fastest that NCCL has and can run.
std::optional<Choice> choice_at(CollectiveKind kind, std::int64_t bytes,
                                const collective::ChannelPlan& plan) {
  for (const Candidate& each : collective::candidates({kind, Bytes(bytes), &plan})) {
    const bool known =
        std::find(kAlgorithms.begin(), kAlgorithms.end(), each.algorithm) != kAlgorithms.end();
    if (each.enabled && known) return Choice{each.algorithm, each.protocol};
  }
  return std::nullopt;
}

// The first size above `from` with another choice: doubled until one is met, then halved down to
// the byte. kLargest when none is.
std::int64_t next_change(CollectiveKind kind, std::int64_t from, const Choice& now,
                         const collective::ChannelPlan& plan) {
  std::int64_t same = from, other = from;
  while (other < kLargest) {
    other = std::min(other * 2, kLargest);
    if (choice_at(kind, other, plan) != now) break;
    same = other;
  }
  if (same >= kLargest) return kLargest;
  while (other - same > 1) {
    const std::int64_t middle = same + (other - same) / 2;
    (choice_at(kind, middle, plan) == now ? same : other) = middle;
  }
  return other;
}

std::string rows_of(const Kind& kind, const collective::ChannelPlan& plan) {
  std::string out;
  std::int64_t from = 1;
  for (auto now = choice_at(kind.kind, from, plan); now;) {
    const std::int64_t next = next_change(kind.kind, from, *now, plan);
    const auto then = next < kLargest ? choice_at(kind.kind, next, plan) : std::nullopt;
    out += fmt::format("{},{},{},{},{},-1,{},{},-1,-1\n", kind.name, from == 1 ? 0 : from,
                       then ? next - 1 : kEnd, now->algorithm, to_lower(to_text(now->protocol)),
                       plan.nodes, plan.group.gpus.size());
    from = next;
    now = then;
  }
  return out;
}

// GPUs of the first `servers` servers that have any.
collective::Group first_servers(const fabric::Fabric& fabric, std::size_t servers) {
  collective::Group group;
  for (std::size_t s = 0; s < fabric.server_count() && servers > 0; ++s) {
    const auto gpus = fabric.of_kind(DeviceKind::gpu, fabric::ServerId(s));
    if (gpus.empty()) continue;
    group.gpus.insert(group.gpus.end(), gpus.begin(), gpus.end());
    --servers;
  }
  return group;
}

class NcclTuner final : public Emitter {
 public:
  [[nodiscard]] std::string_view name() const override { return "nccl_tuner"; }
  [[nodiscard]] std::string_view summary() const override {
    return "nccl_tuner.conf of NCCL's example tuner plugin: algorithm and protocol by size";
  }
  [[nodiscard]] std::string write(const fabric::Fabric& fabric,
                                  const SourcePosition& asked_at) const override {
    std::string rows;
    std::set<std::pair<int, std::size_t>> told;  // nodes and ranks
    for (const std::size_t servers : counts(fabric)) {
      const collective::Group group = first_servers(fabric, servers);
      if (group.gpus.size() < 2) continue;
      const collective::ChannelPlan plan = collective::plan_channels(fabric, group);
      if (plan.channels.empty() || !told.emplace(plan.nodes, group.gpus.size()).second) continue;
      for (const Kind& kind : kKinds) rows += rows_of(kind, plan);
    }
    if (rows.empty())
      throw InputError(asked_at, "no two GPUs of this source can communicate",
                       "name a cluster or a server with GPUs");
    return "# written by weft\n"
           "# collective_type,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,nRanks,"
           "numPipeOps,regBuff\n" +
           rows;
  }

 private:
  // 1, 2, 4, ... and all servers with GPUs.
  static std::vector<std::size_t> counts(const fabric::Fabric& fabric) {
    std::size_t all = 0;
    for (std::size_t s = 0; s < fabric.server_count(); ++s)
      all += fabric.of_kind(DeviceKind::gpu, fabric::ServerId(s)).empty() ? 0 : 1;
    std::vector<std::size_t> counts;
    for (std::size_t n = 1; n < all; n *= 2) counts.push_back(n);
    if (all > 0) counts.push_back(all);
    return counts;
  }
};

}  // namespace

const Emitter& nccl_tuner_emitter() {
  static const NcclTuner kEmitter;
  return kEmitter;
}

}  // namespace weft::emit
