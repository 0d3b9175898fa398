// Congestion controls: what a sender does about marks. Each sees only the shared sender state below
// and the events of its flow, so each is a page of arithmetic beside its paper. Timers need no
// events: a control brings its state up to date when a packet is about to leave, which is the only
// moment at which its rate matters. One file and one row of list.def each, and a page
// docs/models/NAME.md. Times are picoseconds, rates bits per second.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/units.h"

namespace weft::congestion {

// A sender's state. The names are those of the controls that use them.
struct Sender {
  // What it may do now.
  double rate = 0;           // bit/s; the least time between packets follows. 0: no limit
  std::uint32_t window = 0;  // packets unacknowledged
  // Facts.
  double line_rate = 0;  // bit/s on the wire, of the narrowest link
  std::uint32_t full_window = 0;
  std::uint32_t packet_bytes = 0;  // of a full packet on the wire
  std::int64_t base_rtt = 0;
  // Shared by rate controls.
  double target = 0, alpha = 1;
  std::int64_t alpha_due = 0, increase_due = 0, cut_due = 0;  // 0: not running
  std::int64_t bytes = 0;                                     // since the last increase by bytes
  std::uint32_t time_stage = 0, byte_stage = 0;
  bool notified = false;  // since the last look at alpha
  bool active = false;    // some congestion was seen: timers run
  // Shared by window controls.
  double window_exact = 0;
  std::uint32_t round_end = 0;  // acknowledgements up to here belong to this round trip
  std::uint32_t acknowledged = 0, marked = 0;  // in it
};

// What a switch port writes into a packet as it leaves (in-band telemetry).
struct Hop {
  std::uint32_t port = 0;  // whose this is
  std::int64_t when = 0;   // the packet began to leave
  std::uint64_t sent = 0;  // bytes that the port had sent before it
  std::int64_t queue = 0;  // bytes that were left waiting behind it
  double line_rate = 0;    // of the port, bit/s
};
inline constexpr std::size_t kMostHops = 8;

struct Ack {
  std::int64_t now = 0;
  std::uint32_t sequence = 0;  // all packets below have arrived
  std::uint32_t next = 0;      // packet to be sent next
  std::uint32_t packets = 0;   // newly acknowledged
  std::uint32_t marked = 0;    // of those
  // With telemetry: what the ports of the path wrote, and what they had written into the packet
  // acknowledged before; empty at the first. Both in the order of the path.
  std::span<const Hop> hops, hops_before;
};

// What can be set about a control.
struct Parameter {
  std::string_view name, unit;
  double value = 0;  // default
  double least = 0, most = 0;
  std::string_view meaning;
};
using Settings = std::map<std::string, double>;  // by name

class Control {
 public:
  virtual ~Control() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual std::string_view summary() const = 0;
  [[nodiscard]] virtual std::span<const Parameter> parameters() const { return {}; }
  // The same control with these values, one a parameter, in their order.
  [[nodiscard]] virtual std::unique_ptr<Control> with(std::span<const double> values) const = 0;
  // Whether receivers send a notification (CNP) for marked packets, and how far apart at least.
  [[nodiscard]] virtual std::optional<Duration> notification_gap() const { return std::nullopt; }
  // Whether ports write telemetry into packets, and every packet is acknowledged to bring it back.
  [[nodiscard]] virtual bool wants_telemetry() const { return false; }
  // Sets rate and window of a new flow; the facts are filled.
  virtual void start(Sender& sender) const = 0;
  virtual void acknowledge(Sender&, const Ack&) const {}
  virtual void notify(Sender&, std::int64_t /*now*/) const {}
  // A packet of `bytes` is about to leave.
  virtual void before_send(Sender&, std::int64_t /*now*/, std::uint32_t /*bytes*/) const {}
};

std::span<const Control* const> all_controls();
const Control* find_control(std::string_view name);  // nullptr when unknown

// What is wrong with the settings of a control: a name it lacks, a value out of its range; empty
// when nothing is.
std::string refuse_settings(const Control& control, const Settings& settings);
// REQUIRES refuse_settings(control, settings).empty().
std::unique_ptr<Control> configured(const Control& control, const Settings& settings);

}  // namespace weft::congestion
