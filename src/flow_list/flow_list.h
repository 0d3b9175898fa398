// Flow lists: which node sends how much to which other one, when, and what waits for what. Read
// from the connection matrices (.cm) of the htsim family, and turned into ops of a Work. Positions
// of the flows are kept, so that what never ended can be named. Page: docs/formats/htsim_cm.md.
// Leaves out: failures of links (refused), several messages on one connection (refused).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/errors.h"
#include "work/work.h"

namespace weft::flow_list {

struct Flow {
  std::uint32_t from = 0, to = 0;  // nodes
  std::optional<std::int64_t> id;  // as the file numbers it
  Bytes size;
  std::int64_t start = 0;                 // in the unit of the file, which does not say it
  std::optional<std::size_t> started_by;  // a trigger, by place in FlowList::triggers
  std::vector<std::size_t> fires;         // when it has ended
  SourcePosition where;
};

struct Trigger {
  enum class Kind : std::uint8_t { oneshot, multishot, barrier };
  std::int64_t id = 0;
  Kind kind = Kind::oneshot;
  std::uint32_t count = 1;  // barrier: activations that it waits for
  SourcePosition where;
};

struct FlowList {
  std::string file;
  std::uint32_t nodes = 0;
  std::vector<Flow> flows;
  std::vector<Trigger> triggers;
  // The first flow with a start other than 0, which needs a unit; null when there is none.
  [[nodiscard]] const Flow* first_timed() const;
};

// Throws InputError with every fault of the text.
FlowList read_htsim_cm(std::string_view text, const std::string& file);

struct Placement {
  std::vector<work::RankId> rank_of_node;  // at least list.nodes
  Duration unit;                           // of Flow::start
  Duration at;                             // of the whole list
  std::vector<work::OpId> after;           // what every flow that no trigger starts waits for
};
// Appends a transfer for each flow, in order, and the triggers; the ops added.
std::vector<work::OpId> add_to(work::Work& work, const FlowList& list, const Placement& placement);

}  // namespace weft::flow_list
