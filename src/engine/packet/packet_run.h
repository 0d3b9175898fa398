// One run of the packet engine: takes ops in the order of their dependencies, turns transfers into
// flows of packets, and makes the Result of what the simulator counted. Leaves out: the critical
// path; the bottleneck named is the link that was busy longest of those the last op used.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "engine/engine.h"
#include "engine/op_graph.h"
#include "engine/packet/collective_run.h"
#include "engine/packet/connector.h"
#include "engine/packet/simulator.h"

namespace weft::engine::packet {

class PacketRun final : public Client {
 public:
  PacketRun(const Setup& setup, result::Probe* probe);
  result::Result run();
  [[nodiscard]] const Counters& counters() const { return simulator_.counters(); }

  void flow_progress(std::uint32_t tag, std::uint32_t packets, bool done) override;
  void flow_sent(std::uint32_t tag) override;
  void timer(std::uint32_t tag) override;

 private:
  struct OpState {
    std::uint32_t flows_left = 0;
    bool started = false, over = false;
    Time start = 0, end = 0;
    fabric::DeviceId from, to;
    std::uint32_t connection = kNone;  // the last one used
    std::int64_t pairs = 1;            // queue pairs that share its bytes
    result::OpSpan ran;
  };

  [[noreturn]] void report_standstill() const;
  void schedule(work::OpId op, Time when);
  void start(work::OpId op);
  void start_transfer(work::OpId op, const work::Transfer& transfer);
  void start_collective(work::OpId op, const work::CollectiveOp& collective);
  void end_collective(std::uint32_t first_tag);
  void end(work::OpId op);
  void report_progress();
  [[nodiscard]] fabric::DeviceId gpu_of(work::RankId rank) const;
  [[noreturn]] void refuse(work::OpId op, const std::string& why) const;

  [[nodiscard]] result::Result finish();
  [[nodiscard]] result::PacketCounters count_packets() const;
  void fill_links(result::Result& result);
  void fill_flows(result::Result& result) const;
  void name_bottleneck(result::Result& result);

  const Setup* setup_;
  result::Probe* probe_;
  OpGraph graph_;
  Simulator simulator_;
  Connector connector_;
  Expander expander_;
  std::vector<OpState> ops_;
  struct Active {
    work::OpId op;
    std::unique_ptr<CollectiveRun> run;
  };
  // By their first tag; the number of the collective's message is what its tags are above it.
  std::map<std::uint32_t, Active> collectives_;
  std::uint32_t next_tag_ = 0;
  static constexpr double kProgressParts = 1000;
  std::size_t ended_ = 0, reported_parts_ = 0;
};

}  // namespace weft::engine::packet
