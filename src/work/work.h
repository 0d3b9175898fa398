// Work: what is to be communicated. Ranks (one a GPU), and ops with dependencies: compute,
// transfer, collective. A collective stays one op; engines expand it when it starts and free it
// when it ends. Knows no fabric: a rank's place is the ordinal of its GPU in Fabric::of_kind(gpu).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "work/moe.h"

namespace weft::work {

using RankId = Id<struct RankTag>;
using OpId = Id<struct OpTag>;
using GroupId = Id<struct GroupTag>;
using TriggerId = Id<struct TriggerTag>;

enum class CollectiveKind : std::uint8_t {
  all_reduce,
  all_gather,
  reduce_scatter,
  all_to_all,
  broadcast,
  reduce,
  send_recv,
  gather,
  scatter,
  hypercube,     // nccl-tests' all-gather of log2 n rounds of sends, each a launch of its own
  moe_dispatch,  // mixture of experts: tokens to their experts' ranks,
  moe_combine    // and the results back
};
inline constexpr std::size_t kCollectiveKindCount = 12;
std::string_view to_text(CollectiveKind kind);                          // "all_reduce"
std::optional<CollectiveKind> parse_collective(std::string_view text);  // also alltoall, sendrecv
std::vector<std::string> collective_names();
// Broadcast, reduce, gather, scatter: one rank has or gets everything.
bool has_root(CollectiveKind kind);
inline bool is_moe(CollectiveKind kind) {
  return kind == CollectiveKind::moe_dispatch || kind == CollectiveKind::moe_combine;
}
// nccl-tests: algbw = size / time x this; 1 but for hypercube, which counts (n-1)/n of the size.
double algbw_factor(CollectiveKind kind, int ranks);
// nccl-tests: busbw = algbw x this. all_reduce 2(n-1)/n; all_gather, reduce_scatter, all_to_all,
// gather, scatter (n-1)/n; else 1.
double busbw_factor(CollectiveKind kind, int ranks);

struct Compute {
  RankId rank;
  Duration time;
};

struct Transfer {
  RankId from, to;
  Bytes size;
};

// `size` is nccl-tests' size column: all_reduce, broadcast, reduce: the buffer of each rank;
// all_gather, reduce_scatter, all_to_all, gather, scatter, hypercube: all n chunks together;
// send_recv: bytes each rank sends.
// Names are empty for "let the tuner choose"; a name forces it.
struct CollectiveOp {
  CollectiveKind kind = CollectiveKind::all_reduce;
  GroupId group;
  Bytes size;
  RankId root{0};
  std::string algorithm;
  std::string protocol;
  int channels = 0;
  // False: the element type or operator is one that NVSwitches cannot reduce (int8, prod).
  bool switch_reduction = true;
  bool in_place = false;          // the rank's own share is where it belongs already
  std::optional<MoeShape> moe{};  // of moe_dispatch and moe_combine; size is then moe->size()
};

struct Op {
  std::variant<Compute, Transfer, CollectiveOp> what;
  Instant earliest;         // not before this, even when dependencies are done
  std::vector<OpId> after;  // starts when all of these ended
  std::string label;
  std::vector<TriggerId> fires{};  // activated when this one ended
};

// What no list of dependencies can say: ops that start when some others have ended, whichever those
// are. A target waits for its trigger besides its own dependencies; one op is a target once.
struct Trigger {
  std::uint32_t needs = 1;  // activations after which all targets start; later ones do nothing
  bool one_by_one = false;  // instead: each activation starts one target, in their order
  std::vector<OpId> targets;
};

// Counts one more activation of the trigger; the targets that it starts.
std::span<const OpId> started_by(const Trigger& trigger, std::uint32_t& activated);

struct Work {
  std::vector<std::uint32_t> rank_gpu;      // rank -> ordinal of its GPU in the fabric
  std::vector<std::vector<RankId>> groups;  // group 0 = all ranks by convention
  std::vector<Op> ops;
  std::vector<Trigger> triggers{};
};

// Every fault as one sentence: unknown rank, group, dependency; a cycle; a singleton collective; an
// op that no trigger will ever start.
std::vector<std::string> validate(const Work& work);

}  // namespace weft::work
