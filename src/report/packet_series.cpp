#include "report/packet_series.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "base/json.h"

namespace weft::report {

using result::SeenPacket;

PacketSeries::PacketSeries(const fabric::Fabric& fabric, LinkChoice links, Duration interval)
    : fabric_(&fabric),
      links_(std::move(links)),
      interval_(interval),
      watched_(fabric.link_count()) {
  CHECK(interval.ps() > 0);
}

bool PacketSeries::watches(fabric::LinkId link) {
  return links_.has(link);
}

PacketSeries::Row& PacketSeries::row(fabric::LinkId link, Instant when) {
  return watched_[link.index()].rows[when.since_start().ps() / interval_.ps()];
}

template <class F>
void PacketSeries::spread(fabric::LinkId link, Instant first, Instant last, F f) {
  const Duration whole = last - first;
  while (first < last) {
    const std::int64_t number = first.since_start().ps() / interval_.ps();
    const Instant next = Instant::at(Duration::picoseconds((number + 1) * interval_.ps()));
    const Duration here = std::min(next, last) - first;
    f(row(link, first), here, whole);
    first = first + here;
  }
}

void PacketSeries::packet_joined(const SeenPacket& packet, Instant when, Bytes queue, bool marked) {
  if (!links_.has(packet.link)) return;
  Row& now = row(packet.link, when);
  now.queue_max = std::max(now.queue_max, queue.count() + packet.wire_bytes);
  now.queue_sum += queue.count();
  ++now.joined;
  now.marks += marked ? 1 : 0;
  now.notifications += packet.kind == result::PacketKind::notification ? 1 : 0;
  now.retransmitted += packet.kind == result::PacketKind::data && packet.again ? 1 : 0;
  queues_.add(static_cast<std::uint64_t>(queue.count()));
}

void PacketSeries::packet_dropped(const SeenPacket& packet, Instant when) {
  if (links_.has(packet.link)) ++row(packet.link, when).drops;
}

// A packet that crosses the border of two intervals counts its bytes in both; none is lost in
// rounding.
void PacketSeries::packet_sent(const SeenPacket& packet, Instant first, Instant last) {
  if (!links_.has(packet.link)) return;
  std::int64_t left = packet.wire_bytes;
  Row* latest = nullptr;
  spread(packet.link, first, last, [&](Row& here, Duration part, Duration whole) {
    const auto bytes =
        static_cast<std::int64_t>(static_cast<double>(packet.wire_bytes) *
                                  static_cast<double>(part.ps()) / static_cast<double>(whole.ps()));
    here.wire_bytes += std::min(bytes, left);
    left -= std::min(bytes, left);
    latest = &here;
  });
  if (latest == nullptr) latest = &row(packet.link, first);
  latest->wire_bytes += left;
}

void PacketSeries::pause_sent(fabric::LinkId link, Instant when, bool stop) {
  if (links_.has(link) && stop) ++row(link, when).pauses;
}

void PacketSeries::link_held(fabric::LinkId link, Instant when, result::Hold, bool stop) {
  if (!links_.has(link)) return;
  Watched& watched = watched_[link.index()];
  if (stop) {
    watched.held_since = when;
    return;
  }
  if (watched.held_since == Instant::never()) return;
  spread(link, watched.held_since, when,
         [](Row& here, Duration part, Duration) { here.held = here.held + part; });
  watched.held_since = Instant::never();
}

void PacketSeries::finish(Instant end) {
  for (std::size_t i = 0; i < watched_.size(); ++i) {
    if (watched_[i].held_since < end) link_held(fabric::LinkId(i), end, result::Hold::pause, false);
  }
}

std::string PacketSeries::csv() const {
  std::string out =
      "start_us,from,to,wire_bytes,utilisation_ratio,queue_max_bytes,queue_mean_bytes,packets,"
      "marks,drops,pauses,held_us,notifications,retransmitted\n";
  for (std::size_t i = 0; i < watched_.size(); ++i) {
    const fabric::LinkId link(i);
    for (const auto& [number, r] : watched_[i].rows) {
      const Cells cells = cells_of(link, number, r);
      out +=
          fmt::format("{},{},{},{},{:.6g},{},{:.6g},{},{},{},{},{},{},{}\n", cells.start_us,
                      fabric_->name(fabric_->from(link)), fabric_->name(fabric_->to(link)),
                      r.wire_bytes, cells.utilisation, r.queue_max, cells.queue_mean, r.joined,
                      r.marks, r.drops, r.pauses, cells.held_us, r.notifications, r.retransmitted);
    }
  }
  return out;
}

std::string PacketSeries::json_lines() const {
  std::string out;
  for (std::size_t i = 0; i < watched_.size(); ++i) {
    const fabric::LinkId link(i);
    for (const auto& [number, r] : watched_[i].rows) {
      const Cells cells = cells_of(link, number, r);
      JsonWriter json(0);
      json.begin_object().member("start_us", cells.start_us);
      json.member("from", fabric_->name(fabric_->from(link)));
      json.member("to", fabric_->name(fabric_->to(link))).member("wire_bytes", r.wire_bytes);
      json.member("utilisation_ratio", cells.utilisation).member("queue_max_bytes", r.queue_max);
      json.member("queue_mean_bytes", cells.queue_mean).member("packets", r.joined);
      json.member("marks", r.marks).member("drops", r.drops).member("pauses", r.pauses);
      json.member("held_us", cells.held_us).member("notifications", r.notifications);
      json.member("retransmitted", r.retransmitted).end_object();
      out += json.take();
      if (out.back() != '\n') out += '\n';
    }
  }
  return out;
}

PacketSeries::Cells PacketSeries::cells_of(fabric::LinkId link, std::int64_t number,
                                           const Row& row) const {
  const double rate = fabric_->link_class(link).raw_rate.bytes_per_second();
  const double joined = std::max(1.0, static_cast<double>(row.joined));
  return {Duration::picoseconds(number * interval_.ps()).to_microseconds(),
          static_cast<double>(row.wire_bytes) / (rate * interval_.to_seconds()),
          static_cast<double>(row.queue_sum) / joined, row.held.to_microseconds()};
}

}  // namespace weft::report
