// weft topo: the matrix of `nvidia-smi topo -m` for any source.
#include <fmt/format.h>

#include "app/commands.h"
#include "app/common.h"
#include "base/text.h"
#include "report/network_report.h"
#include "report/topo_report.h"

namespace weft::app {
namespace {

int run(const Arguments& arguments, const Streams& streams) {
  const scenario::Library library = shipped_library(arguments);
  const std::string source = *arguments.positional(0);
  scenario::OpenOptions open;
  const auto which = arguments.text("server");
  const bool numbered = !which || parse_int(*which).has_value();
  if (!numbered) open.host = which;
  const scenario::Cluster cluster = scenario::open_cluster(library, source, open);
  const fabric::Fabric& fabric = *cluster.fabric;
  for (const std::string& text : cluster.notes) note(streams, "note: " + text);
  if (arguments.flag("fabric")) {
    const fabric::NetworkSurvey survey = fabric::survey_network(fabric);
    print(streams, arguments.flag("json") ? report::network_json(survey, fabric, source)
                                          : report::network_text(survey));
    return 0;
  }
  if (fabric.server_count() == 0)
    throw InputError({source, 1, 1}, "there is no host in this network, only switches",
                     "weft topo --fabric describes it");
  const auto server =
      numbered
          ? arguments.integer("server", 0, static_cast<std::int64_t>(fabric.server_count()) - 1)
          : std::nullopt;
  const fabric::ServerId id(static_cast<std::size_t>(server.value_or(0)));
  if (const auto path = arguments.text("svg")) {
    const std::string picture = report::topo_svg(fabric, id, source);
    if (*path == "-") {
      print(streams, picture);
    } else {
      write_file(*path, picture);
      note(streams, "wrote " + *path);
    }
    return 0;
  }
  const fabric::TopologyMatrix matrix = fabric::topology_matrix(fabric, id);
  print(streams, arguments.flag("json") ? report::topo_json(fabric, matrix, source)
                                        : report::topo_text(matrix));
  return 0;
}

}  // namespace

Command topo_command() {
  return {
      "topo",
      "Print the path matrix of a server, as nvidia-smi topo -m does, from any source.",
      {"weft topo hgx-h100", "weft topo dump.xml --svg server.svg",
       "nvidia-smi topo -m > m.txt; weft topo m.txt --json",
       "ibnetdiscover > fabric.txt; weft topo fabric.txt --fabric"},
      {{"SOURCE", "a server, a cluster, or a dump: NCCL XML, hwloc XML, topo -m text"}},
      {{"fabric", "", "", "the network instead: tiers, rails, speeds, missing and odd links", ""},
       {"json", "", "", "JSON on stdout (schema weft/topo/1)", ""},
       {"server", "", "N|TYPE",
        "which server of a cluster, or what the hosts of a network dump are", "0"},
       {"svg", "", "FILE", "draw the server as SVG ('-' for stdout)", ""}},
      run};
}

}  // namespace weft::app
