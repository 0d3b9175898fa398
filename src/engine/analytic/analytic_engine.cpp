#include "engine/analytic/analytic_engine.h"

#include <algorithm>
#include <set>
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
    OpGraph graph(setup_->work);
    for (const work::OpId op : graph.first()) run_op(op, Instant());
    std::size_t ended = 0;
    std::vector<work::OpId> ready;
    for (; !running_.empty(); ++ended) {
      const auto [end, op] = *running_.begin();
      running_.erase(running_.begin());
      ready.clear();
      graph.ended(op, ready);
      for (const work::OpId next : ready) run_op(next, end);
    }
    CHECK(ended == setup_->work.ops.size());
    result::Result result = outcome_.finish("analytic");
    result.engine.events = ended;
    return result;
  }

 private:
  // Nothing slows it down, so its end is known when it starts.
  void run_op(work::OpId op, Instant now) {
    const work::Op& what = setup_->work.ops[op.index()];
    Outcome::Times& times = outcome_.times(op);
    times.start = std::max(now, what.earliest);
    if (const auto* compute = std::get_if<work::Compute>(&what.what)) {
      times.fluid = times.end = times.start + compute->time;
    } else {
      const Expansion& expansion = expander_.expand(op);
      times.fluid = times.start + expansion.latency;
      times.end = times.fluid + move_bytes(op, expansion);
    }
    running_.emplace(times.end, op);
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
  std::set<std::pair<Instant, work::OpId>> running_;  // by their ends
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
