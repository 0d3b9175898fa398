// The scenario file (`weft: scenario/1`): which cluster, which protocol stack, which work.
// Documented in docs/scenario-file.md. Parsing gives plain data with positions; session.h looks the
// names up and turns ranks and sizes into Work.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/errors.h"
#include "base/units.h"
#include "work/moe.h"

namespace weft::scenario {

struct TextAt {
  std::string text;
  SourcePosition where;
};

// One entry of `work`. Exactly one of the forms is filled.
struct WorkItem {
  enum class Form { collective, transfer, compute, pattern, matrix };
  Form form = Form::collective;
  // Collective kind, or pattern (permutation, incast, ring, all_pairs, ring_chunks); matrix: a
  // file.
  TextAt name;
  Bytes size;
  std::optional<work::MoeShape> moe;  // collective: moe_dispatch, moe_combine; no size then
  bool moe_seed_given = false;        // else the scenario's
  Duration time;                      // compute
  std::int64_t at_once = 0;           // all_pairs: flows a rank has under way; 0: all
  std::int64_t steps = 0;             // ring_chunks: hops of each chunk; 0: all_reduce's 2 (n-1)
  std::optional<TextAt> start_unit;   // matrix: of its start times
  std::optional<TextAt> ranks;        // "0-7,12" ; absent = all
  TextAt from, to;                    // transfer: a rank or a device name
  std::int64_t root = 0;
  std::optional<TextAt> algorithm, protocol;
  int channels = 0;
  int repeat = 1;  // one after the other
  Duration at;     // not before
  std::string id;
  std::vector<TextAt> after;  // ids
  SourcePosition where;
};

// One entry of `link_changes`: what cables carry from `at` on.
struct LinkChangeItem {
  TextAt from, to;   // devices; every cable between them
  bool both = true;  // false: the direction from -> to only
  Duration at;
  std::optional<BitRate>
      rate;  // of each cable and direction; else `share` of what it was built for
  double share = 1;
  SourcePosition where;
};

struct ScenarioFile {
  std::string file;
  std::optional<TextAt> cluster;
  std::optional<TextAt> stack, engine, via, routing;
  std::optional<std::int64_t> nodes;
  std::int64_t seed = 1;
  int queue_pairs = 1;
  std::vector<WorkItem> work;
  std::vector<LinkChangeItem> link_changes;
};

// Throws InputError with every fault of the file.
ScenarioFile parse_scenario(std::string_view text, const std::string& file);

// "0-3,8" as numbers below `limit`; nullopt when malformed or out of range.
std::optional<std::vector<std::uint32_t>> parse_rank_list(std::string_view text,
                                                          std::uint32_t limit);

}  // namespace weft::scenario
