// weft compare: one work on several stacks, or several scenarios, side by side.
#include <fmt/format.h>

#include "app/commands.h"
#include "app/common.h"
#include "app/observe.h"
#include "app/scenario_run.h"
#include "base/text.h"
#include "report/compare_report.h"

namespace weft::app {
namespace {

// "rocev2,infiniband": each, or one empty entry for what the scenario says.
std::vector<std::optional<std::string>> listed(const Arguments& arguments,
                                               std::string_view option) {
  std::vector<std::optional<std::string>> out;
  const auto text = arguments.text(option);
  if (!text) return {std::nullopt};
  for (const std::string_view name : split(*text, ',')) out.emplace_back(std::string(trim(name)));
  return out;
}

// What a run is called: the parts in which the runs differ.
std::string name_of(const Arguments& arguments, const RunChoices& choices,
                    const std::string& path) {
  std::vector<std::string> parts;
  if (arguments.positionals.size() > 1) parts.push_back(path);
  if (choices.stack) parts.push_back(*choices.stack);
  if (choices.routing) parts.push_back(*choices.routing);
  return parts.empty() ? path : join(parts, ", ");
}

report::ComparedRun compare_one(const scenario::Library& library, const Arguments& arguments,
                                const std::string& path, const RunChoices& choices,
                                const Streams& streams) {
  const ScenarioRun ready = open_run(library, path, choices, streams);
  Observation observation(arguments, ready.setup, *ready.engine, ready.session.stack(), streams);
  const result::Result result = run_engine(*ready.engine, ready.setup, observation.probe());
  observation.finish(result);
  report::ComparedRun out = report::compared(result);
  out.name = name_of(arguments, choices, path);
  out.scenario = path;
  out.cluster = ready.cluster;
  out.stack = ready.session.stack();
  out.routing = routing::to_text(ready.session.routing());
  out.engine = ready.engine->name();
  return out;
}

int run(const Arguments& arguments, const Streams& streams) {
  const scenario::Library library = shipped_library(arguments);
  std::vector<report::ComparedRun> runs;
  for (const std::string& path : arguments.positionals) {
    for (const auto& stack : listed(arguments, "stacks")) {
      for (const auto& routing : listed(arguments, "routings")) {
        RunChoices choices{arguments.text("cluster"), stack, routing, {}};
        if (arguments.given("engine")) choices.engine = arguments.text("engine");
        runs.push_back(compare_one(library, arguments, path, choices, streams));
      }
    }
  }
  if (runs.size() < 2)
    throw InputError({"command line", 0, 0},
                     "there is only one run, and nothing to compare it with",
                     "add --stacks rocev2,infiniband, or a second scenario");
  print(streams, arguments.flag("json") ? report::compare_json(runs) : report::compare_text(runs));
  return 0;
}

}  // namespace

Command compare_command() {
  return {"compare",
          "Run one work on several protocol stacks, or several scenarios, side by side.",
          {"weft compare examples/incast.yaml --stacks rocev2,tcp --engine packet",
           "weft compare examples/permutation.yaml --routings ecmp,spray",
           "weft compare a.yaml b.yaml --json"},
          {{"SCENARIO", "scenario files (weft: scenario/1)", true, true}},
          {{"stacks", "", "NAMES", "protocol stacks, such as rocev2,infiniband,tcp", ""},
           {"routings", "", "NAMES", "routings, such as ecmp,spray", ""},
           {"cluster", "c", "SOURCE", "use this cluster instead of the scenarios'", ""},
           {"engine", "", "NAME", "analytic, flow or packet; default: the scenario's, else flow",
            "flow"},
           {"json", "", "", "JSON on stdout (schema weft/compare/1)", ""}},
          run};
}

}  // namespace weft::app
