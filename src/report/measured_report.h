// One sentence on how a log compares with the prediction beside it, and where to look.
#pragma once

#include <string>

#include "report/bench_report.h"

namespace weft::report {

// Empty when nothing was measured.
std::string measured_verdict(const Bench& bench);

}  // namespace weft::report
