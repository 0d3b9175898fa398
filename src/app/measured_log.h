// Logs of nccl-tests and its kin for `weft bench --measured` and `weft calibrate`.
#pragma once

#include <string>

#include "app/bench.h"
#include "measured/measured.h"

namespace weft::app {

// Reads a log of a collective. InputError when it has none, or no row that moves bytes.
measured::Table read_collective_log(const std::string& path);

// Sizes and type of `request` become the log's. InputError when the log is of another collective.
void ask_as_measured(BenchRequest& request, const measured::Table& table, const std::string& path);
// The log's times beside the rows. InputError when it ran on another number of ranks.
void put_beside(report::Bench& bench, const measured::Table& table, const std::string& path);

}  // namespace weft::app
