// One run of the flow engine: the event loop and its state. See flow_engine.h.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/flow/finish_queue.h"
#include "engine/flow/max_min.h"
#include "engine/op_graph.h"
#include "engine/outcome.h"

namespace weft::engine {

class FlowRun {
 public:
  FlowRun(const Setup& setup, result::Probe* probe);
  result::Result run();

 private:
  enum class Step : std::uint8_t { link_change, start, begin_fluid, end };
  struct Event {
    Instant when;
    std::uint32_t op;  // or the place in Setup::link_changes
    Step step;
  };
  // A variable of the solver; its number is the variable's.
  struct Flow {
    std::uint32_t op = 0;
    std::uint32_t list = 0;  // before the first byte: the op's next flow; then its delays
    Instant cause_since;     // what holds it down has done so since then
  };
  struct OpState {
    std::uint32_t flows_left = 0;  // moving bytes
    std::uint32_t first_flow = 0;  // of those defined, before the first byte
    std::uint32_t cap = 0;         // constraint shared by its flows, when capped
  };
  static constexpr std::uint32_t kNone = 0xffffffffu;
  // Groups of the queue: flows held by their caps (their work is in seconds), then constraints.
  static constexpr std::uint32_t kCapGroup = 0;

  static bool later(const Event& a, const Event& b);
  void schedule(Instant when, work::OpId op, Step step);
  void process_instant();
  void process(const Event& event);
  void start(work::OpId op);
  void begin_fluid(work::OpId op);
  void define_flows(work::OpId op, const Expansion& expansion);
  void define_flow(work::OpId op, const Expansion& expansion, const Expansion::Flow& flow);
  void change_link(const LinkChange& change);
  void end(work::OpId op);
  void complete(std::uint32_t flow);
  void solve();
  void regroup();
  void report_rates();
  void note_delay(std::uint32_t flow);
  [[noreturn]] void refuse_stuck();
  void check_capacities() const;
  ConstraintId constraint_of(fabric::LinkId link);
  std::uint32_t take_cap(double capacity);
  [[nodiscard]] double rate_of(fabric::LinkId link) const;
  [[nodiscard]] double level_at_cap(VariableId variable) const;
  [[nodiscard]] DelayCause cause_of(std::uint32_t flow) const;

  const Setup* setup_;
  result::Probe* probe_;
  Expander expander_;
  Outcome outcome_;
  OpGraph graph_;
  MaxMin solver_;
  FinishQueue finishing_;
  std::vector<Event> events_;  // heap
  std::vector<OpState> ops_;
  std::vector<Flow> flows_;    // by variable
  std::vector<double> bytes_;  // by variable
  std::vector<std::uint32_t> constraint_of_link_;
  std::vector<double> link_factor_;                 // by link; empty: no link changes
  std::vector<fabric::LinkId> link_of_constraint_;  // invalid: a cap
  std::vector<std::uint32_t> free_caps_;
  std::vector<MaxMin::Use> uses_;
  std::vector<double> left_;  // work of the variables that moved
  Instant now_;
  std::size_t pending_ = 0;  // events but those of links
  std::size_t ended_ = 0;
  std::size_t reported_percent_ = 0;
  bool dirty_ = false;
  std::uint64_t event_count_ = 0, solve_count_ = 0;
};

}  // namespace weft::engine
