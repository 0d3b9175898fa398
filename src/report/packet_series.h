// What links do over time, in intervals of equal length: bytes sent, queue, marks, drops, pauses.
// An observer of the packet engine that adds up; CSV or JSON lines out, a row for each link and
// interval in which something happened. Columns: docs/packet-observation.md.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/histogram.h"
#include "report/link_choice.h"
#include "result/result.h"

namespace weft::report {

class PacketSeries final : public result::Probe {
 public:
  PacketSeries(const fabric::Fabric& fabric, LinkChoice links, Duration interval);

  bool watches(fabric::LinkId link) override;
  void packet_joined(const result::SeenPacket& packet, Instant when, Bytes queue,
                     bool marked) override;
  void packet_dropped(const result::SeenPacket& packet, Instant when) override;
  void packet_sent(const result::SeenPacket& packet, Instant first, Instant last) override;
  void pause_sent(fabric::LinkId link, Instant when, bool stop) override;
  void link_held(fabric::LinkId link, Instant when, result::Hold why, bool stop) override;

  // Closes what is still open at the end of the run.
  void finish(Instant end);
  [[nodiscard]] std::string csv() const;
  [[nodiscard]] std::string json_lines() const;
  // Bytes that packets found before them, over all watched links.
  [[nodiscard]] const Histogram& queues() const { return queues_; }

 private:
  struct Row {
    std::int64_t wire_bytes = 0, queue_max = 0, queue_sum = 0;
    std::uint64_t joined = 0;
    std::uint32_t marks = 0, drops = 0, pauses = 0, notifications = 0, retransmitted = 0;
    Duration held;
  };
  struct Watched {
    std::map<std::int64_t, Row> rows;  // by number of the interval
    Instant held_since = Instant::never();
  };
  struct Cells {
    double start_us, utilisation, queue_mean, held_us;
  };

  Row& row(fabric::LinkId link, Instant when);
  // f(row, part of the time that lies in it), from `first` to `last`.
  template <class F>
  void spread(fabric::LinkId link, Instant first, Instant last, F f);
  [[nodiscard]] Cells cells_of(fabric::LinkId link, std::int64_t number, const Row& row) const;

  const fabric::Fabric* fabric_;
  LinkChoice links_;
  Duration interval_;
  std::vector<Watched> watched_;  // by link
  Histogram queues_;
};

}  // namespace weft::report
