// The text and JSON of nccl-tests 2.19. Column widths and number shortening follow its output
// format, so that any parser of real logs reads a prediction.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/json.h"
#include "report/bench_report.h"

namespace weft::report {
namespace {

struct Type {
  std::string_view name;
  int size;
};
constexpr std::array<Type, 13> kTypes = {{{"int8", 1},
                                          {"uint8", 1},
                                          {"int32", 4},
                                          {"uint32", 4},
                                          {"int64", 8},
                                          {"uint64", 8},
                                          {"half", 2},
                                          {"float", 4},
                                          {"double", 8},
                                          {"bfloat16", 2},
                                          {"f8e4m3", 1},
                                          {"f8e5m2", 1},
                                          {"char", 1}}};

bool splits_by_rank(work::CollectiveKind kind) {
  using enum work::CollectiveKind;
  return kind == all_gather || kind == reduce_scatter || kind == all_to_all || kind == gather ||
         kind == scatter || kind == hypercube;
}

// A rank's share is a multiple of this many elements: 16 bytes, none for gather and scatter, and
// four elements for hypercube.
std::int64_t share_alignment(work::CollectiveKind kind, int type_bytes) {
  using enum work::CollectiveKind;
  if (kind == gather || kind == scatter) return 1;
  if (kind == hypercube) return 4;
  return std::max<std::int64_t>(1, 16 / type_bytes);
}

std::string program_name(const Bench& bench) {
  using enum work::CollectiveKind;
  switch (bench.kind) {
    case all_to_all:
      return "alltoall_perf";
    case send_recv:
      return "sendrecv_perf";
    default:
      return std::string(work::to_text(bench.kind)) + "_perf";
  }
}

double average_busbw(const Bench& bench) {
  double sum = 0;
  for (const BenchRow& row : bench.rows) sum += row.busbw_gb_per_s;
  return bench.rows.empty() ? 0 : sum / static_cast<double>(bench.rows.size());
}

std::string row_body(const BenchRow& row) {
  return fmt::format("  {:>7}  {:>6}  {:>6}  {:>6}", nccl_number(row.time_us, 7),
                     nccl_number(row.algbw_gb_per_s, 6), nccl_number(row.busbw_gb_per_s, 6), 0);
}

std::string header_row(const std::array<std::string_view, 13>& names) {
  return fmt::format(
      "# {:>10}  {:>12}  {:>8}  {:>6}  {:>6}  {:>7}  {:>6}  {:>6}  {:>6}  {:>7}  {:>6}  {:>6}  "
      "{:>6} \n",
      names[0], names[1], names[2], names[3], names[4], names[5], names[6], names[7], names[8],
      names[9], names[10], names[11], names[12]);
}

void json_body(JsonWriter& json, std::string_view name, const BenchRow& row) {
  json.key(name).begin_object();
  json.member("time", row.time_us);
  json.member("alg_bw", row.algbw_gb_per_s);
  json.member("bus_bw", row.busbw_gb_per_s);
  json.member("nwrong", 0.0);
  json.end_object();
}

void json_config(JsonWriter& json, const Bench& bench) {
  json.key("config").begin_object();
  json.member("nthreads", 1).member("ngpus", 1);
  json.member("minimum_bytes", bench.begin.count()).member("maximum_bytes", bench.end.count());
  json.member(bench.step_is_factor ? "step_factor" : "step_bytes", bench.step);
  json.member("warmup_iters", bench.warmup).member("iterations", bench.iterations);
  json.member("aggregated_iterations", 1).member("validation", 0).member("graph", 0);
  json.member("blocking_collectives", "false").member("parallel_init", "false");
  json.key("devices").begin_array();
  for (const BenchDevice& device : bench.devices) {
    json.begin_object();
    json.member("rank", device.rank).member("group", 0).member("pid", 0);
    json.member("hostname", device.host).member("device", device.device);
    json.member("device_hex", device.bus_id).member("device_info", device.model);
    json.end_object();
  }
  json.end_array().end_object();
}

}  // namespace

std::string nccl_number(double value, int width) {
  int digits = 0;
  for (double power = 1; value >= power; power *= 10) ++digits;
  if (digits < width - 2) return fmt::format("{:{}.2f}", value, width);
  if (digits < width - 1) return fmt::format("{:{}.1f}", value, width);
  if (digits < width + 1) return fmt::format("{:{}.0f}", value, width);
  return fmt::format("{:{}.{}e}", value, width, width >= 7 ? 1 : 0);
}

std::string nccl_table(const Bench& bench) {
  const std::string program = program_name(bench);
  std::string out = "# nccl-tests version 2.19.6 nccl-headers=23007 nccl-library=23007\n";
  out += fmt::format("# Collective test starting: {}\n", program);
  out += fmt::format(
      "# nThread 1 nGpus 1 minBytes {} maxBytes {} step: {}({}) warmup iters: {} iters: {} agg "
      "iters: 1 "
      "validation: 0 graph: 0 unalign: 0\n#\n# Using devices\n",
      bench.begin.count(), bench.end.count(), bench.step, bench.step_is_factor ? "factor" : "bytes",
      bench.warmup, bench.iterations);
  for (const BenchDevice& device : bench.devices) {
    out += fmt::format("#  Rank {:2} Group {:2} Pid {:6} on {:>10} device {:2} [{}] {}\n",
                       device.rank, 0, 0, device.host, device.device, device.bus_id, device.model);
  }
  out +=
      fmt::format("#\n# {:>10}  {:>12}  {:>8}  {:>6}  {:>6}{:11}out-of-place{:23}in-place{:10}\n",
                  "", "", "", "", "", "", "", "");
  out += header_row({"size", "count", "type", "redop", "root", "time", "algbw", "busbw", "#wrong",
                     "time", "algbw", "busbw", "#wrong"});
  out += header_row({"(B)", "(elements)", "", "", "", "(us)", "(GB/s)", "(GB/s)", "", "(us)",
                     "(GB/s)", "(GB/s)", ""});
  for (const BenchRow& row : bench.rows) {
    out += fmt::format("{:12}  {:12}  {:>8}  {:>6}  {:6}", row.size.count(), row.count, bench.type,
                       bench.redop, bench.root);
    out += row_body(row) + row_body(row) + "\n";
  }
  out += fmt::format("# {:<20} : 0 OK\n", "Out of bounds values");
  out += fmt::format("# {:<20} : {:g} \n#\n", "Avg bus bandwidth", average_busbw(bench));
  out += fmt::format("# Collective test concluded: {}\n", program);
  return out;
}

std::string nccl_json(const Bench& bench) {
  JsonWriter json;
  json.begin_object().member("version", 2).member("start_time", "");
  json.key("args").begin_array();
  for (const std::string& argument : bench.arguments) json.value(argument);
  json.end_array();
  json.key("env").begin_array().end_array();
  json.member("nccl_version", 23007);
  json_config(json, bench);
  json.key("results").begin_array();
  for (const BenchRow& row : bench.rows) {
    json.begin_object();
    json.member("size", row.size.count()).member("count", row.count).member("type", bench.type);
    json.member("redop", bench.redop).member("root", fmt::format("{:6}", bench.root));
    json_body(json, "out_of_place", row);
    json_body(json, "in_place", row);
    json.member("actual_iterations", bench.iterations)
        .member("experiment_name", program_name(bench));
    json.end_object();
  }
  json.end_array();
  json.key("out_of_bounds").begin_object().member("count", 0).member("okay", "true").end_object();
  json.key("average_bus_bandwidth").begin_object();
  json.member("bandwidth", average_busbw(bench)).member("okay", "unchecked").end_object();
  json.key("errors").begin_array().end_array();
  json.member("end_time", "").end_object();
  return json.take();
}

std::vector<Bytes> sweep_sizes(const Bench& bench) {
  if (!bench.sizes.empty()) return bench.sizes;
  std::vector<Bytes> sizes;
  for (Bytes size = bench.begin; size <= bench.end;) {
    sizes.push_back(size);
    if (bench.step_is_factor && size > Bytes(bench.end.count() / bench.step)) break;
    size = bench.step_is_factor ? size * bench.step : size + Bytes(bench.step);
  }
  return sizes;
}

std::optional<int> type_size(std::string_view type) {
  for (const Type& known : kTypes) {
    if (known.name == type) return known.size;
  }
  return std::nullopt;
}

std::vector<std::string> bench_types() {
  std::vector<std::string> names;
  for (const Type& known : kTypes) names.emplace_back(known.name);
  return names;
}

bool switch_can_reduce(std::string_view type, std::string_view redop) {
  if (redop == "none") return true;
  const bool wide_integer =
      type == "int32" || type == "uint32" || type == "int64" || type == "uint64";
  const bool half = type == "half" || type == "bfloat16";
  const bool plain = type == "float" || type == "double";
  if (redop == "sum") return wide_integer || half || plain;
  return (redop == "min" || redop == "max") && (wide_integer || half);
}

SizeAndCount size_and_count(work::CollectiveKind kind, Bytes asked, int ranks, int type_bytes) {
  if (!splits_by_rank(kind)) {
    const std::int64_t count = asked.count() / type_bytes;
    return {Bytes(count * type_bytes), count};
  }
  const std::int64_t align = share_alignment(kind, type_bytes);
  const std::int64_t count = asked.count() / type_bytes / ranks / align * align;
  return {Bytes(count * ranks * type_bytes), count};
}

}  // namespace weft::report
