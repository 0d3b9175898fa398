// One collective while it runs: its messages become flows as what they wait for arrives. A message
// that passes on what comes in leaves byte by byte behind it. Every message pays its part of the
// latency that the model of the collective states; its bytes count the protocol's overhead and what
// was measured to be lost, so that alone, and without congestion, a collective takes what the other
// engines say. Model: docs/models/packet_engine.md.
#pragma once

#include <memory>
#include <vector>

#include "engine/expand.h"
#include "engine/packet/connector.h"
#include "engine/packet/message_graph.h"

namespace weft::engine::packet {

class CollectiveRun {
 public:
  // What all collectives of a run share.
  struct Ground {
    const Setup* setup = nullptr;
    Simulator* simulator = nullptr;
    Connector* connector = nullptr;
  };

  // Tags [tag, tag + message_count()) of the simulator are its own.
  CollectiveRun(const Ground& ground, const Expander::Chosen& chosen, Bytes size,
                std::uint32_t tag);

  [[nodiscard]] std::uint32_t message_count() const {
    return static_cast<std::uint32_t>(graph_.messages().size());
  }
  // Cannot run for what its steps ask; start() says why.
  [[nodiscard]] bool refuses() const { return graph_.needs_network_reduction(); }
  // Sends what waits for nothing. False, with refusal(), when there is no way between two ranks.
  bool start();
  bool progress(MessageId message, std::uint32_t packets, bool done);
  bool sent(MessageId message);
  [[nodiscard]] const std::string& refusal() const { return refusal_; }
  [[nodiscard]] bool over() const { return left_ == 0; }
  // Not before this, however fast the links: what the protocol or the GPU can move.
  [[nodiscard]] Time earliest_end() const { return earliest_end_; }
  // A connection of the message that ended last.
  [[nodiscard]] std::uint32_t last_connection() const { return last_connection_; }

 private:
  struct State {
    std::uint32_t flow = kNone;
    std::uint32_t total = 0;      // packets
    std::uint32_t received = 0;   // packets at its end
    std::uint32_t waits_for = 0;  // messages that must have begun, ended, or left
    bool done = false, begun = false;
  };

  bool begin(MessageId message);
  bool satisfy(MessageId message);
  const Connected* connect(const Message& message);
  [[nodiscard]] std::int64_t wire_bytes(const Message& message, const Connected& way) const;
  [[nodiscard]] std::uint32_t released(MessageId message) const;
  bool spread_latency();

  Ground ground_;
  const collective::ChannelPlan* plan_;
  collective::Fluid fluid_;
  MessageGraph graph_;
  std::vector<State> states_;
  std::uint32_t tag_;
  std::uint32_t left_;
  Time started_ = 0;
  Time message_latency_ = 0;
  Time earliest_end_ = 0;
  std::uint32_t last_connection_ = kNone;
  std::string refusal_;
};

}  // namespace weft::engine::packet
