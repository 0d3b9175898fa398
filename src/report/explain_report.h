// `weft bench --explain`: the channels found on the fabric, and for each size every candidate of
// the cost model with its predicted time and why the chosen one won.
#pragma once

#include <string>
#include <vector>

#include "collective/tuner.h"
#include "report/bench_report.h"

namespace weft::report {

struct ExplainRow {
  BenchRow predicted;                             // what ran, and the time weft predicts
  std::vector<collective::Candidate> candidates;  // best first
  bool forced = false;                            // the user chose, not the model
};

std::string explain_text(const collective::ChannelPlan& plan, const std::vector<ExplainRow>& rows);

}  // namespace weft::report
