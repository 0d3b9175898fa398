// What an engine notes while it runs, and the Result made of it at the end: op spans, bytes per
// link, flow records, and the bottleneck. The bottleneck is found on the critical path: from the
// op that ends last back through the dependency (or start time) each op waited for, all time is
// put down to a link, a cap, latency, computation or waiting; the largest wins. Same for all
// engines. Leaves out: near-critical paths.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "engine/engine.h"
#include "engine/expand.h"

namespace weft::engine {

// What an op waited for: a link, or one of the rest.
struct DelayCause {
  enum class Kind : std::uint8_t { link, cap, latency, compute, start_time };
  Kind kind = Kind::link;
  fabric::LinkId link;
  friend auto operator<=>(const DelayCause&, const DelayCause&) = default;
};

class Outcome {
 public:
  static constexpr std::uint32_t kEmptyList = 0xffffffffu;

  Outcome(const Setup& setup, Expander& expander);

  struct Times {
    Instant start, fluid, end;  // fluid: latency is over, bytes begin to move
  };
  [[nodiscard]] Times& times(work::OpId op) { return times_[op.index()]; }
  [[nodiscard]] const Times& times(work::OpId op) const { return times_[op.index()]; }

  // Notes that `op` carries what its expansion says.
  void carry(work::OpId op, const Expansion& expansion);

  // Lists of delays during the fluid phase; equal causes are added up. Returns the list's new head.
  std::uint32_t add_delay(std::uint32_t list, DelayCause cause, Duration time);
  // The list is of no interest any more: its entries are used again.
  void drop_delays(std::uint32_t list);
  void set_delays(work::OpId op, std::uint32_t list) { delays_of_[op.index()] = list; }

  // Call it once: the result takes over what was noted.
  [[nodiscard]] result::Result finish(std::string_view engine);

 private:
  struct Delay {
    DelayCause cause;
    std::uint32_t next;
    Duration time;
  };
  struct Carried {
    fabric::DeviceId from, to;
  };
  struct Blame {
    Duration time;
    work::OpId op;  // the critical op that waits longest for the cause
    Duration longest;
  };
  using Blames = std::map<DelayCause, Blame>;

  static void blame(Blames& blames, DelayCause cause, work::OpId op, Duration time);
  [[nodiscard]] Blames critical_path() const;
  [[nodiscard]] result::Bottleneck bottleneck(Duration completion);
  void describe_link(result::Bottleneck& out, const Blame& blame);
  void fill_ops(result::Result& result);
  void fill_links(result::Result& result) const;

  const Setup* setup_;
  Expander* expander_;
  std::vector<Times> times_;
  std::vector<std::uint32_t> delays_of_;
  std::vector<Delay> delays_;
  std::uint32_t free_delays_ = kEmptyList;
  std::vector<Carried> carried_;       // transfers only
  std::vector<double> wire_bytes_;     // by link
  std::vector<result::OpSpan> spans_;  // names of what ran
};

}  // namespace weft::engine
