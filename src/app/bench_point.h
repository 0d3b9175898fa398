// `weft bench ib_write_bw` and its like: the tables of point-to-point tests, predicted.
#pragma once

#include "app/common.h"
#include "pointtest/pointtest.h"

namespace weft::app {

// --from, --to, --pairs, --bidirectional, --peer_access, --mover, --chunk, --read, --measured.
std::vector<OptionSpec> point_options();
int run_point_bench(const pointtest::Found& test, const Arguments& arguments,
                    const Streams& streams);

}  // namespace weft::app
