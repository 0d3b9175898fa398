// InfiniBand's congestion control, the channel adapter's side: each notification (BECN) moves a
// flow's index into the congestion control table up, a timer moves it down, and the table says how
// long to wait between packets. Source: InfiniBand Architecture Specification, volume 1, annex A10;
// values of E. Gran et al., "First Experiences with Congestion Control in InfiniBand Hardware",
// IPDPS 2010, whose timer of 150 at 20 Gb/s is 8 in proportion at 400 Gb/s;
// table as in LLNL's scan of OpenSM settings for ConnectX adapters ("mlx default"). Leaves out: one
// index for all flows of a service level. Model: docs/models/ib_cc.md.
#include <algorithm>
#include <array>

#include "congestion/congestion.h"

namespace weft::congestion {

namespace {

constexpr std::array kParameters = {
    Parameter{"increase", "", 1, 0, 127, "CCTI_Increase: entries a BECN moves up"},
    Parameter{"timer", "1.024 us", 8, 1, 65535, "CCTI_Timer: an entry down each"},
    Parameter{"limit", "", 127, 0, 127, "CCTI_Limit: last entry in use"},
    Parameter{"least", "", 0, 0, 127, "CCTI_Min: the timer stops there"},
};
constexpr std::int64_t kTimerUnit = 1'024'000;  // ps

// A packet of time t waits t times the multiplier after it.
double multiplier(std::uint32_t entry) {
  const double i = entry;
  return i * i * 7 / (95.0 * 95.0) / 0.218;
}

class IbCc final : public Control {
 public:
  explicit IbCc(std::span<const double> values)
      : increase_(static_cast<std::uint32_t>(values[0])),
        period_(static_cast<std::int64_t>(values[1]) * kTimerUnit),
        limit_(static_cast<std::uint32_t>(values[2])),
        least_(std::min(limit_, static_cast<std::uint32_t>(values[3]))) {}
  [[nodiscard]] std::string_view name() const override { return "ib_cc"; }
  [[nodiscard]] std::string_view summary() const override {
    return "InfiniBand's: BECNs move a flow up a table of packet delays, a timer down";
  }
  [[nodiscard]] std::span<const Parameter> parameters() const override { return kParameters; }
  [[nodiscard]] std::unique_ptr<Control> with(std::span<const double> values) const override {
    return std::make_unique<IbCc>(values);
  }
  // byte_stage is the index CCTI.
  void start(Sender& sender) const override {
    sender.window = sender.full_window;
    sender.byte_stage = least_;
    sender.increase_due = 0;
    apply(sender);
  }
  // A reliable connection's acknowledgement carries the BECN.
  void acknowledge(Sender& sender, const Ack& ack) const override {
    if (ack.marked > 0) notify(sender, ack.now);
  }
  void notify(Sender& sender, std::int64_t now) const override {
    advance(sender, now);
    if (sender.byte_stage == least_) sender.increase_due = now + period_;
    sender.byte_stage = std::min(sender.byte_stage + increase_, limit_);
    apply(sender);
  }
  void before_send(Sender& sender, std::int64_t now, std::uint32_t) const override {
    if (sender.byte_stage == least_) return;
    advance(sender, now);
    apply(sender);
  }

 private:
  void advance(Sender& sender, std::int64_t now) const {
    if (sender.byte_stage <= least_ || now < sender.increase_due) return;
    const auto steps = static_cast<std::uint64_t>((now - sender.increase_due) / period_ + 1);
    sender.byte_stage -=
        static_cast<std::uint32_t>(std::min<std::uint64_t>(steps, sender.byte_stage - least_));
    sender.increase_due += static_cast<std::int64_t>(steps) * period_;
  }
  void apply(Sender& sender) const {
    sender.rate = sender.line_rate / (1 + multiplier(sender.byte_stage));
  }

  std::uint32_t increase_;
  std::int64_t period_;
  std::uint32_t limit_, least_;
};

}  // namespace

const Control& ib_cc_control();
const Control& ib_cc_control() {
  static const IbCc kControl(std::array{kParameters[0].value, kParameters[1].value,
                                        kParameters[2].value, kParameters[3].value});
  return kControl;
}

}  // namespace weft::congestion
