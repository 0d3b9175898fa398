// What a run can be watched with: --probe, and progress on a terminal. One object holds the
// observers of a run, and writes their files when it is over.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/command.h"
#include "base/progress.h"
#include "report/packet_series.h"
#include "result/probes.h"

namespace weft::app {

// --probe, --probe-interval, --links.
std::vector<OptionSpec> observe_options();

class Observation {
 public:
  // `engine` is the name of the engine that will run; packets are seen by the packet engine only.
  Observation(const Arguments& arguments, const fabric::Fabric& fabric, std::string_view engine,
              const Streams& streams);
  ~Observation();
  Observation(const Observation&) = delete;
  Observation& operator=(const Observation&) = delete;

  // To be handed to the engine; null when nothing is to be observed.
  result::Probe* probe() { return probes_.empty() ? nullptr : &probes_; }
  // Writes the files asked for, and says so.
  void finish(const result::Result& result);

 private:
  class Progress;

  const Streams* streams_;
  std::string series_file_;
  std::unique_ptr<report::PacketSeries> series_;
  std::unique_ptr<Progress> progress_;
  result::Probes probes_;
};

}  // namespace weft::app
