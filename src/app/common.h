// What several commands share: the shipped library, options with one meaning everywhere, the clock
// and memory readings that engines may not take themselves, and writing results out.
#pragma once

#include <chrono>
#include <string>

#include "app/command.h"
#include "base/progress.h"
#include "scenario/session.h"
#include "validate/error_bands.h"

namespace weft::app {

// With the parts of --catalogue over the shipped ones.
scenario::Library shipped_library(const Arguments& arguments);
validate::ErrorBands shipped_error_bands();

// --stack, --nodes, --sharp, --routing, --seed, --queue-pairs, --via, --mtu.
std::vector<OptionSpec> session_options();
scenario::Session open_session(const scenario::Library& library, const std::string& source,
                               const Arguments& arguments, const Streams& streams);

// Runs an engine and fills the wall time and peak memory of its stats.
result::Result run_engine(const engine::Engine& engine, const engine::Setup& setup,
                          result::Probe* probe);
double peak_rss_mb();

// Progress goes to stderr when that is a terminal and --quiet was not given, after the first
// second.
ProgressOutput progress_output(const Streams& streams);

const engine::Engine& chosen_engine(const Arguments& arguments);

// A device by name ("node0/gpu3"), or "gpu3" when the fabric has one server or it is in the first.
fabric::DeviceId find_device(const fabric::Fabric& fabric, const std::string& name,
                             std::string_view what);

}  // namespace weft::app
