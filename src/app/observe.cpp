#include "app/observe.h"

#include <fmt/format.h>

#include <filesystem>

#include "app/common.h"
#include "base/text.h"

namespace weft::app {

namespace {

constexpr std::uint64_t kProgressParts = 10'000;

bool is_json(const std::string& file) {
  return file.ends_with(".json") || file.ends_with(".ndjson") || file.ends_with(".jsonl");
}

// The links that --links asks for; without it those of `standard`, or the network's.
report::LinkChoice chosen_links(const Arguments& arguments, const fabric::Fabric& fabric,
                                std::vector<std::string> standard) {
  std::vector<std::string> patterns = std::move(standard);
  if (const auto text = arguments.text("links")) {
    patterns.clear();
    for (const std::string_view pattern : split(*text, ',')) patterns.emplace_back(trim(pattern));
  }
  report::LinkChoice links(fabric, patterns);
  if (!links.unused().empty() && arguments.given("links"))
    throw option_error("links", fmt::format("no link fits '{}'", links.unused().front()),
                       "name links as weft run prints them, with * for any text: 'leaf0 -> *'");
  return links;
}

// What NICs send into the network: every packet of it once.
std::vector<std::string> sending_nics(const fabric::Fabric& fabric) {
  std::vector<std::string> names;
  for (const fabric::DeviceId nic : fabric.of_kind(fabric::DeviceKind::nic))
    for (const fabric::LinkId link : fabric.out_links(nic))
      if (fabric::is_network(fabric.link_class(link).kind)) names.push_back(fabric.link_name(link));
  return names;
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
  return {
      {"probe", "", "FILE",
       "packet engine: links over time, as CSV, or JSON lines for .json or .ndjson", ""},
      {"probe-interval", "", "TIME", "length of an interval of --probe", "10us"},
      {"pcap", "", "FILE", "packet engine, rocev2: a capture for Wireshark", ""},
      {"snap", "", "BYTES", "bytes of a frame that --pcap keeps", "65535"},
      {"links", "", "PATTERNS",
       "links that are watched: 'leaf0 -> *,node3/*'; default: all, --pcap: what NICs send", ""}};
}

Observation::Observation(const Arguments& arguments, const engine::Setup& setup,
                         const engine::Engine& engine, const std::string& stack,
                         const Streams& streams)
    : streams_(&streams) {
  const fabric::Fabric& fabric = *setup.fabric;
  for (const std::string_view option : {"probe", "pcap"}) {
    if (arguments.given(option) && engine.name() != "packet")
      throw option_error(option,
                         fmt::format("the {} engine has no packets to watch", engine.name()),
                         "add --engine packet");
  }
  if (arguments.given("links") && !arguments.given("probe") && !arguments.given("pcap"))
    throw option_error("links", "nothing watches these links", "add --probe FILE or --pcap FILE");
  if (arguments.given("probe")) {
    const auto interval = parse_duration(*arguments.text("probe-interval"));
    if (!interval || interval->ps() <= 0)
      throw option_error("probe-interval", "this is no length of time", "write for example 10us");
    series_file_ = *arguments.text("probe");
    series_ = std::make_unique<report::PacketSeries>(fabric, chosen_links(arguments, fabric, {}),
                                                     *interval);
    probes_.add(series_.get());
  }
  if (arguments.given("pcap")) open_capture(arguments, setup, stack);
  if (streams.err_is_terminal && !streams.quiet) {
    progress_ = std::make_unique<Progress>(streams);
    probes_.add(progress_.get());
  }
}

void Observation::open_capture(const Arguments& arguments, const engine::Setup& setup,
                               const std::string& stack) {
  if (stack != "rocev2")
    throw option_error("pcap", fmt::format("frames of {} cannot be written", stack),
                       "add --stack rocev2, or use --probe");
  capture_file_ = *arguments.text("pcap");
  capture_out_.open(capture_file_ + ".part", std::ios::binary);
  if (!capture_out_)
    throw option_error("pcap", fmt::format("cannot write {}", capture_file_),
                       "choose another file");
  const fabric::Fabric& fabric = *setup.fabric;
  const auto snap = arguments.integer("snap", 64, 65'535).value_or(65'535);
  capture_ = std::make_unique<report::Pcap>(
      fabric, chosen_links(arguments, fabric, sending_nics(fabric)),
      static_cast<std::uint32_t>(snap),
      setup.packet.congestion != "none" || setup.packet.mark_from || setup.packet.mark_by_rate,
      [this](std::string_view bytes) {
        capture_out_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
      });
  probes_.add(capture_.get());
}

Observation::~Observation() {
  if (!capture_out_.is_open()) return;  // a run that failed leaves nothing half-written
  capture_out_.close();
  std::error_code ignored;
  std::filesystem::remove(capture_file_ + ".part", ignored);
}

void Observation::finish(const result::Result& result) {
  progress_.reset();
  if (series_ != nullptr) {
    series_->finish(Instant::at(result.completion));
    write_file(series_file_, is_json(series_file_) ? series_->json_lines() : series_->csv());
    note(*streams_, "wrote " + series_file_);
  }
  if (capture_ == nullptr) return;
  capture_->finish();
  capture_out_.close();
  std::error_code error;
  if (capture_out_) std::filesystem::rename(capture_file_ + ".part", capture_file_, error);
  if (!capture_out_ || error)
    throw option_error("pcap", fmt::format("cannot write {}", capture_file_),
                       "is the disk full? --snap 128 keeps the headers only");
  note(*streams_, fmt::format("wrote {}: {} frames", capture_file_, capture_->frames()));
}

}  // namespace weft::app
