// No congestion control: line rate, and the whole window.
#include "congestion/congestion.h"

namespace weft::congestion {

namespace {

class None final : public Control {
 public:
  [[nodiscard]] std::string_view name() const override { return "none"; }
  [[nodiscard]] std::string_view summary() const override {
    return "senders keep their window and heed no marks";
  }
  [[nodiscard]] std::unique_ptr<Control> with(std::span<const double>) const override {
    return std::make_unique<None>();
  }
  void start(Sender& sender) const override { sender.window = sender.full_window; }
};

}  // namespace

const Control& none_control();
const Control& none_control() {
  static const None kControl;
  return kControl;
}

}  // namespace weft::congestion
