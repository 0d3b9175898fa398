#include "engine/flow/flow_engine.h"

#include "engine/flow/flow_run.h"

namespace weft::engine {

namespace {

class FlowEngine final : public Engine {
 public:
  [[nodiscard]] std::string_view name() const override { return "flow"; }
  [[nodiscard]] bool changes_links() const override { return true; }
  [[nodiscard]] result::Result run(const Setup& setup, result::Probe* probe) const override {
    return FlowRun(setup, probe).run();
  }
};

}  // namespace

const Engine& flow_engine() {
  static const FlowEngine engine;
  return engine;
}

}  // namespace weft::engine
