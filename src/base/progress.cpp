#include "base/progress.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"

namespace weft {

namespace {
constexpr Duration kBetweenDraws = Duration::milliseconds(100);
constexpr Duration kBeforeEstimate = Duration::milliseconds(500);  // earlier it only jumps about
constexpr std::string_view kWipe = "\r\x1b[K";  // start of line, clear to its end
}  // namespace

std::string progress_text(std::string_view label, std::uint64_t done, std::uint64_t total,
                          Duration elapsed, std::string_view note) {
  constexpr int kBarColumns = 20;
  std::string out(label);
  if (total == 0) {
    out += fmt::format("  {} done  {}", done, to_text(elapsed));
  } else {
    const double part = static_cast<double>(std::min(done, total)) / static_cast<double>(total);
    const int filled = static_cast<int>(part * kBarColumns);
    out += fmt::format("  {:>3} %  [{:#<{}}{:-<{}}]", static_cast<int>(part * 100), "", filled, "",
                       kBarColumns - filled);
    if (part > 0 && part < 1 && elapsed >= kBeforeEstimate) {
      // Whole seconds: finer would suggest an accuracy that the estimate does not have.
      const double seconds = elapsed.to_seconds() * (1 - part) / part;
      const auto left = Duration::from_seconds(std::max(1.0, std::min(seconds, 8e6)));
      const auto whole = Duration::seconds((left.ps() + Duration::seconds(1).ps() / 2) /
                                           Duration::seconds(1).ps());
      out += fmt::format("  {} left", to_text(whole));
    }
  }
  if (!note.empty()) out += fmt::format("  {}", note);
  return out;
}

ProgressLine::ProgressLine(std::string label, std::uint64_t total, ProgressOutput output)
    : label_(std::move(label)), total_(total), output_(std::move(output)) {
  CHECK(output_.write && output_.elapsed);
  started_ = output_.elapsed();
}

void ProgressLine::update(std::uint64_t done, std::string_view note) {
  if (finished_) return;
  const Duration now = output_.elapsed();
  if (drawn_ && now - *drawn_ < kBetweenDraws) return;
  drawn_ = now;
  output_.write(std::string(kWipe) + progress_text(label_, done, total_, now - started_, note));
}

void ProgressLine::finish() {
  if (finished_) return;
  finished_ = true;
  if (drawn_) output_.write(kWipe);
}

}  // namespace weft
