#include "report/point_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/json.h"

namespace weft::report {
namespace {

bool has_measured(const PointBench& bench) {
  return std::any_of(bench.rows.begin(), bench.rows.end(),
                     [](const PointRow& row) { return row.measured.has_value(); });
}

double error_of(const PointBench& bench, const PointRow& row) {
  return bench.predicted(row) / *row.measured - 1;
}

std::string verdict(const PointBench& bench) {
  std::vector<double> errors;
  double sum = 0;
  for (const PointRow& row : bench.rows) {
    if (!row.measured) continue;
    errors.push_back(std::abs(error_of(bench, row)));
    sum += error_of(bench, row);
  }
  std::sort(errors.begin(), errors.end());
  const double median = errors[(errors.size() - 1) / 2];
  return fmt::format("\n{} rows measured: median error {:.1f} %, mean {:+.1f} %, worst {:.1f} %\n",
                     errors.size(), 100 * median, 100 * sum / static_cast<double>(errors.size()),
                     100 * errors.back());
}

std::string perftest_table(const PointBench& bench) {
  std::string out = fmt::format(" {}\n", bench.summary);
  if (bench.latency) {
    out +=
        " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    "
        "t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec]\n";
    for (const PointRow& row : bench.rows)
      out += fmt::format(
          " {:<7} {:<8} {:>12.2f} {:>14.2f} {:>15.2f} {:>15.2f} {:>15.2f} {:>18.2f} {:>18.2f}\n",
          row.size.count(), 1000, row.time_us, row.time_us, row.time_us, row.time_us, 0.0,
          row.time_us, row.time_us);
    return out;
  }
  out += " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n";
  for (const PointRow& row : bench.rows) {
    const double gbits = row.gb_per_s * 8;
    out += fmt::format(" {:<10} {:<10} {:>16.6f} {:>18.6f} {:>18.6f}\n", row.size.count(), 5000,
                       gbits, gbits, gbits * 1e3 / (8 * row.size.to_double()));
  }
  return out;
}

std::string_view osu_title(std::string_view test) {
  if (test == "osu_latency") return "Latency";
  if (test == "osu_multi_lat") return "Multi Latency";
  if (test == "osu_bibw") return "Bi-Directional Bandwidth";
  if (test == "osu_mbw_mr") return "Multiple Bandwidth / Message Rate";
  return "Bandwidth";
}

std::string osu_table(const PointBench& bench) {
  std::string out = fmt::format("# OSU MPI {} Test v7.3\n", osu_title(bench.test));
  out += bench.latency ? "# Size          Latency (us)\n" : "# Size      Bandwidth (MB/s)\n";
  for (const PointRow& row : bench.rows)
    out += fmt::format("{:<10}{:>20.2f}\n", row.size.count(),
                       bench.latency ? row.time_us : row.gb_per_s * 1e3);
  return out;
}

}  // namespace

std::string point_table(const PointBench& bench) {
  const bool measured = has_measured(bench);
  std::string out = fmt::format("{} from {} to {} on {} ({})\n{}\n\n", bench.test, bench.from,
                                bench.to, bench.source, bench.stack, bench.way);
  out += fmt::format("{:>12} {:>12} {:>10} {:>10}", "size (B)", "time (us)", "GB/s", "Gb/s");
  if (measured) out += fmt::format(" {:>10} {:>8}", "measured", "error");
  out += "  limited by\n";
  for (const PointRow& row : bench.rows) {
    out += fmt::format("{:>12} {:>12.2f}", row.size.count(), row.time_us);
    out += row.gb_per_s > 0 ? fmt::format(" {:>10.3f} {:>10.2f}", row.gb_per_s, row.gb_per_s * 8)
                            : fmt::format(" {:>10} {:>10}", "-", "-");
    if (row.measured)
      out += fmt::format(" {:>10.3f} {:>+6.1f} %", *row.measured, 100 * error_of(bench, row));
    else if (measured)
      out += fmt::format(" {:>10} {:>8}", "-", "-");
    out += fmt::format("  {}\n", row.limit);
  }
  return measured ? out + verdict(bench) : out;
}

std::string point_tool_table(const PointBench& bench) {
  if (bench.test.starts_with("ib_")) return perftest_table(bench);
  if (bench.test.starts_with("osu_")) return osu_table(bench);
  return point_table(bench);
}

std::string point_json(const PointBench& bench) {
  JsonWriter json;
  json.begin_object().member("schema", "weft/bench-point/1");
  json.member("test", bench.test).member("source", bench.source).member("stack", bench.stack);
  json.member("from", bench.from).member("to", bench.to).member("way", bench.way);
  json.member("pairs", bench.pairs).member("queue_pairs", bench.queue_pairs);
  json.key("rows").begin_array();
  for (const PointRow& row : bench.rows) {
    json.begin_object();
    json.member("size_bytes", row.size.count()).member("time_us", row.time_us);
    if (row.gb_per_s > 0) json.member("gb_per_s", row.gb_per_s);
    json.member("limit", row.limit);
    if (row.measured) {
      json.member(bench.latency ? "measured_us" : "measured_gb_per_s", *row.measured);
      json.member("error", error_of(bench, row));
    }
    json.end_object();
  }
  json.end_array().key("assumptions").begin_array();
  for (const std::string& assumption : bench.assumptions) json.value(assumption);
  json.end_array().end_object();
  return json.take();
}

std::string point_csv(const PointBench& bench) {
  std::string out = "test,from,to,size_bytes,time_us,gb_per_s,measured,error,limit\n";
  for (const PointRow& row : bench.rows) {
    out += fmt::format("{},{},{},{},{},{},", bench.test, bench.from, bench.to, row.size.count(),
                       row.time_us, row.gb_per_s);
    out += row.measured ? fmt::format("{},{}", *row.measured, error_of(bench, row)) : ",";
    out += fmt::format(",\"{}\"\n", row.limit);
  }
  return out;
}

}  // namespace weft::report
