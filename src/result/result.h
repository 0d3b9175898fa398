// Result: what an engine found. Probe: the stream of observations it gives while running.
// Units are in the types; shares are 0..1. report/ turns a Result into tables, JSON and CSV and
// sees nothing else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fabric/fabric.h"
#include "result/packets.h"
#include "work/work.h"

namespace weft::result {

struct OpSpan {
  Instant start, end;
  std::string algorithm, protocol;  // collectives: what ran
  int channels = 0;
};

struct LinkLoad {
  fabric::LinkId link;
  double wire_bytes = 0;   // framing and protocol included
  double utilisation = 0;  // wire bytes / (raw rate x completion)
};

struct FlowRecord {
  work::OpId op;
  fabric::DeviceId from, to;
  Bytes size;          // payload
  Instant start, end;  // end: last byte at the receiver
  Duration alone{};    // what it takes with every link to itself; 0: the engine does not say
};

// What limits the run. `share`: part of the completion time during which this link (or cap, or
// latency) is what the last-ending work waits for.
struct Bottleneck {
  fabric::LinkId link;  // invalid: not a link
  std::string name;     // "node0/nic3 -> leaf3" or "latency" or "one CPU core"
  double share = 0;
  std::string sentence;  // ready to print
};

struct EngineStats {
  std::string name;
  double wall_s = 0;
  std::uint64_t events = 0;
  std::uint64_t packet_hops = 0;
  std::uint64_t rate_solves = 0;
  double peak_rss_mb = 0;
};

struct Result {
  Duration completion;
  std::vector<OpSpan> ops;        // by OpId
  std::vector<LinkLoad> links;    // links that carried anything, by id
  std::vector<FlowRecord> flows;  // one a transfer, by OpId; when Options::record_flows
  Bottleneck bottleneck;
  EngineStats engine;
  PacketCounters packets;  // packet engine
};

// Completion times of flows (end - start). Percentiles by nearest rank: p99 is the smallest time
// that at least 99 % of the flows do not exceed.
struct FlowTimes {
  std::size_t count = 0;
  Duration mean, p50, p99, max;
};
FlowTimes flow_times(std::span<const FlowRecord> flows);

// How values are spread, percentiles by nearest rank: exact up to a million values, beyond that
// from a log-linear histogram, at most 0.4 % low. Mean and largest are exact.
struct Spread {
  std::size_t count = 0;
  double mean = 0, p50 = 0, p95 = 0, p99 = 0, p999 = 0, max = 0;
};
// Completion times in microseconds.
Spread completion_spread(std::span<const FlowRecord> flows);
// Completion time over the time alone, of the flows whose engine states that.
Spread slowdown_spread(std::span<const FlowRecord> flows);

// The `count` most utilised links, busiest first, ties by id.
std::vector<LinkLoad> top_links(std::span<const LinkLoad> links, std::size_t count);

// Observer of a run. Every method has an empty body; with no probe attached nothing is called. What
// the packet engine says about single packets it says of links that watches() asked for.
class Probe {
 public:
  virtual ~Probe() = default;
  virtual void op_started(work::OpId, Instant) {}
  virtual void op_ended(work::OpId, Instant) {}
  // Payload rate from now on; `flow` is the value of its OpId. With several queue pairs an
  // op has several flows under one number. A rate without limit is not reported.
  virtual void flow_rate(std::uint32_t /*flow*/, Instant, BitRate) {}
  virtual void progress(double /*done 0..1*/, Instant) {}

  // Asked once a link, before anything crosses it.
  virtual bool watches(fabric::LinkId) { return false; }
  virtual void flow_opened(const PacketFlow&, Instant) {}
  // Finds `queue` bytes before it; `marked`: and gets its mark here.
  virtual void packet_joined(const SeenPacket&, Instant, Bytes /*queue*/, bool /*marked*/) {}
  virtual void packet_dropped(const SeenPacket&, Instant) {}
  // On the wire from its first to its last bit; said when that is known, which may be before.
  virtual void packet_sent(const SeenPacket&, Instant /*first*/, Instant /*last*/) {}
  // A PFC frame for the sender of `link` leaves the other end at that instant.
  virtual void pause_sent(fabric::LinkId /*link*/, Instant, bool /*stop*/) {}
  // The link sends nothing, or goes on.
  virtual void link_held(fabric::LinkId, Instant, Hold, bool /*stop*/) {}
};

}  // namespace weft::result
