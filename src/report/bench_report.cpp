#include "report/bench_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"
#include "report/measured_report.h"

namespace weft::report {

namespace {

std::optional<double> error_of(const BenchRow& row) {
  if (!row.measured_us) return std::nullopt;
  return row.time_us / *row.measured_us - 1;
}

std::string optional_text(std::optional<double> value) {
  return value ? fmt::format("{:.6g}", *value) : std::string();
}

// Time measured and the error of the prediction, for a table with a log beside it.
std::string measured_cells(const Bench& bench, const BenchRow& row) {
  if (bench.measured_log.empty()) return {};
  if (!row.measured_us) return fmt::format(" {:>9} {:>7}", "-", "-");
  return fmt::format(" {} {:>+6.1f}%", nccl_number(*row.measured_us, 9), *error_of(row) * 100);
}

std::string band_line(const Bench& bench) {
  double least = 1e9, most = 0;
  for (const BenchRow& row : bench.rows) {
    if (!row.error_band) continue;
    least = std::min(least, *row.error_band);
    most = std::max(most, *row.error_band);
  }
  if (most == 0) return {};
  const std::string range = least < most ? fmt::format("{:.0f} to {:.0f}", least * 100, most * 100)
                                         : fmt::format("{:.0f}", most * 100);
  return fmt::format("band: 9 of 10 published measurements alike were within {} %\n", range);
}

}  // namespace

std::string bench_json(const Bench& bench) {
  JsonWriter json;
  json.begin_object().member("schema", "weft/bench/1");
  json.member("collective", work::to_text(bench.kind)).member("ranks", bench.ranks);
  json.member("source", bench.source).member("stack", bench.stack).member("engine", bench.engine);
  json.member("type", bench.type).member("redop", bench.redop);
  json.key("rows").begin_array();
  for (const BenchRow& row : bench.rows) {
    json.begin_object();
    json.member("size_bytes", row.size.count()).member("count", row.count);
    json.member("time_us", row.time_us).member("algbw_gb_per_s", row.algbw_gb_per_s);
    json.member("busbw_gb_per_s", row.busbw_gb_per_s);
    json.member("algorithm", row.algorithm).member("protocol", row.protocol);
    json.member("channels", row.channels);
    if (row.error_band) json.member("error_band_ratio", *row.error_band);
    if (row.measured_us) {
      json.member("measured_time_us", *row.measured_us);
      json.member("error_ratio", row.time_us / *row.measured_us - 1);
    }
    json.key("bottleneck").begin_object();
    json.member("link", row.bottleneck.name).member("share", row.bottleneck.share).end_object();
    json.end_object();
  }
  json.end_array();
  const result::Bottleneck last =
      bench.rows.empty() ? result::Bottleneck{} : bench.rows.back().bottleneck;
  json.key("bottleneck").begin_object();
  json.member("link", last.name).member("share", last.share).member("sentence", last.sentence);
  json.end_object();
  json.key("assumptions").begin_array();
  for (const std::string& assumption : bench.assumptions) json.value(assumption);
  json.end_array().end_object();
  return json.take();
}

std::string bench_csv(const Bench& bench) {
  std::string out =
      "collective,ranks,size_bytes,count,time_us,algbw_gb_per_s,busbw_gb_per_s,algorithm,protocol,"
      "channels,bottleneck,bottleneck_share,error_band_ratio,measured_time_us,error_ratio\n";
  for (const BenchRow& row : bench.rows) {
    out +=
        fmt::format("{},{},{},{},{},{},{},{},{},{},\"{}\",{},{},{},{}\n", work::to_text(bench.kind),
                    bench.ranks, row.size.count(), row.count, row.time_us, row.algbw_gb_per_s,
                    row.busbw_gb_per_s, row.algorithm, row.protocol, row.channels,
                    row.bottleneck.name, row.bottleneck.share, optional_text(row.error_band),
                    optional_text(row.measured_us), optional_text(error_of(row)));
  }
  return out;
}

std::string bench_table(const Bench& bench) {
  std::string out =
      fmt::format("{} on {} GPUs of {} ({}, {} engine)\n\n", work::to_text(bench.kind), bench.ranks,
                  bench.source, bench.stack, bench.engine);
  out += fmt::format("{:>14} {:>14} {:>9} {:>9} {:>9}{}  {:<12} {:<7} {:>3}  {}\n", "size (B)",
                     "count", "time (us)", "algbw", "busbw",
                     bench.measured_log.empty() ? "" : "  measured   error", "algorithm", "proto",
                     "ch", "limited by");
  out += fmt::format("{:>14} {:>14} {:>9} {:>9} {:>9}\n", "", "(elements)", "", "(GB/s)", "(GB/s)");
  for (const BenchRow& row : bench.rows) {
    out +=
        fmt::format("{:>14} {:>14} {} {} {}{}  {:<12} {:<7} {:>3}  {} {:.0f} %\n", row.size.count(),
                    row.count, nccl_number(row.time_us, 9), nccl_number(row.algbw_gb_per_s, 9),
                    nccl_number(row.busbw_gb_per_s, 9), measured_cells(bench, row), row.algorithm,
                    row.protocol, row.channels, row.bottleneck.name, row.bottleneck.share * 100);
  }
  if (!bench.rows.empty() && !bench.rows.back().bottleneck.sentence.empty()) {
    out += "\n" + bench.rows.back().bottleneck.sentence + "\n";
  }
  out += band_line(bench);
  if (const std::string verdict = measured_verdict(bench); !verdict.empty()) out += verdict + "\n";
  return out;
}

}  // namespace weft::report
