// weft calibrate: the few factors that are a site's own, fitted to its logs.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/commands.h"
#include "app/measured_log.h"
#include "base/text.h"

namespace weft::app {
namespace {

double median(std::vector<double> values) {
  if (values.empty()) return 1;
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct Log {
  std::string path;
  measured::Table table;
};

// Measured over predicted time of every row of every log, below 64 KiB and from 16 MiB apart.
struct Ratios {
  std::vector<double> small, large, all;
  [[nodiscard]] double error() const {
    std::vector<double> errors;
    for (const double ratio : all) errors.push_back(std::abs(1 / ratio - 1));
    return median(errors);
  }
};

Ratios compare(const scenario::Session& session, const std::vector<Log>& logs,
               const std::string& source, const Streams& streams) {
  Ratios ratios;
  for (const Log& log : logs) {
    BenchRequest request;
    request.bench.kind = *log.table.kind;
    request.bench.source = source;
    if (log.table.ranks > 0) request.gpus = static_cast<std::uint32_t>(log.table.ranks);
    ask_as_measured(request, log.table, log.path);
    report::Bench bench =
        sweep(session, scenario::find_engine({"analytic", {}}), std::move(request), streams);
    put_beside(bench, log.table, log.path);
    for (const report::BenchRow& row : bench.rows) {
      if (!row.measured_us || row.time_us <= 0) continue;
      const double ratio = *row.measured_us / row.time_us;
      ratios.all.push_back(ratio);
      if (row.size < Bytes::kib(64)) ratios.small.push_back(ratio);
      if (row.size >= Bytes::mib(16)) ratios.large.push_back(ratio);
    }
  }
  return ratios;
}

std::vector<Log> read_logs(const Arguments& arguments) {
  std::vector<Log> logs;
  for (const std::string& path : arguments.positionals)
    logs.push_back({path, read_collective_log(path)});
  return logs;
}

int run(const Arguments& arguments, const Streams& streams) {
  const auto source = arguments.text("cluster");
  if (!source)
    throw option_error("cluster", "weft calibrate needs the cluster that was measured",
                       "add -c FILE or a shipped name");
  const std::vector<Log> logs = read_logs(arguments);
  const scenario::Library library = shipped_library(arguments);
  scenario::Session session = open_session(library, *source, arguments, streams);
  const bool several = session.fabric().server_count() > 1;
  const Ratios before = compare(session, logs, *source, streams);

  collective::Calibration fitted = session.constants().calibration;
  // A few rounds: latency is a part of large messages' time and bytes of small ones'.
  Ratios after = before;
  for (int round = 0; round < 4; ++round) {
    double& bytes = several ? fitted.network : fitted.inside;
    fitted.latency = std::clamp(fitted.latency * median(after.small), 0.05, 20.0);
    bytes = std::clamp(bytes * median(after.large), 0.05, 20.0);
    collective::Constants constants = session.constants();
    constants.calibration = fitted;
    session.use_constants(std::move(constants));
    after = compare(session, logs, *source, streams);
  }
  for (const Log& log : logs) fitted.fitted_on.push_back(log.path);
  fitted.rows = static_cast<int>(after.all.size());
  fitted.residual_percent = after.error() * 100;
  const std::string text = collective::calibration_text(fitted, *source);
  note(streams, fmt::format("median error {:.1f} % before, {:.1f} % after, {} rows",
                            before.error() * 100, after.error() * 100, fitted.rows));
  if (before.small.empty())
    note(streams, "no row below 64 KiB: the latency factor is left as it was");
  if (before.large.empty())
    note(streams, "no row of 16 MiB or more: the bandwidth factor is left as it was");
  if (const auto path = arguments.text("output")) {
    write_file(*path, text);
    note(streams, "wrote " + *path);
  } else {
    print(streams, text);
  }
  return 0;
}

}  // namespace

Command calibrate_command() {
  std::vector<OptionSpec> options = {
      {"cluster", "c", "SOURCE", "the cluster that was measured", ""},
      {"output", "o", "FILE", "write the calibration there; default: standard output", ""}};
  for (const OptionSpec& option : session_options()) options.push_back(option);
  return {"calibrate",
          "Fit the few factors that are a site's own to its nccl-tests logs.",
          {"weft calibrate all_reduce.log -c hgx-h100 --nodes 2 -o site.yaml",
           "weft bench all_reduce -c hgx-h100 --nodes 2 --calibration site.yaml"},
          {{"LOG", "a log of nccl-tests, rccl-tests or hccl_test", true, true}},
          std::move(options),
          run};
}

}  // namespace weft::app
