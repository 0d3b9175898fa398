// The nccl-tests sweep shared by `weft bench` and `weft demo`.
#pragma once

#include "app/common.h"
#include "report/bench_report.h"

namespace weft::app {

struct BenchRequest {
  report::Bench bench;              // kind, sizes, type: what to sweep
  std::string algorithm, protocol;  // forced, or empty
  int channels = 0;
  std::uint32_t root = 0;
  std::optional<std::uint32_t> gpus;  // first GPUs only
};

// Fills devices and rows; a progress line on a terminal while it takes long.
report::Bench sweep(const scenario::Session& session, const engine::Engine& engine,
                    BenchRequest request, const Streams& streams);

}  // namespace weft::app
