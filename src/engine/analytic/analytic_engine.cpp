#include "engine/analytic/analytic_engine.h"

#include <algorithm>
#include <vector>

#include "base/check.h"
#include "engine/op_graph.h"
#include "engine/outcome.h"

namespace weft::engine {

namespace {

class AnalyticRun {
 public:
  AnalyticRun(const Setup& setup, result::Probe* probe)
      : setup_(&setup), probe_(probe), expander_(setup), outcome_(setup, expander_) {}

  result::Result run() {
    const OpGraph graph(setup_->work);
    std::vector<std::uint32_t> waits_for(setup_->work.ops.size());
    std::vector<work::OpId> ready;
    for (std::size_t i = 0; i < waits_for.size(); ++i) {
      waits_for[i] = graph.dependency_count(work::OpId(i));
      if (waits_for[i] == 0) ready.emplace_back(i);
    }
    // Topological order: `ready` grows while we walk it.
    for (std::size_t i = 0; i < ready.size(); ++i) {
      const work::OpId op = ready[i];
      run_op(op);
      for (work::OpId waiting : graph.waiting_for(op))
        if (--waits_for[waiting.index()] == 0) ready.push_back(waiting);
    }
    CHECK(ready.size() == waits_for.size());
    result::Result result = outcome_.finish("analytic");
    result.engine.events = ready.size();
    return result;
  }

 private:
  void run_op(work::OpId op) {
    const work::Op& what = setup_->work.ops[op.index()];
    Outcome::Times& times = outcome_.times(op);
    times.start = std::max(Instant(), what.earliest);
    for (work::OpId before : what.after)
      times.start = std::max(times.start, outcome_.times(before).end);
    if (const auto* compute = std::get_if<work::Compute>(&what.what)) {
      times.fluid = times.end = times.start + compute->time;
    } else {
      const Expansion& expansion = expander_.expand(op);
      times.fluid = times.start + expansion.latency;
      times.end = times.fluid + move_bytes(op, expansion);
    }
    if (probe_ == nullptr) return;
    probe_->op_started(op, times.start);
    probe_->op_ended(op, times.end);
  }

  Duration move_bytes(work::OpId op, const Expansion& expansion) {
    outcome_.carry(op, expansion);
    const Expansion::Load load = expansion.heaviest_load(*setup_->fabric);
    const Duration time = Duration::from_seconds(load.seconds);
    DelayCause cause{DelayCause::Kind::cap, {}};
    if (load.link.valid()) cause = {DelayCause::Kind::link, load.link};
    outcome_.set_delays(op, outcome_.add_delay(Outcome::kEmptyList, cause, time));
    return time;
  }

  const Setup* setup_;
  result::Probe* probe_;
  Expander expander_;
  Outcome outcome_;
};

class AnalyticEngine final : public Engine {
 public:
  [[nodiscard]] std::string_view name() const override { return "analytic"; }
  [[nodiscard]] result::Result run(const Setup& setup, result::Probe* probe) const override {
    refuse_link_changes(setup, name());
    return AnalyticRun(setup, probe).run();
  }
};

}  // namespace

const Engine& analytic_engine() {
  static const AnalyticEngine engine;
  return engine;
}

}  // namespace weft::engine
