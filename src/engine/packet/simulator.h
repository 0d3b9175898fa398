// The packet engine's core: moves packets over links, one event a packet and hop. A link is due
// when the packet at the head of its ring arrives at its far end; the packet then joins its next
// link, whose transmitter says at once when it leaves and arrives (a FIFO knows), or is delivered.
// Senders keep to a window; their NIC takes packets of its ready flows in turn. Queues mark (RED on
// the length a packet finds) and drop at their tail. Loss is mended by going back to the first
// packet missing (InfiniBand and RoCE reliable connection). Model: docs/models/packet_engine.md.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "congestion/congestion.h"
#include "engine/packet/event_queue.h"
#include "engine/packet/flow_state.h"
#include "engine/packet/gates.h"
#include "engine/packet/network.h"
#include "engine/packet/selective.h"
#include "engine/packet/telemetry.h"
#include "engine/packet_options.h"
#include "result/result.h"

namespace weft::engine::packet {

struct FlowSpec {
  std::uint32_t connection = 0;
  std::int64_t bytes = 0;
  std::uint32_t tag = 0;
  std::uint32_t released = kNone;  // packets that may leave at once; kNone: all
  std::uint32_t report_every = 0;  // packets between reports of progress; 0: only the end
  bool tell_sent = false;          // tell the client when all its packets have left
  Time start = 0;                  // first packet, not before now
};

// Whose work the packets carry.
class Client {
 public:
  virtual ~Client() = default;
  // The receiver of the flow has its first `packets` packets; all of them when `done`.
  virtual void flow_progress(std::uint32_t tag, std::uint32_t packets, bool done) = 0;
  // All packets of the flow have left, and so has what was queued before them on their way.
  virtual void flow_sent(std::uint32_t tag) = 0;
  virtual void timer(std::uint32_t tag) = 0;
};

struct Counters {
  std::uint64_t events = 0, packet_hops = 0;
  std::uint64_t sent = 0, retransmitted = 0, acks = 0, nacks = 0;
  std::uint64_t marks = 0, drops = 0, losses = 0, timeouts = 0, given_up = 0, pauses = 0,
                notifications = 0, credit_waits = 0;
};

class Simulator {
 public:
  // `probe` may be null.
  Simulator(const fabric::Fabric& fabric, const PacketOptions& options,
            result::Probe* probe = nullptr);

  Network& network() { return network_; }
  std::uint32_t add_connection(const Connection& connection);
  // Alternative paths that packets of a connection take in turn (parallel NVLinks).
  std::uint32_t add_stripes(std::span<const std::uint32_t> paths);
  [[nodiscard]] const Connection& connection(std::uint32_t c) const { return connections_[c]; }
  // Its paths; with stripes as often as packets take them in a round.
  [[nodiscard]] std::span<const std::uint32_t> paths_of(const Connection& c) const {
    if (c.stripes == 1) return {&c.path, 1};
    return std::span(stripe_paths_).subspan(c.stripe_begin, c.stripes);
  }

  std::uint32_t start_flow(const FlowSpec& spec);
  // Packets below `packets` of the flow may be sent now.
  void release(std::uint32_t flow, std::uint32_t packets);
  void set_timer(Time when, std::uint32_t tag);
  [[nodiscard]] std::uint32_t packets_of(std::uint32_t flow) const { return senders_[flow].total; }

  [[nodiscard]] Time now() const { return now_; }
  // Until nothing is left to do.
  void run(Client& client);
  [[nodiscard]] const PacketOptions& options() const { return options_; }
  // What telemetry adds to a packet on the wire.
  [[nodiscard]] std::uint32_t telemetry_bytes() const {
    return telemetry_.wanted() ? Telemetry::kHeaderBytes : 0;
  }
  [[nodiscard]] std::uint32_t ack_every() const { return ack_every_; }
  [[nodiscard]] const Counters& counters() const { return counters_; }
  // Which link waits for which, when run() returned although not all had arrived; empty: none does.
  [[nodiscard]] std::string wait_chain() const;
  [[nodiscard]] std::size_t peak_packets() const { return pool_.peak(); }
  // Flows whose receiver lacks something when run() returned.
  [[nodiscard]] std::size_t unfinished() const { return unfinished_; }

 private:
  // What an entry of the calendar names: the kind in the upper bits.
  static constexpr std::uint32_t kKindShift = 29;
  static constexpr std::uint32_t kIndexMask = (1u << kKindShift) - 1;
  enum Kind : std::uint32_t { kLink, kInjector, kFlow, kTimer, kRetransmit, kSent, kGate, kPause };

  // The sending side of a NIC's cable, or of the first link of a path inside a server: flows that
  // could send but for its backlog, in turn.
  struct Injector {
    std::uint32_t head = kNone, tail = kNone;
    bool due = false;
  };

  void prefetch_ahead();
  void arrive(std::uint32_t link);
  void join(std::uint32_t link, std::uint32_t packet);
  void join_queue(std::uint32_t link, std::uint32_t packet);
  void put_on_wire(std::uint32_t link, std::uint32_t packet);
  void prepare_links();
  void set_thresholds(Link& link, BitRate rate) const;

  // gates.cpp
  void add_gate(std::uint32_t link);
  std::uint32_t buffer_of(fabric::DeviceId device, Bytes headroom);
  [[nodiscard]] std::int64_t allowed(const Ingress& ingress) const;
  void join_gated(std::uint32_t link, std::uint32_t packet);
  bool enter_buffer(const Packet& packet);
  void leave_buffer(std::uint32_t ingress, std::uint32_t bytes);
  void announce(std::uint32_t link, bool stop);
  void heed_pause(std::uint32_t link);
  void start_or_wait(std::uint32_t link);
  void return_credit(std::uint32_t link, std::uint32_t bytes);
  void check_conserved() const;
  [[nodiscard]] bool credits_are_used() const { return with_credits_; }
  void start_sending(std::uint32_t link);
  void sending_done(std::uint32_t link);

  // watch.cpp
  [[nodiscard]] fabric::LinkId shown_as(std::uint32_t link) const;
  [[nodiscard]] result::SeenPacket describe(std::uint32_t link, std::uint32_t packet) const;
  void join_apart(std::uint32_t link, std::uint32_t packet);
  void watch_sent(std::uint32_t link, std::uint32_t packet, Time first);
  void watch_hold(std::uint32_t link, result::Hold why, bool stop);
  void open_flow(std::uint32_t flow);

  [[nodiscard]] bool take_mark(const Link& link, std::uint32_t queue) const;
  void drop(std::uint32_t packet);
  bool lose(std::uint32_t link, std::uint32_t packet);

  void deliver(std::uint32_t packet);
  void receive_data(const Packet& packet);
  bool take_early(const Packet& packet);
  void join_early(std::uint32_t flow);
  void answer(const Packet& data, PacketKind kind);
  void receive_ack(const Packet& packet);
  void receive_nack(const Packet& packet);
  void report(std::uint32_t flow);

  [[nodiscard]] bool can_send(std::uint32_t flow) const;
  std::uint32_t choose(Packet& packet) const;
  void pump(std::uint32_t flow);
  void send_one(std::uint32_t flow);
  [[nodiscard]] std::uint32_t path_now(const Sender& sender, const Connection& connection) const;
  void look_for_flowlet(std::uint32_t flow, const Connection& connection);
  void tell_when_sent(std::uint32_t flow, std::uint32_t path);
  void make_ready(std::uint32_t flow, std::uint32_t link);
  void pull(std::uint32_t link);
  void pump_behind(std::uint32_t flow, std::uint32_t link);
  [[nodiscard]] std::uint32_t path_of(const Sender& sender) const;
  [[nodiscard]] std::uint32_t injection_link(const Sender& sender) const;
  [[nodiscard]] Time room_from(const Sender& sender, std::uint32_t link) const;
  [[nodiscard]] Time backlog(std::uint32_t link) const;

  // selective.cpp
  void start_selective(std::uint32_t flow, const Connection& connection);
  [[nodiscard]] bool is_selective(std::uint32_t flow) const {
    return selective_on_ && !selective_[flow].bits.empty();
  }
  [[nodiscard]] Time time_to_repeat(std::uint32_t flow) const;
  void advance_selective(std::uint32_t flow, std::uint32_t packet);
  void receive_selective_nack(const Packet& packet);
  void enter_recovery(std::uint32_t flow);
  void repeat_selective(std::uint32_t flow);
  [[nodiscard]] bool has_hole(std::uint32_t flow) const;
  std::uint32_t take_selective(std::uint32_t flow);

  void flow_due(std::uint32_t flow);
  void retransmission_due(std::uint32_t flow);
  void arm(std::uint32_t flow);
  void start_control(std::uint32_t flow, const Connection& connection);
  void receive_notification(const Packet& packet);
  void obey_control(const Packet& ack, std::uint32_t packets);
  void free_if_over(std::uint32_t flow);

  const fabric::Fabric* fabric_;
  PacketOptions options_;
  result::Probe* probe_;  // null: nobody observes
  Network network_;
  Network::Links& links_;
  EventQueue queue_;
  PacketPool pool_;
  std::vector<Connection> connections_;
  std::vector<std::uint32_t> stripe_paths_;
  std::vector<Sender, HugePageAllocator<Sender>> senders_;
  std::vector<Receiver, HugePageAllocator<Receiver>> receivers_;
  std::vector<std::vector<std::uint32_t>> early_;  // by flow, where packets overtake one another
  std::vector<std::uint32_t> free_flows_;
  std::vector<Injector> injectors_;  // by link
  std::vector<Gate> gates_;          // by link, where links can pause; so are ingresses
  std::vector<Ingress> ingresses_;
  std::vector<Buffer> buffers_;
  std::map<std::uint32_t, std::uint32_t> buffer_of_device_, wire_of_;
  std::unique_ptr<congestion::Control> control_;  // null: none
  Telemetry telemetry_;
  std::uint32_t ack_every_ = 1;
  Time notification_gap_ = kNever;
  std::vector<congestion::Sender> controlled_;  // by flow
  std::vector<Credits> credits_;                // by link, where links have them
  std::vector<Selective> selective_;            // by flow, where only what was lost is repeated
  std::vector<Time> last_sent_;                 // by flow, where flowlets are looked for
  std::vector<std::uint64_t> arrivals_;         // by link, where links lose: counts its draws
  bool lossy_ = false, with_credits_ = false, selective_on_ = false;
  std::vector<std::uint32_t> timer_tags_, free_timers_;
  Client* client_ = nullptr;
  Time now_ = 0;
  Counters counters_;
  std::size_t unfinished_ = 0;
  // For the observer: numbers of the flows by their slot.
  std::vector<std::uint32_t> flow_numbers_;
  std::uint32_t flows_opened_ = 0;
};

}  // namespace weft::engine::packet
