// weft show: everything the catalogue says of one part, and what it does not say.
#include <fmt/format.h>

#include <algorithm>

#include "app/commands.h"
#include "app/common.h"
#include "app/list_parts.h"
#include "base/text.h"
#include "import/part_query.h"

namespace weft::app {
namespace {

using import::PartFigure;
using import::PartRecord;

std::string head(const PartRecord& record) {
  std::string text = record.name;
  if (!record.title.empty()) text += ": " + record.title;
  text += fmt::format("\n{}", record.kind->singular);
  if (!record.vendor.empty()) text += ", vendor " + record.vendor;
  for (const auto& [key, word] : record.identity) text += fmt::format(", {} {}", key, word);
  if (!record.aliases.empty()) text += fmt::format(", also called {}", join(record.aliases, ", "));
  return text + "\n\n";
}

std::vector<std::string> row_of(const PartFigure& figure, const PartRecord& record) {
  std::string note = figure.note;
  if (figure.derived) note = note.empty() ? "derived" : "derived: " + note;
  return {figure.key, import::part_cell(record, figure.key), figure.confidence, figure.source,
          note};
}

std::string figures_text(const PartRecord& record) {
  std::vector<std::vector<std::string>> rows = {
      {"figure", "value", "confidence", "source", "note"}};
  for (const PartFigure& figure : record.figures) {
    rows.push_back(
        figure.key == "pci_id"
            ? std::vector<std::string>{"pci_id", figure.value, figure.confidence, figure.source, ""}
            : row_of(figure, record));
  }
  return aligned(rows);
}

// Ports x rate of the choice that carries most, written out.
std::string capacity_text(const PartRecord& record) {
  const import::PortChoices* choices = record.port_choices("ports");
  if (choices == nullptr) return "";
  std::string sum;
  const auto most = std::max_element(
      choices->begin(), choices->end(),
      [](const auto& a, const auto& b) { return a.first * a.second < b.first * b.second; });
  sum = fmt::format("{} x {}", most->second, to_text(most->first));
  if (const import::PortChoices* more = record.port_choices("more_ports")) {
    for (const auto& [rate, count] : *more) sum += fmt::format(" + {} x {}", count, to_text(rate));
  }
  return fmt::format("\ncapacity one way: {} = {:.6g} Tbps\n", sum,
                     record.capacity().gbps() / 1000);
}

// The latency that engines take when the part states none.
std::string assumed_text(const PartRecord& record, const import::Catalogue& catalogue) {
  const import::CataloguePart* part = catalogue.part(record.name);
  if (part == nullptr || part->device.kind != fabric::DeviceKind::network_switch) return "";
  if (record.figure("latency") != nullptr) return "";
  const PartRecord* chip = catalogue.record(record.word("chip"));
  const bool of_chip = chip != nullptr && chip->figure("latency") != nullptr;
  return fmt::format("\nlatency is not published; engines take the {} of {}\n",
                     to_text(part->device.forwarding_latency),
                     of_chip ? chip->name : "generic-ethernet-switch");
}

std::string missing_text(const PartRecord& record) {
  std::vector<std::string> missing;
  for (const std::string_view key : record.kind->columns) {
    if (import::part_cell(record, key).empty()) missing.emplace_back(key);
  }
  return missing.empty() ? "" : fmt::format("\nnot stated: {}\n", join(missing, ", "));
}

std::string sources_text(const PartRecord& record, const import::Catalogue& catalogue) {
  std::vector<std::string> ids;
  for (const PartFigure& figure : record.figures) {
    if (std::find(ids.begin(), ids.end(), figure.source) == ids.end()) ids.push_back(figure.source);
  }
  std::sort(ids.begin(), ids.end());
  std::vector<std::vector<std::string>> rows;
  for (const std::string& id : ids)
    rows.push_back({"  " + id, std::string(catalogue.source_title(id))});
  return rows.empty() ? "" : "\nsources\n" + aligned(rows);
}

std::vector<std::string> all_names(const import::Catalogue& catalogue) {
  std::vector<std::string> names = catalogue.record_names();
  for (const PartRecord& record : catalogue.records())
    names.insert(names.end(), record.aliases.begin(), record.aliases.end());
  return names;
}

int run(const Arguments& arguments, const Streams& streams) {
  const scenario::Library library = shipped_library(arguments);
  const import::Catalogue& catalogue = library.catalogue();
  const std::string name = *arguments.positional(0);
  const PartRecord* record = catalogue.record(to_lower(name));
  if (record == nullptr) record = catalogue.record(name);
  if (record == nullptr) {
    const auto near = did_you_mean(name, all_names(catalogue));
    throw InputError({"command line", 0, 0}, fmt::format("the catalogue has no '{}'", name),
                     near
                         ? fmt::format("did you mean '{}'?", *near)
                         : "weft list KIND names them: switches, gpus, nics, optics, servers, ...");
  }
  if (arguments.flag("json")) {
    JsonWriter json;
    json.begin_object().member("schema", "weft/part/1").key("part");
    write_part(json, *record, catalogue);
    json.end_object();
    print(streams, json.take());
    return 0;
  }
  print(streams, head(*record) + figures_text(*record) + capacity_text(*record) +
                     assumed_text(*record, catalogue) + missing_text(*record) +
                     sources_text(*record, catalogue));
  return 0;
}

}  // namespace

Command show_command() {
  return {"show",
          "Show every figure of a part with its unit, source and confidence.",
          {"weft show tomahawk6", "weft show qm9700 --json"},
          {{"NAME", "a part of the catalogue: weft list switches, gpus, nics, optics, ..."}},
          {{"json", "", "", "JSON on stdout (schema weft/part/1)", ""}},
          run};
}

}  // namespace weft::app
