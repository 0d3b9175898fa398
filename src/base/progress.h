// A progress line for a terminal, with the time that is left. It neither prints nor reads a clock:
// app/ hands in both, and only when standard error is a terminal. Time left assumes that work goes
// on at its average speed so far.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/units.h"

namespace weft {

struct ProgressOutput {
  std::function<void(std::string_view)> write;  // called with text to put on the terminal as is
  std::function<Duration()> elapsed;            // since anything; must not go back
};

class ProgressLine {
 public:
  // `total` counts whatever `done` counts; 0 means that the end is not known.
  ProgressLine(std::string label, std::uint64_t total, ProgressOutput output);
  ~ProgressLine() { finish(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // Redraws at most ten times a second. `note` stands at the end of the line.
  void update(std::uint64_t done, std::string_view note = {});
  // Wipes the line, so that what is printed next starts on a clean one. Happens once.
  void finish();

 private:
  std::string label_;
  std::uint64_t total_;
  ProgressOutput output_;
  Duration started_;
  std::optional<Duration> drawn_;
  bool finished_ = false;
};

// "allreduce  42 %  [########------------]  12 s left  note"; what update() draws.
std::string progress_text(std::string_view label, std::uint64_t done, std::uint64_t total,
                          Duration elapsed, std::string_view note = {});

}  // namespace weft
