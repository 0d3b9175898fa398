// weft export: any source as the file of another program.
#include <fmt/format.h>

#include "app/commands.h"
#include "app/common.h"
#include "base/text.h"
#include "emit/emitter.h"

namespace weft::app {
namespace {

int run(const Arguments& arguments, const Streams& streams) {
  const SourcePosition here{"command line", 0, 0};
  const std::string format = *arguments.positional(0);
  const emit::Emitter* emitter = emit::find_emitter(format);
  if (emitter == nullptr) {
    std::vector<std::string> names;
    for (const emit::Emitter* row : emit::all_emitters()) names.emplace_back(row->name());
    throw InputError(here, fmt::format("there is no format '{}' to export", format),
                     suggest(format, names));
  }
  const scenario::Library library = shipped_library(arguments);
  scenario::OpenOptions open;
  open.nodes = arguments.integer("nodes", 1, 1'000'000);
  open.host = arguments.text("server");
  const scenario::Cluster cluster = scenario::open_cluster(library, *arguments.positional(1), open);
  for (const std::string& text : cluster.notes) note(streams, "note: " + text);
  const std::string text = emitter->write(*cluster.fabric, here);
  if (const auto path = arguments.text("output"); path && *path != "-") {
    write_file(*path, text);
    note(streams, "wrote " + *path);
  } else {
    print(streams, text);
  }
  return 0;
}

}  // namespace

Command export_command() {
  return {
      "export",
      "Write any source as the file of another program.",
      {"weft export ibsim_net superpod-32 -o superpod.net",
       "weft export nccl_xml azure-ndv4 -o topo.xml", "weft list exporters"},
      {{"FORMAT", "a format of weft list exporters"}, {"SOURCE", "a cluster, a server, or a dump"}},
      {{"output", "o", "FILE", "write there ('-' for stdout)", ""},
       {"nodes", "N", "COUNT", "copies of a single server, joined by one switch a rail", ""},
       {"server", "", "TYPE", "what the hosts of a network dump are, such as hgx-h100", ""}},
      run};
}

}  // namespace weft::app
