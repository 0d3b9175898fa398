#include "congestion/dcqcn.h"

#include <algorithm>
#include <array>

namespace weft::congestion {

namespace {

constexpr DcqcnParameters kNic;

// Times in microseconds, bytes in bytes, rates as the struct has them.
constexpr std::array kParameters = {
    Parameter{"g", "", kNic.g, 0, 1, "weight of a new sample in alpha"},
    Parameter{"alpha_period", "us", 1, 0.001, 1e6, "alpha decays without a CNP"},
    Parameter{"notification_gap", "us", 4, 0, 1e6, "least time between CNPs of a flow"},
    Parameter{"cut_period", "us", 4, 0, 1e6, "least time between two cuts"},
    Parameter{"increase_period", "us", 300, 0.1, 1e7, "timer T"},
    Parameter{"increase_bytes", "B", 0, 0, 1e12, "byte counter B; 0: not used"},
    Parameter{"fast_steps", "", 1, 0, 1000, "F: stages of fast recovery"},
    Parameter{"additive", "of the line rate", kNic.additive, 0, 1, "R_AI"},
    Parameter{"hyper", "of the line rate", kNic.hyper, 0, 1, "R_HAI"},
    Parameter{"least_rate", "bit/s", kNic.least_rate, 1, 1e13, "a cut goes no lower"},
    Parameter{"most_cut", "", kNic.most_cut, 0, 1, "a cut leaves at least this much"},
    Parameter{"clamp_target", "0 or 1", 0, 0, 1, "a cut always lowers the target too"},
};

Duration microseconds(double value) {
  return Duration::picoseconds(static_cast<std::int64_t>(value * 1e6));
}

}  // namespace

std::span<const Parameter> Dcqcn::parameters() const {
  return kParameters;
}

std::unique_ptr<Control> Dcqcn::with(std::span<const double> values) const {
  DcqcnParameters p;
  p.g = values[0];
  p.alpha_period = microseconds(values[1]);
  p.notification_gap = microseconds(values[2]);
  p.cut_period = microseconds(values[3]);
  p.increase_period = microseconds(values[4]);
  p.increase_bytes = static_cast<std::int64_t>(values[5]);
  p.fast_steps = static_cast<std::uint32_t>(values[6]);
  p.additive = values[7];
  p.hyper = values[8];
  p.least_rate = values[9];
  p.most_cut = values[10];
  p.clamp_target = values[11] != 0;
  return std::make_unique<Dcqcn>(p);
}

void Dcqcn::start(Sender& sender) const {
  sender.window = sender.full_window;
  sender.rate = sender.target = sender.line_rate;
  sender.alpha = 1;
  sender.active = false;
}

// Timers that ran out by `now`, in the order in which they did. Alpha comes before a cut and before
// an increase at the same instant.
void Dcqcn::advance(Sender& sender, std::int64_t now) const {
  while (sender.active) {
    const std::int64_t next = std::min(sender.alpha_due, sender.increase_due);
    if (next > now) return;
    if (sender.alpha_due == next) {
      look_at_alpha(sender);
      sender.alpha_due += p_.alpha_period.ps();
    } else {
      ++sender.time_stage;
      sender.increase_due += p_.increase_period.ps();
      increase(sender);
    }
  }
}

void Dcqcn::look_at_alpha(Sender& sender) const {
  sender.alpha = (1 - p_.g) * sender.alpha + (sender.notified ? p_.g : 0);
  sender.notified = false;
}

void Dcqcn::notify(Sender& sender, std::int64_t now) const {
  if (!sender.active) {  // nothing runs before the first notification
    sender.active = true;
    sender.alpha = 1;
    sender.alpha_due = now + p_.alpha_period.ps();
    sender.notified = true;
    cut(sender, now);
    return;
  }
  advance(sender, now);
  if (!sender.active) {
    notify(sender, now);
    return;
  }
  sender.notified = true;
  if (now >= sender.cut_due) cut(sender, now);
}

void Dcqcn::cut(Sender& sender, std::int64_t now) const {
  const bool raised = sender.time_stage > 0 || sender.byte_stage > 0;
  if (p_.clamp_target || raised || sender.cut_due == 0) sender.target = sender.rate;
  sender.rate =
      std::max({p_.least_rate, sender.rate * (1 - sender.alpha / 2), sender.rate * p_.most_cut});
  sender.time_stage = sender.byte_stage = 0;
  sender.bytes = 0;
  sender.cut_due = now + p_.cut_period.ps();
  sender.increase_due = now + p_.increase_period.ps();
}

// What the target rises by. The paper's form has two counters, counts the step that is being taken,
// and leaves fast recovery at F; the NIC's form, timer alone, takes F steps of fast recovery, one
// additive, and hyper steps of one size from there on.
double Dcqcn::step(const Sender& sender) const {
  if (p_.increase_bytes == 0) {
    const std::uint32_t before = sender.time_stage - 1;
    if (before < p_.fast_steps) return 0;
    return before == p_.fast_steps ? p_.additive : p_.hyper;
  }
  if (std::max(sender.time_stage, sender.byte_stage) < p_.fast_steps) return 0;
  const std::uint32_t least = std::min(sender.time_stage, sender.byte_stage);
  return least <= p_.fast_steps ? p_.additive : p_.hyper * (least - p_.fast_steps);
}

// Fast recovery, then additive, then hyper increase of the target; the rate goes half-way to it.
void Dcqcn::increase(Sender& sender) const {
  sender.target = std::min(sender.line_rate, sender.target + step(sender) * sender.line_rate);
  sender.rate = (sender.target + sender.rate) / 2;
  // Within a ten-thousandth of the line there is nothing left to recover: the timers stop.
  if (sender.rate >= sender.line_rate * 0.9999) {
    sender.rate = sender.target = sender.line_rate;
    sender.active = false;
    sender.cut_due = 0;
  }
}

void Dcqcn::before_send(Sender& sender, std::int64_t now, std::uint32_t bytes) const {
  if (!sender.active) return;
  advance(sender, now);
  if (p_.increase_bytes == 0 || !sender.active) return;
  sender.bytes += bytes;
  while (sender.active && sender.bytes >= p_.increase_bytes) {
    sender.bytes -= p_.increase_bytes;
    ++sender.byte_stage;
    increase(sender);
  }
}

const Control& dcqcn_control();
const Control& dcqcn_control() {
  static const Dcqcn kControl{DcqcnParameters{}};
  return kControl;
}

}  // namespace weft::congestion
