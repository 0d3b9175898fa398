#include "engine/packet/packet_engine.h"

#include "engine/packet/packet_run.h"

namespace weft::engine {

namespace {

class PacketEngine final : public Engine {
 public:
  [[nodiscard]] std::string_view name() const override { return "packet"; }
  [[nodiscard]] result::Result run(const Setup& setup, result::Probe* probe) const override {
    refuse_link_changes(setup, name());
    return packet::PacketRun(setup, probe).run();
  }
};

}  // namespace

const Engine& packet_engine() {
  static const PacketEngine engine;
  return engine;
}

}  // namespace weft::engine
