// weft list: what this program knows, by kind.
#include <fmt/format.h>

#include "app/commands.h"
#include "app/common.h"
#include "app/list_parts.h"
#include "base/json.h"
#include "base/text.h"
#include "emit/emitter.h"
#include "pointtest/pointtest.h"
#include "routing/routes.h"
#include "topology/topology.h"
#include "transport/transport.h"

namespace weft::app {
namespace {

struct Entry {
  std::string name, summary;
};

template <class Rows>
std::vector<Entry> named(const Rows& rows) {
  std::vector<Entry> entries;
  for (const auto* row : rows)
    entries.push_back({std::string(row->name()), std::string(row->summary())});
  return entries;
}

std::vector<Entry> topologies() {
  std::vector<Entry> entries;
  for (const topology::Topology* topology : topology::all_topologies()) {
    entries.push_back({std::string(topology->name()), std::string(topology->summary())});
    for (const topology::Parameter& parameter : topology->parameters()) {
      entries.push_back({"  " + parameter.name,
                         fmt::format("{}{}", parameter.meaning,
                                     parameter.unit.empty() ? "" : " (" + parameter.unit + ")")});
    }
  }
  return entries;
}

std::vector<Entry> files(const scenario::Library& library, std::string_view folder) {
  std::vector<Entry> entries;
  for (const std::string& name : library.names(folder)) {
    const std::string& text = library.find(folder, name)->text;
    // The comment that opens a shipped file says what it is.
    std::string summary(text.substr(0, text.find('\n')));
    summary.erase(0, summary.find_first_not_of("# "));
    entries.push_back({name, summary});
  }
  return entries;
}

std::vector<Entry> parts(const scenario::Library& library) {
  std::vector<Entry> entries;
  for (const import::Catalogue::Figure& figure : library.catalogue().figures()) {
    entries.push_back({figure.part, fmt::format("{} = {} {}  [{}; {}]", figure.key, figure.value,
                                                figure.unit, figure.confidence, figure.source)});
  }
  return entries;
}

// What a record of each kind of the catalogue may state.
std::vector<Entry> fields() {
  std::vector<Entry> entries;
  for (const import::PartKind& kind : import::part_kinds()) {
    entries.push_back({std::string(kind.section), std::string(kind.summary)});
    for (const import::PartField& field : kind.fields) {
      entries.push_back({fmt::format("  {}", field.key),
                         fmt::format("{}{}", field.meaning,
                                     field.unit.empty() ? "" : fmt::format(" ({})", field.unit))});
    }
  }
  return entries;
}

std::vector<Entry> sources(const scenario::Library& library) {
  std::vector<Entry> entries;
  for (const auto& [id, source] : library.catalogue().sources())
    entries.push_back({id, source.title + (source.read ? "" : " (not read)")});
  return entries;
}

const std::vector<std::string>& kinds() {
  static const std::vector<std::string> kKinds = [] {
    std::vector<std::string> kinds = {
        "topologies", "stacks", "collectives", "algorithms", "importers", "exporters", "clusters",
        "parts",      "fields", "sources",     "engines",    "routings",  "tests"};
    for (const import::PartKind& kind : import::part_kinds()) kinds.emplace_back(kind.section);
    return kinds;
  }();
  return kKinds;
}

std::vector<Entry> entries_of(std::string_view kind, const scenario::Library& library) {
  std::vector<Entry> entries;
  if (kind == "topologies") return topologies();
  if (kind == "stacks") return named(transport::all_transports());
  if (kind == "algorithms") return named(collective::all_algorithms());
  if (kind == "importers") return named(import::all_importers());
  if (kind == "exporters") return named(emit::all_emitters());
  if (kind == "servers" || kind == "clusters") return files(library, kind);
  if (kind == "parts") return parts(library);
  if (kind == "fields") return fields();
  if (kind == "sources") return sources(library);
  if (kind == "routings") {
    for (const std::string& name : routing::policy_names())
      entries.push_back({name, std::string(routing::summary(*routing::parse_policy(name)))});
    return entries;
  }
  if (kind == "tests") {
    for (const pointtest::Family* family : pointtest::all_families()) {
      for (const pointtest::Test& test : family->tests())
        entries.push_back({std::string(test.name), std::string(test.summary)});
    }
    return entries;
  }
  if (kind == "engines") {
    for (const std::string& name : scenario::engine_names()) entries.push_back({name, ""});
    return entries;
  }
  for (const std::string& name : work::collective_names()) entries.push_back({name, ""});
  return entries;
}

int run(const Arguments& arguments, const Streams& streams) {
  const std::string kind = *arguments.positional(0);
  if (std::find(kinds().begin(), kinds().end(), kind) == kinds().end()) {
    throw InputError({"command line", 0, 0}, fmt::format("there is no kind '{}' to list", kind),
                     suggest(kind, kinds()));
  }
  const scenario::Library library = shipped_library(arguments);
  const import::PartKind* part_kind = import::find_part_kind(kind);
  const bool asks =
      arguments.given("where") || arguments.given("columns") || arguments.given("sort");
  // `servers` are server files, which cluster files name, unless figures are asked for.
  if (part_kind != nullptr && (kind != "servers" || asks))
    return list_parts(*part_kind, library.catalogue(), arguments, streams);
  if (asks) {
    throw InputError({"command line", 0, 0}, fmt::format("{} have no figures to ask for", kind),
                     "--where, --columns and --sort are for parts: switches, gpus, nics, ...");
  }
  const std::vector<Entry> entries = entries_of(kind, library);
  if (arguments.flag("json")) {
    JsonWriter json;
    json.begin_object()
        .member("schema", "weft/list/1")
        .member("kind", kind)
        .key("entries")
        .begin_array();
    for (const Entry& entry : entries) {
      json.begin_object()
          .member("name", trim(entry.name))
          .member("summary", entry.summary)
          .end_object();
    }
    json.end_array().end_object();
    print(streams, json.take());
    return 0;
  }
  for (const Entry& entry : entries)
    print(streams, fmt::format("{:<28} {}\n", entry.name, entry.summary));
  return 0;
}

}  // namespace

Command list_command() {
  std::vector<OptionSpec> options = part_list_options();
  options.push_back({"json", "", "", "JSON on stdout (schema weft/list/1, weft/parts/1)", ""});
  return {"list",
          "List what is known: " + join(kinds(), ", ") + ".",
          {"weft list clusters", "weft list switches --where 'ports_800g>=128 and form=box'",
           "weft list servers --where 'power_max<=15 kW' --sort price"},
          {{"KIND", "one of " + join(kinds(), ", ")}},
          std::move(options),
          run};
}

}  // namespace weft::app
