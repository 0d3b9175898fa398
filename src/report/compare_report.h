// Several runs of one work side by side: a table, one sentence that says which was fastest and by
// how much, and JSON (schema weft/compare/1).
#pragma once

#include <span>
#include <string>

#include "result/result.h"

namespace weft::report {

struct ComparedRun {
  std::string name;  // what makes it different: "rocev2", or "a.yaml, tcp"
  std::string scenario, cluster, stack, routing, engine;
  std::string bottleneck;
  Duration completion;
  result::Spread times, slowdown;
  result::PacketCounters packets;
};
// The figures of a result; the names are left to the caller.
ComparedRun compared(const result::Result& result);

std::string compare_text(std::span<const ComparedRun> runs);
std::string compare_json(std::span<const ComparedRun> runs);
// "rocev2 is 1.31 times as fast as infiniband and 4.20 times as fast as tcp".
std::string comparison_sentence(std::span<const ComparedRun> runs);

}  // namespace weft::report
