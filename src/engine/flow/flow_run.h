// One run of the flow engine: the event loop and its state. See flow_engine.h.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/flow/completion_queue.h"
#include "engine/flow/max_min.h"
#include "engine/op_graph.h"
#include "engine/outcome.h"

namespace weft::engine {

class FlowRun {
 public:
  FlowRun(const Setup& setup, result::Probe* probe);
  result::Result run();

 private:
  enum class Step : std::uint8_t { start, begin_fluid, end };
  struct Event {
    Instant when;
    std::uint32_t op;
    Step step;
  };
  // A variable of the solver; its number is the variable's.
  struct Flow {
    work::OpId op;
    std::uint32_t delays = Outcome::kEmptyList;
    double remaining = 0;  // bytes at `since`
    double rate = 0;       // bytes/s from `since` on
    Instant since;
    Instant cause_since;
    DelayCause cause;  // what holds the rate down from `cause_since` on
  };
  struct OpState {
    std::uint32_t waits_for = 0;   // dependencies not yet ended
    std::uint32_t flows_left = 0;  // moving bytes
    std::uint32_t cap = 0;         // constraint shared by its flows, when capped
  };
  static constexpr std::uint32_t kNoCap = 0xffffffffu;

  static bool later(const Event& a, const Event& b);
  void schedule(Instant when, work::OpId op, Step step);
  void process_instant();
  void process(const Event& event);
  void start(work::OpId op);
  void begin_fluid(work::OpId op);
  void add_flow(work::OpId op, const Expansion& expansion, const Expansion::Flow& flow);
  void end(work::OpId op);
  void complete(std::uint32_t flow);
  void solve();
  void update(VariableId variable);
  void note_delay(Flow& flow);
  void check_capacities() const;
  ConstraintId constraint_of(fabric::LinkId link);
  std::uint32_t take_cap(double capacity);
  [[nodiscard]] DelayCause cause_of(VariableId variable) const;

  const Setup* setup_;
  result::Probe* probe_;
  Expander expander_;
  Outcome outcome_;
  OpGraph graph_;
  MaxMin solver_;
  CompletionQueue completions_;
  std::vector<Event> events_;  // heap
  std::vector<OpState> ops_;
  std::vector<Flow> flows_;  // by variable
  std::vector<std::uint32_t> constraint_of_link_;
  std::vector<fabric::LinkId> link_of_constraint_;  // invalid: a cap
  std::vector<std::uint32_t> free_caps_;
  std::vector<MaxMin::Use> uses_;
  Instant now_;
  std::size_t ended_ = 0;
  std::size_t reported_percent_ = 0;
  bool dirty_ = false;
  std::uint64_t event_count_ = 0, solve_count_ = 0;
};

}  // namespace weft::engine
