// What `weft bench` found, and its forms: the table of nccl-tests 2.19 byte for byte (rows
// predicted, in-place equal to out-of-place, because the model does not tell them apart), its -J
// JSON, our JSON, CSV, and a table for people that also names algorithm, protocol and bottleneck.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "result/result.h"

namespace weft::report {

struct BenchRow {
  Bytes size;              // nccl-tests' size column
  std::int64_t count = 0;  // its count column: elements (per rank for gather-like kinds)
  double time_us = 0;
  double algbw_gb_per_s = 0;  // size / time
  double busbw_gb_per_s = 0;  // algbw x work::busbw_factor
  std::string algorithm, protocol;
  int channels = 0;
  result::Bottleneck bottleneck;
  std::optional<double> measured_us;  // of a log put beside the prediction
  std::optional<double> error_band;   // 90 of 100 published rows alike were predicted within this
};

struct BenchDevice {
  int rank = 0;
  std::string host;
  int device = 0;
  std::string bus_id;  // "0000:0f:00"
  std::string model;
};

struct Bench {
  work::CollectiveKind kind = work::CollectiveKind::all_reduce;
  int ranks = 0;
  std::string type = "float", redop = "sum";
  int root = -1;
  Bytes begin, end;
  std::int64_t step = 2;  // factor, or bytes when !step_is_factor
  bool step_is_factor = true;
  std::vector<Bytes> sizes;  // exactly these, when not empty
  int iterations = 20, warmup = 5;
  std::vector<BenchDevice> devices;
  std::vector<BenchRow> rows;
  std::string engine, source, stack;
  std::string measured_log;  // its path; empty: none
  std::vector<std::string> assumptions;
  std::vector<std::string> arguments;
};

// The number as nccl-tests prints it: as many decimals (2, 1, 0) as fit `width`.
std::string nccl_number(double value, int width);
std::string nccl_table(const Bench& bench);
// JSON of `all_reduce_perf -J` (version 2): booleans and root are strings; "env" is left empty.
std::string nccl_json(const Bench& bench);
std::string bench_json(const Bench& bench);  // schema weft/bench/1
std::string bench_csv(const Bench& bench);
std::string bench_table(const Bench& bench);

// Sizes of a sweep as nccl-tests steps through them. REQUIRES begin <= end and a step that
// advances.
std::vector<Bytes> sweep_sizes(const Bench& bench);
// Bytes of one element of a type; nullopt when the type is unknown. Names: bench_types().
std::optional<int> type_size(std::string_view type);
std::vector<std::string> bench_types();
// Whether NVSwitches can reduce this type with this operator: sum of floating point and of 32 and
// 64 bit integers, min and max but for float and double (NCCL's ncclNvlsSupported). Kinds that
// reduce nothing ("none") always can.
bool switch_can_reduce(std::string_view type, std::string_view redop);
// The count column and the size really moved: gather-like kinds round each rank's share down to 16
// B.
struct SizeAndCount {
  Bytes size;
  std::int64_t count = 0;
};
SizeAndCount size_and_count(work::CollectiveKind kind, Bytes asked, int ranks, int type_bytes);

}  // namespace weft::report
