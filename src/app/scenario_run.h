// A scenario file made ready to run: parsed, its cluster opened, its work built, with what the
// command line says instead of the file.
#pragma once

#include <optional>
#include <string>

#include "app/command.h"
#include "scenario/session.h"

namespace weft::app {

// Each replaces what the scenario says.
struct RunChoices {
  std::optional<std::string> cluster, stack, routing, engine;
};

struct ScenarioRun {
  std::string path, text;
  scenario::ScenarioFile file;
  std::string cluster;
  scenario::Session session;
  const engine::Engine* engine = nullptr;
  engine::Setup setup;
};

// Throws InputError. What was assumed goes to standard error.
ScenarioRun open_run(const scenario::Library& library, const std::string& path,
                     const RunChoices& choices, const Streams& streams);

}  // namespace weft::app
