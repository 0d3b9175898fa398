// DCTCP: the window shrinks in proportion to the share of bytes marked, once a round trip, and
// grows by a packet a round trip otherwise. Source: M. Alizadeh et al., "Data Center TCP (DCTCP)",
// SIGCOMM 2010; RFC 8257 (g = 1/16). Starts with the whole window, as RDMA senders do, so slow
// start is left out. Model: docs/models/dctcp.md.
#include <algorithm>
#include <array>

#include "congestion/congestion.h"

namespace weft::congestion {

namespace {

constexpr std::array kParameters = {
    Parameter{"g", "", 1.0 / 16, 0, 1, "weight of the newest round trip in alpha"},
};

class Dctcp final : public Control {
 public:
  explicit Dctcp(double gain) : gain_(gain) {}
  [[nodiscard]] std::string_view name() const override { return "dctcp"; }
  [[nodiscard]] std::string_view summary() const override {
    return "window control by the share of marked packets in a round trip";
  }
  [[nodiscard]] std::span<const Parameter> parameters() const override { return kParameters; }
  [[nodiscard]] std::unique_ptr<Control> with(std::span<const double> values) const override {
    return std::make_unique<Dctcp>(values[0]);
  }
  void start(Sender& sender) const override {
    sender.window = sender.full_window;
    sender.window_exact = sender.full_window;
    sender.alpha = 1;
  }
  void acknowledge(Sender& sender, const Ack& ack) const override {
    sender.acknowledged += ack.packets;
    sender.marked += ack.marked;
    if (ack.sequence < sender.round_end) return;
    const double share =
        sender.acknowledged > 0 ? static_cast<double>(sender.marked) / sender.acknowledged : 0;
    sender.alpha = (1 - gain_) * sender.alpha + gain_ * share;
    if (sender.marked > 0) {
      sender.window_exact = std::max(1.0, sender.window_exact * (1 - sender.alpha / 2));
    } else {
      sender.window_exact = std::min<double>(sender.full_window, sender.window_exact + 1);
    }
    sender.window = static_cast<std::uint32_t>(sender.window_exact);
    sender.acknowledged = sender.marked = 0;
    sender.round_end = ack.next;
  }

 private:
  double gain_;
};

}  // namespace

const Control& dctcp_control();
const Control& dctcp_control() {
  static const Dctcp kControl(kParameters[0].value);
  return kControl;
}

}  // namespace weft::congestion
