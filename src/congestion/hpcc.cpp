// HPCC: the window follows the bytes in flight that the telemetry of the most loaded port on the
// path shows. Source: Y. Li et al., "HPCC: High Precision Congestion Control", SIGCOMM 2019,
// algorithm 1. Leaves out: the wrap-around and the units of the header's fields, and several ways
// for one flow (a port that was not on the way before says nothing yet). Model:
// docs/models/hpcc.md.
#include <algorithm>
#include <array>

#include "congestion/congestion.h"

namespace weft::congestion {

namespace {

// rtt and additive 0: what the path has, and what leaves room for 100 flows in the headroom.
constexpr std::array kParameters = {
    Parameter{"eta", "", 0.95, 0.01, 1, "target utilisation"},
    Parameter{"stages", "", 5, 0, 1000, "round trips of additive increase (maxStage)"},
    Parameter{"additive", "B", 0, 0, 1e9, "W_AI a round trip; 0: window (1 - eta) / 100"},
    Parameter{"rtt", "us", 0, 0, 1e6, "T of all flows; 0: the path's own"},
};

constexpr double kLeastRate = 100e6;  // bit/s, as in the authors' simulator

class Hpcc final : public Control {
 public:
  explicit Hpcc(std::span<const double> values)
      : eta_(values[0]),
        stages_(static_cast<std::uint32_t>(values[1])),
        additive_(values[2]),
        rtt_(values[3] * 1e6) {}
  [[nodiscard]] std::string_view name() const override { return "hpcc"; }
  [[nodiscard]] std::string_view summary() const override {
    return "window from in-band telemetry: keeps each port just below its line rate";
  }
  [[nodiscard]] std::span<const Parameter> parameters() const override { return kParameters; }
  [[nodiscard]] std::unique_ptr<Control> with(std::span<const double> values) const override {
    return std::make_unique<Hpcc>(values);
  }
  [[nodiscard]] bool wants_telemetry() const override { return true; }

  // target is the reference window W_c in bytes, alpha the utilisation U, time_stage incStage.
  void start(Sender& sender) const override {
    sender.window_exact = sender.target = full(sender);
    sender.alpha = 1;
    sender.time_stage = 0;
    sender.round_end = 0;
    sender.active = false;
    apply(sender);
  }

  void acknowledge(Sender& sender, const Ack& ack) const override {
    if (!measure(sender, ack)) return;
    const bool round_over = ack.sequence > sender.round_end;
    const bool lower = sender.alpha >= eta_ || sender.time_stage >= stages_;
    const double step = additive_ > 0 ? additive_ : full(sender) * (1 - eta_) / 100;
    sender.window_exact =
        lower ? sender.target / (sender.alpha / eta_) + step : sender.target + step;
    sender.window_exact =
        std::clamp(sender.window_exact, kLeastRate * rtt(sender) * 1e-12 / 8, full(sender));
    apply(sender);
    if (!round_over) return;
    sender.time_stage = lower ? 0 : sender.time_stage + 1;
    sender.target = sender.window_exact;
    sender.round_end = ack.next;
  }

 private:
  [[nodiscard]] double rtt(const Sender& sender) const {
    return rtt_ > 0 ? rtt_ : static_cast<double>(sender.base_rtt);
  }
  // Bytes that fill the path of the NIC's line rate.
  [[nodiscard]] double full(const Sender& sender) const {
    return sender.line_rate * rtt(sender) * 1e-12 / 8;
  }

  void apply(Sender& sender) const {
    const double packets = sender.window_exact / std::max(1u, sender.packet_bytes);
    sender.window = std::max(1u, static_cast<std::uint32_t>(packets + 0.999));
    sender.rate = sender.window_exact * 8e12 / rtt(sender);
  }

  // U of the most loaded port, averaged over one T. False when there is nothing to compare with.
  [[nodiscard]] bool measure(Sender& sender, const Ack& ack) const {
    double most = -1, over = 0;
    const std::size_t hops = std::min(ack.hops.size(), ack.hops_before.size());
    for (std::size_t i = 0; i < hops; ++i) {
      const Hop& now = ack.hops[i];
      const Hop& before = ack.hops_before[i];
      if (now.port != before.port || now.when <= before.when) continue;
      const auto time = static_cast<double>(now.when - before.when);
      const double rate = static_cast<double>(now.sent - before.sent) * 8e12 / time;
      const auto queue = static_cast<double>(std::min(now.queue, before.queue));
      const double u = queue * 8e12 / (now.line_rate * rtt(sender)) + rate / now.line_rate;
      if (u > most) most = u, over = time;
    }
    if (most < 0) return false;
    const double weight = std::min(over, rtt(sender)) / rtt(sender);
    sender.alpha = (1 - weight) * sender.alpha + weight * most;
    return true;
  }

  double eta_;
  std::uint32_t stages_;
  double additive_, rtt_;
};

}  // namespace

const Control& hpcc_control();
const Control& hpcc_control() {
  static const Hpcc kControl(std::array{kParameters[0].value, kParameters[1].value,
                                        kParameters[2].value, kParameters[3].value});
  return kControl;
}

}  // namespace weft::congestion
