// weft run: simulate a scenario file; a summary, and a run folder.
#include <fmt/format.h>

#include <filesystem>

#include "app/commands.h"
#include "app/common.h"
#include "app/observe.h"
#include "base/json.h"
#include "base/text.h"
#include "report/run_report.h"

namespace weft::app {
namespace {

// The scenario with every default filled in: enough to run it again.
std::string setup_json(const scenario::ScenarioFile& file, const std::string& text,
                       const scenario::Session& session, const engine::Engine& engine,
                       std::string_view cluster) {
  JsonWriter json(0);
  json.begin_object().member("cluster", cluster).member("stack", session.stack());
  json.member("routing", routing::to_text(session.routing()));
  json.member("engine", engine.name())
      .member("seed", file.seed)
      .member("queue_pairs", file.queue_pairs);
  json.member("gpus",
              static_cast<std::int64_t>(session.fabric().of_kind(fabric::DeviceKind::gpu).size()));
  json.member("scenario", text).end_object();
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

scenario::Session open_scenario(const scenario::Library& library,
                                const scenario::ScenarioFile& file, const std::string& cluster,
                                const std::optional<std::string>& routing) {
  scenario::OpenOptions open;
  open.nodes = file.nodes;
  if (file.cluster) open.asked_at = file.cluster->where;
  scenario::StackOptions options;
  options.stack = file.stack;
  options.routing = file.routing;
  if (routing) options.routing = scenario::TextAt{*routing, {"command line, --routing", 0, 0}};
  options.seed = static_cast<std::uint64_t>(file.seed);
  options.queue_pairs = file.queue_pairs;
  if (file.via) {
    const auto via = fabric::parse_via(file.via->text);
    if (!via)
      throw InputError(file.via->where, fmt::format("there is no way '{}'", file.via->text),
                       suggest(file.via->text, fabric::via_names()));
    options.via = *via;
  }
  return {library, scenario::open_cluster(library, cluster, open), options};
}

int run(const Arguments& arguments, const Streams& streams) {
  const std::string path = *arguments.positional(0);
  const std::string text = read_file(path);
  const scenario::ScenarioFile file = scenario::parse_scenario(text, path);
  const auto given = arguments.text("cluster");
  if (!given && !file.cluster) {
    throw InputError({path, 1, 1}, "the scenario names no cluster",
                     "add cluster: demo-8x8-h100-rail, or give -c");
  }
  const std::string cluster = given ? *given : file.cluster->text;
  const scenario::Library library = shipped_library(arguments);
  const scenario::Session session =
      open_scenario(library, file, cluster, arguments.text("routing"));
  for (const std::string& assumption : session.cluster().notes)
    note(streams, "note: " + assumption);
  const engine::Engine& engine = arguments.given("engine") || !file.engine
                                     ? chosen_engine(arguments)
                                     : scenario::find_engine(*file.engine);
  engine::Setup setup = session.setup(scenario::build_work(file, session.fabric()));
  setup.link_changes = scenario::build_link_changes(file, session.fabric(), engine);
  Observation observation(arguments, session.fabric(), engine.name(), streams);
  const result::Result result = run_engine(engine, setup, observation.probe());
  observation.finish(result);
  const report::RunEcho echo{path, setup_json(file, text, session, engine, cluster),
                             session.cluster().notes};
  const std::string json = report::run_json(session.fabric(), result, echo);
  if (const auto folder = arguments.text("output")) {
    write_folder(*folder, json, session.fabric(), result);
    note(streams, fmt::format("wrote {0}/result.json, {0}/links.csv, {0}/flows.csv", *folder));
  }
  print(streams, arguments.flag("json") ? json : report::run_text(session.fabric(), result, echo));
  return 0;
}

}  // namespace

Command run_command() {
  std::vector<OptionSpec> options = {
      {"cluster", "c", "SOURCE", "use this cluster instead of the scenario's", ""},
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
