#include "congestion/dcqcn.h"

#include <algorithm>

namespace weft::congestion {

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

// Fast recovery, then additive, then hyper increase of the target; the rate goes half-way to it.
void Dcqcn::increase(Sender& sender) const {
  const std::uint32_t most = std::max(sender.time_stage, sender.byte_stage);
  const std::uint32_t least =
      p_.increase_bytes > 0 ? std::min(sender.time_stage, sender.byte_stage) : sender.time_stage;
  if (most > p_.fast_steps) {
    const double step = least > p_.fast_steps ? p_.hyper * (least - p_.fast_steps) : p_.additive;
    sender.target = std::min(sender.line_rate, sender.target + step * sender.line_rate);
  }
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
