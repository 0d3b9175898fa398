#include "app/observe.h"

#include <fmt/format.h>

#include "app/common.h"
#include "base/text.h"

namespace weft::app {

namespace {

constexpr std::uint64_t kProgressParts = 10'000;

bool is_json(const std::string& file) {
  return file.ends_with(".json") || file.ends_with(".ndjson") || file.ends_with(".jsonl");
}

report::LinkChoice chosen_links(const Arguments& arguments, const fabric::Fabric& fabric) {
  std::vector<std::string> patterns;
  if (const auto text = arguments.text("links")) {
    for (const std::string_view pattern : split(*text, ',')) patterns.emplace_back(trim(pattern));
  }
  report::LinkChoice links(fabric, patterns);
  if (!links.unused().empty())
    throw option_error("links", fmt::format("no link fits '{}'", links.unused().front()),
                       "name links as weft run prints them, with * for any text: 'leaf0 -> *'");
  return links;
}

}  // namespace

// A line on the terminal while the engine runs.
class Observation::Progress final : public result::Probe {
 public:
  explicit Progress(const Streams& streams)
      : line_("simulating", kProgressParts, progress_output(streams)) {}
  void progress(double done, Instant now) override {
    line_.update(static_cast<std::uint64_t>(done * static_cast<double>(kProgressParts)),
                 "at " + to_text(now.since_start()));
  }

 private:
  ProgressLine line_;
};

std::vector<OptionSpec> observe_options() {
  return {{"probe", "", "FILE",
           "packet engine: links over time, as CSV, or JSON lines for .json or .ndjson", ""},
          {"probe-interval", "", "TIME", "length of an interval of --probe", "10us"},
          {"links", "", "PATTERNS",
           "links that are watched, such as 'leaf0 -> *,node3/*'; default: the network's", ""}};
}

Observation::Observation(const Arguments& arguments, const fabric::Fabric& fabric,
                         std::string_view engine, const Streams& streams)
    : streams_(&streams) {
  if (const auto file = arguments.text("probe")) {
    if (engine != "packet")
      throw option_error("probe", fmt::format("the {} engine has no packets to watch", engine),
                         "add --engine packet");
    const auto interval = parse_duration(*arguments.text("probe-interval"));
    if (!interval || interval->ps() <= 0)
      throw option_error("probe-interval", "this is no length of time", "write for example 10us");
    series_file_ = *file;
    series_ =
        std::make_unique<report::PacketSeries>(fabric, chosen_links(arguments, fabric), *interval);
    probes_.add(series_.get());
  } else if (arguments.given("links")) {
    throw option_error("links", "nothing watches these links", "add --probe FILE");
  }
  if (streams.err_is_terminal && !streams.quiet) {
    progress_ = std::make_unique<Progress>(streams);
    probes_.add(progress_.get());
  }
}

Observation::~Observation() = default;

void Observation::finish(const result::Result& result) {
  progress_.reset();
  if (series_ == nullptr) return;
  series_->finish(Instant::at(result.completion));
  write_file(series_file_, is_json(series_file_) ? series_->json_lines() : series_->csv());
  note(*streams_, "wrote " + series_file_);
}

}  // namespace weft::app
