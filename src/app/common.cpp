#include "app/common.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>

#include "base/text.h"
#include "data/embedded.h"

namespace weft::app {

scenario::Library shipped_library(const Arguments& arguments) {
  std::vector<scenario::ShippedFile> files;
  for (const data::EmbeddedFile& file : data::embedded_files()) {
    files.push_back({std::string(file.path), std::string(file.text)});
  }
  scenario::Library library(std::move(files));
  const auto own = arguments.text("catalogue");
  if (!own) return library;
  return library.with_catalogues({{*own, {"command line, --catalogue", 0, 0}}});
}

validate::ErrorBands shipped_error_bands() {
  constexpr std::string_view kPath = "constants/error_bands.yaml";
  for (const data::EmbeddedFile& file : data::embedded_files())
    if (file.path == kPath) return validate::parse_error_bands(file.text, std::string(kPath));
  return {};
}

std::vector<OptionSpec> session_options() {
  return {
      {"stack", "", "NAME", "protocol stack (weft list stacks); default: the cluster's", ""},
      {"nodes", "N", "COUNT", "copies of a single server, joined by one switch a rail", ""},
      {"server", "", "TYPE", "what the hosts of a network dump are, such as hgx-h100", ""},
      {"mtu", "", "SIZE", "payload bytes of a network packet; default: the stack's", ""},
      {"queue-pairs", "", "COUNT", "queue pairs a connection, each with its own path", "1"},
      {"routing", "", "POLICY",
       "ecmp, spray, adaptive, flowlet, dimension_order, up_down or valiant; default: the "
       "cluster's",
       ""},
      {"via", "", "WAY", "force the way between GPUs (nvlink, p2p, gdr, rdma, staged, tcp)", ""},
      {"sharp", "", "", "switches that can reduce in the network do (SHARP)", ""},
      {"seed", "", "N", "seed of hashes and patterns", "1"},
      {"calibration", "", "FILE", "a site's own factors, as weft calibrate writes them", ""},
  };
}

scenario::Session open_session(const scenario::Library& library, const std::string& source,
                               const Arguments& arguments, const Streams& streams) {
  scenario::OpenOptions open;
  open.nodes = arguments.integer("nodes", 1, 1'000'000);
  open.host = arguments.text("server");
  open.sharp = arguments.flag("sharp");
  scenario::Cluster cluster = scenario::open_cluster(library, source, open);
  scenario::StackOptions options;
  if (const auto stack = arguments.text("stack")) {
    options.stack = scenario::TextAt{*stack, {"command line, --stack", 0, 0}};
  }
  if (const auto routing = arguments.text("routing")) {
    options.routing = scenario::TextAt{*routing, {"command line, --routing", 0, 0}};
  }
  options.mtu = arguments.size("mtu");
  options.queue_pairs = static_cast<int>(arguments.integer("queue-pairs", 1, 256).value_or(1));
  options.seed = static_cast<std::uint64_t>(arguments.integer("seed", 0, INT64_MAX).value_or(1));
  if (arguments.given("via")) {
    const std::vector<std::string> ways = fabric::via_names();
    options.via = *fabric::parse_via(ways[*arguments.choice("via", ways)]);
  }
  scenario::Session session(library, std::move(cluster), options);
  if (const auto file = arguments.text("calibration")) {
    collective::Constants constants = session.constants();
    constants.calibration = collective::parse_calibration(read_file(*file), *file);
    session.use_constants(std::move(constants));
  }
  for (const std::string& text : session.cluster().notes) note(streams, "note: " + text);
  return session;
}

ProgressOutput progress_output(const Streams& streams) {
  const auto begin = std::chrono::steady_clock::now();
  const auto elapsed = [begin] {
    return Duration::from_seconds(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  };
  const bool shown = streams.err_is_terminal && !streams.quiet;
  const auto write = [elapsed, shown, err = streams.err](std::string_view text) {
    if (!shown || elapsed() < Duration::seconds(1)) return;
    std::fwrite(text.data(), 1, text.size(), err);
    std::fflush(err);
  };
  return {write, elapsed};
}

double peak_rss_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024.0;  // Linux counts KiB
}

result::Result run_engine(const engine::Engine& engine, const engine::Setup& setup,
                          result::Probe* probe) {
  const auto begin = std::chrono::steady_clock::now();
  result::Result result = engine.run(setup, probe);
  result.engine.name = engine.name();
  result.engine.wall_s =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  result.engine.peak_rss_mb = peak_rss_mb();
  return result;
}

const engine::Engine& chosen_engine(const Arguments& arguments) {
  return scenario::find_engine(
      {arguments.text("engine").value_or("flow"), {"command line, --engine", 0, 0}});
}

fabric::DeviceId find_device(const fabric::Fabric& fabric, const std::string& name,
                             std::string_view what) {
  if (const auto device = fabric.find(name)) return *device;
  std::vector<std::string> known;
  const auto range = fabric.server_count() > 0 ? fabric.devices_of(fabric::ServerId(0))
                                               : fabric::Fabric::DeviceRange{};
  for (std::uint32_t d = range.first; d < range.last; ++d) {
    const std::string full(fabric.name(fabric::DeviceId(d)));
    if (full.ends_with("/" + name)) return fabric::DeviceId(d);
    known.push_back(full);
  }
  throw InputError({"command line", 0, 0},
                   fmt::format("there is no device '{}' for {}", name, what), suggest(name, known));
}

}  // namespace weft::app
