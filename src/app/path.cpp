// weft path: how bytes get from one memory to another, hop by hop.
#include <fmt/format.h>

#include "app/commands.h"
#include "app/common.h"
#include "report/path_report.h"

namespace weft::app {
namespace {

fabric::PathQuery query_of(const Arguments& arguments, const fabric::Fabric& fabric) {
  fabric::PathQuery query;
  query.source = find_device(fabric, *arguments.positional(1), "A");
  query.destination = find_device(fabric, *arguments.positional(2), "B");
  if (const auto nic = arguments.text("from-nic"))
    query.source_nic = find_device(fabric, *nic, "--from-nic");
  if (const auto nic = arguments.text("to-nic"))
    query.destination_nic = find_device(fabric, *nic, "--to-nic");
  return query;
}

int all_ways(const scenario::Session& session, const fabric::PathQuery& query,
             const report::PathQuestion& question, bool json, const Streams& streams) {
  const report::PathAnswers answers = fabric::find_all_data_paths(session.fabric(), session.costs(),
                                                                  session.network_route(), query);
  print(streams, json ? report::paths_json(session.fabric(), answers, question)
                      : report::paths_text(answers, question));
  return 0;
}

int run(const Arguments& arguments, const Streams& streams) {
  const scenario::Library library = shipped_library(arguments);
  std::vector<std::string> ways = fabric::via_names();
  ways.emplace_back("all");
  const std::size_t way = arguments.choice("via", ways).value_or(0);
  Arguments without_via = arguments;  // here --via may also be "all"
  std::erase_if(without_via.values,
                [](const Arguments::Value& value) { return value.option == "via"; });
  const scenario::Session session =
      open_session(library, *arguments.positional(0), without_via, streams);
  fabric::PathQuery query = query_of(arguments, session.fabric());
  const Bytes size = *arguments.size("bytes");
  const report::PathQuestion question{size, fabric::registration_time(session.costs(), size)};
  if (ways[way] == "all")
    return all_ways(session, query, question, arguments.flag("json"), streams);
  if (arguments.given("via")) query.via = *fabric::parse_via(ways[way]);
  const fabric::PathAnswer answer =
      fabric::find_data_path(session.fabric(), session.costs(), session.network_route(), query);
  if (!answer.path) {
    note(streams, fmt::format("no such path: {}", answer.refusal));
    return 1;
  }
  if (!answer.path->note.empty()) note(streams, "note: " + answer.path->note);
  print(streams, arguments.flag("json")
                     ? report::path_json(session.fabric(), *answer.path, question)
                     : report::path_text(session.fabric(), *answer.path, question));
  return 0;
}

}  // namespace

Command path_command() {
  std::vector<OptionSpec> options = {
      {"bytes", "", "SIZE", "size of the transfer", "1MiB"},
      {"json", "", "", "JSON on stdout (schema weft/path/1)", ""},
      {"from-nic", "", "NIC", "leave by this NIC instead of the nearest", ""},
      {"to-nic", "", "NIC", "arrive at this NIC", ""},
  };
  for (OptionSpec& option : session_options()) {
    if (option.name == "via")
      option.help = "nvlink, p2p, gdr, rdma, staged, tcp, or all: every legal way in one table";
    options.push_back(option);
  }
  return {"path",
          "Show the data path between two memories: links, rates, latency, copies, the narrowest "
          "point.",
          {"weft path hgx-h100 gpu0 gpu7 --bytes 1MiB",
           "weft path demo-8x8-h100-rail node0/gpu0 node1/gpu0 --via all",
           "weft path dump.xml gpu0 cpu0 --json"},
          {{"SOURCE", "a server, a cluster, or a dump"},
           {"A", "a GPU or CPU, such as gpu0 or node3/cpu1"},
           {"B", "the other end"}},
          std::move(options),
          run};
}

}  // namespace weft::app
