// weft validate: published measurements beside predictions, with the errors.
#include <algorithm>

#include "app/commands.h"
#include "app/common.h"
#include "base/text.h"
#include "validate/validate_report.h"

namespace weft::app {
namespace {

// Only the sets whose name holds one of the words asked for.
void keep_sets(validate::Map& map, const std::string& words) {
  const auto wanted = split(words, ',');
  std::erase_if(map.sets, [&](const validate::Set& set) {
    return std::none_of(wanted.begin(), wanted.end(), [&](std::string_view word) {
      return set.name.find(word) != std::string::npos;
    });
  });
  if (map.sets.empty())
    throw option_error("sets", "no set of the map has such a name", "leave --sets away to see all");
}

int run(const Arguments& arguments, const Streams& streams) {
  const std::string path = *arguments.positional(0);
  const std::vector<std::string> formats = {"table", "json", "csv", "points", "peers"};
  const std::string format =
      arguments.flag("json") ? "json" : formats[*arguments.choice("format", formats)];
  validate::Map map = validate::parse_map(read_file(path), path);
  if (const auto words = arguments.text("sets")) keep_sets(map, *words);
  const scenario::Library library = shipped_library(arguments);
  ProgressLine progress("validate", map.sets.size(), progress_output(streams));
  validate::RunOptions options;
  options.library = &library;
  if (const auto file = arguments.text("constants"))
    options.constants = collective::parse_constants(read_file(*file), *file);
  options.progress = [&](std::size_t done) {
    progress.update(done, done < map.sets.size() ? map.sets[done].name : "done");
  };
  const std::vector<validate::Point> points = validate::run(map, options);
  const validate::Scores scores = validate::score(map, points);
  if (const auto file = arguments.text("write_bands"))
    write_file(*file, validate::error_bands_text(validate::error_bands(map, points)));
  if (format == "json")
    print(streams, validate::scores_json(map, scores));
  else if (format == "csv")
    print(streams, validate::scores_csv(scores));
  else if (format == "peers")
    print(streams, validate::peers_table(map, points));
  else if (format == "points")
    print(streams, validate::points_csv(map, points));
  else
    print(streams, validate::scores_table(scores));
  return 0;
}

}  // namespace

Command validate_command() {
  return {"validate",
          "Compare predictions with published measurements, set by set.",
          {"weft validate data/validation/map.yaml",
           "weft validate data/validation/map.yaml --sets h100 --format points"},
          {{"MAP", "a validation map (weft: validation/1)"}},
          {{"sets", "", "WORDS", "only sets whose name holds one of these, split by commas", ""},
           {"constants", "", "FILE", "constants of the collective model, not the shipped ones", ""},
           {"write_bands", "", "FILE", "also write the error bands that weft bench prints", ""},
           {"format", "", "FORM", "table, json, csv (scores), points, peers", "table"},
           {"json", "", "", "same as --format json (schema weft/validate/1)", ""}},
          run};
}

}  // namespace weft::app
