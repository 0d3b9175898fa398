#include "app/scenario_run.h"

#include <fmt/format.h>

#include "base/text.h"

namespace weft::app {
namespace {

scenario::TextAt from_option(const std::string& text, std::string_view option) {
  return {text, {fmt::format("command line, --{}", option), 0, 0}};
}

scenario::Session open_session_of(const scenario::Library& library,
                                  const scenario::ScenarioFile& file, const std::string& cluster,
                                  const RunChoices& choices) {
  scenario::OpenOptions open;
  open.nodes = file.nodes;
  if (file.cluster) open.asked_at = file.cluster->where;
  scenario::StackOptions options;
  options.stack = choices.stack ? from_option(*choices.stack, "stack") : file.stack;
  options.routing = choices.routing ? from_option(*choices.routing, "routing") : file.routing;
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

}  // namespace

ScenarioRun open_run(const scenario::Library& library, const std::string& path,
                     const RunChoices& choices, const Streams& streams) {
  std::string text = read_file(path);
  scenario::ScenarioFile file = scenario::parse_scenario(text, path);
  if (!choices.cluster && !file.cluster) {
    throw InputError({path, 1, 1}, "the scenario names no cluster",
                     "add cluster: demo-8x8-h100-rail, or give -c");
  }
  const std::string cluster = choices.cluster ? *choices.cluster : file.cluster->text;
  scenario::Session session = open_session_of(library, file, cluster, choices);
  ScenarioRun run{path, std::move(text), std::move(file), cluster, std::move(session), nullptr, {}};
  for (const std::string& assumption : run.session.cluster().notes)
    note(streams, "note: " + assumption);
  run.engine = &scenario::find_engine(choices.engine    ? from_option(*choices.engine, "engine")
                                      : run.file.engine ? *run.file.engine
                                                        : from_option("flow", "engine"));
  run.setup = run.session.setup(scenario::build_work(run.file, run.session.fabric()));
  run.setup.link_changes =
      scenario::build_link_changes(run.file, run.session.fabric(), *run.engine);
  return run;
}

}  // namespace weft::app
