// What a run can be watched with: --probe, and progress on a terminal. One object holds the
// observers of a run, and writes their files when it is over.
#pragma once

#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "app/command.h"
#include "base/progress.h"
#include "engine/engine.h"
#include "report/packet_series.h"
#include "report/pcap.h"
#include "result/probes.h"

namespace weft::app {

// --probe, --probe-interval, --pcap, --snap, --links.
std::vector<OptionSpec> observe_options();

class Observation {
 public:
  // For a run of `engine` with that setup; `stack` is the name of its protocols.
  Observation(const Arguments& arguments, const engine::Setup& setup, const engine::Engine& engine,
              const std::string& stack, const Streams& streams);
  ~Observation();
  Observation(const Observation&) = delete;
  Observation& operator=(const Observation&) = delete;

  // To be handed to the engine; null when nothing is to be observed.
  result::Probe* probe() { return probes_.empty() ? nullptr : &probes_; }
  // Writes the files asked for, and says so.
  void finish(const result::Result& result);

 private:
  class Progress;

  void open_capture(const Arguments& arguments, const engine::Setup& setup,
                    const std::string& stack);

  const Streams* streams_;
  std::string series_file_;
  std::unique_ptr<report::PacketSeries> series_;
  std::string capture_file_;
  std::ofstream capture_out_;  // to a file beside it, renamed when it is whole
  std::unique_ptr<report::Pcap> capture_;
  std::unique_ptr<Progress> progress_;
  result::Probes probes_;
};

}  // namespace weft::app
