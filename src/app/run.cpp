// weft run: simulate a scenario file; a summary, and a run folder.
#include <fmt/format.h>

#include <filesystem>

#include "app/commands.h"
#include "app/common.h"
#include "app/observe.h"
#include "app/scenario_run.h"
#include "base/json.h"
#include "base/text.h"
#include "report/run_report.h"

namespace weft::app {
namespace {

// The scenario with every default filled in: enough to run it again.
std::string setup_json(const ScenarioRun& run) {
  JsonWriter json(0);
  json.begin_object().member("cluster", run.cluster).member("stack", run.session.stack());
  json.member("routing", routing::to_text(run.session.routing()));
  json.member("engine", run.engine->name())
      .member("seed", run.file.seed)
      .member("queue_pairs", run.file.queue_pairs);
  const auto gpus = run.session.fabric().of_kind(fabric::DeviceKind::gpu);
  json.member("gpus", static_cast<std::int64_t>(gpus.size()));
  json.member("scenario", run.text).end_object();
  return json.take();
}

void write_folder(const std::string& folder, const std::string& json, const fabric::Fabric& fabric,
                  const result::Result& result) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    throw option_error("output",
                       fmt::format("cannot make the folder {}: {}", folder, error.message()),
                       "choose another with -o");
  write_file(folder + "/result.json", json);
  write_file(folder + "/links.csv", report::links_csv(fabric, result));
  write_file(folder + "/flows.csv", report::flows_csv(fabric, result));
}

int run(const Arguments& arguments, const Streams& streams) {
  RunChoices choices{
      arguments.text("cluster"), arguments.text("stack"), arguments.text("routing"), {}};
  if (arguments.given("engine")) choices.engine = arguments.text("engine");
  const scenario::Library library = shipped_library(arguments);
  const ScenarioRun ready = open_run(library, *arguments.positional(0), choices, streams);
  const fabric::Fabric& fabric = ready.session.fabric();
  Observation observation(arguments, ready.setup, *ready.engine, ready.session.stack(), streams);
  const result::Result result = run_engine(*ready.engine, ready.setup, observation.probe());
  observation.finish(result);
  const report::RunEcho echo{ready.path, setup_json(ready), ready.session.cluster().notes};
  const std::string json = report::run_json(fabric, result, echo);
  if (const auto folder = arguments.text("output")) {
    write_folder(*folder, json, fabric, result);
    note(streams, fmt::format("wrote {0}/result.json, {0}/links.csv, {0}/flows.csv", *folder));
  }
  print(streams, arguments.flag("json") ? json : report::run_text(fabric, result, echo));
  return 0;
}

}  // namespace

Command run_command() {
  std::vector<OptionSpec> options = {
      {"cluster", "c", "SOURCE", "use this cluster instead of the scenario's", ""},
      {"stack", "", "NAME", "protocol stack (weft list stacks) instead of the scenario's", ""},
      {"engine", "", "NAME", "analytic, flow or packet; default: the scenario's, else flow",
       "flow"},
      {"routing", "", "POLICY", "ecmp, spray, ... instead of the scenario's or cluster's", ""},
      {"output", "o", "FOLDER", "write result.json, links.csv and flows.csv there", ""},
      {"json", "", "", "JSON on stdout (schema weft/run/1)", ""}};
  for (OptionSpec& option : observe_options()) options.push_back(std::move(option));
  return {"run",
          "Simulate a scenario file: completion, bottleneck, link loads, flows.",
          {"weft run examples/two-jobs.yaml", "weft run examples/incast.yaml -o run1 --json",
           "weft run s.yaml --engine analytic"},
          {{"SCENARIO", "a scenario file (weft: scenario/1)"}},
          options,
          run};
}

}  // namespace weft::app
