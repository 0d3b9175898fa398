#include "app/measured_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.h"

namespace weft::app {

measured::Table read_collective_log(const std::string& path) {
  measured::Table table = measured::read_any(read_file(path), path);
  if (!table.kind) {
    throw InputError({path, 1, 1}, fmt::format("{} measures no collective", table.test),
                     "give the log of all_reduce_perf, all_gather_perf, alltoall_perf, ...");
  }
  std::erase_if(table.rows,
                [](const measured::Row& row) { return row.size.count() <= 0 || row.time_us <= 0; });
  if (table.rows.empty())
    throw InputError({path, 1, 1}, "no row of this log has a size and a time",
                     "run the benchmark with -b 8 or more");
  return table;
}

void ask_as_measured(BenchRequest& request, const measured::Table& table, const std::string& path) {
  report::Bench& bench = request.bench;
  if (*table.kind != bench.kind) {
    throw InputError({path, table.rows.front().line, 0},
                     fmt::format("this is a log of {}, not of {}", work::to_text(*table.kind),
                                 work::to_text(bench.kind)),
                     fmt::format("weft bench {} --measured {}", work::to_text(*table.kind), path));
  }
  bench.sizes.clear();
  for (const measured::Row& row : table.rows) bench.sizes.push_back(row.size);
  std::sort(bench.sizes.begin(), bench.sizes.end());
  bench.sizes.erase(std::unique(bench.sizes.begin(), bench.sizes.end()), bench.sizes.end());
  const std::string& type = table.rows.front().type;
  if (report::type_size(type)) bench.type = type;
}

void put_beside(report::Bench& bench, const measured::Table& table, const std::string& path) {
  if (table.ranks != 0 && table.ranks != bench.ranks) {
    throw InputError(
        {path, 1, 1},
        fmt::format("the log is of {} ranks, {} has {}", table.ranks, bench.source, bench.ranks),
        "set --nodes or --gpus, or choose the cluster that was measured");
  }
  std::map<Bytes, double> times;
  for (const measured::Row& row : table.rows) times[row.size] = row.time_us;
  for (std::size_t r = 0; r < bench.rows.size(); ++r) {
    const auto found = times.find(bench.sizes[r]);
    if (found != times.end()) bench.rows[r].measured_us = found->second;
  }
  bench.measured_log = path;
}

}  // namespace weft::app
