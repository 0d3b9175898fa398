// DCTCP: the window shrinks in proportion to the share of bytes marked, once a round trip, and
// grows by a packet a round trip otherwise. Source: M. Alizadeh et al., "Data Center TCP (DCTCP)",
// SIGCOMM 2010; RFC 8257 (g = 1/16). Starts with the whole window, as RDMA senders do, so slow
// start is left out. Model: docs/models/dctcp.md.
#include <algorithm>

#include "congestion/congestion.h"

namespace weft::congestion {

namespace {

constexpr double kGain = 1.0 / 16;

class Dctcp final : public Control {
 public:
  [[nodiscard]] std::string_view name() const override { return "dctcp"; }
  [[nodiscard]] std::string_view summary() const override {
    return "window control by the share of marked packets in a round trip";
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
    sender.alpha = (1 - kGain) * sender.alpha + kGain * share;
    if (sender.marked > 0) {
      sender.window_exact = std::max(1.0, sender.window_exact * (1 - sender.alpha / 2));
    } else {
      sender.window_exact = std::min<double>(sender.full_window, sender.window_exact + 1);
    }
    sender.window = static_cast<std::uint32_t>(sender.window_exact);
    sender.acknowledged = sender.marked = 0;
    sender.round_end = ack.next;
  }
};

}  // namespace

const Control& dctcp_control();
const Control& dctcp_control() {
  static const Dctcp kControl;
  return kControl;
}

}  // namespace weft::congestion
