// One collective while it runs: its messages become flows as what they wait for arrives. A message
// that passes on what comes in leaves byte by byte behind it. A collective whose phases wait for
// one another runs in pieces of its buffer, one behind the other, as libraries cut large buffers,
// so that all phases are under way at once. The latency that the model of the collective states is
// paid before the first message; bytes count the protocol's overhead and what was measured to be
// lost, so that alone, and without congestion, a collective takes what the other engines say.
// Model: docs/models/packet_engine.md.
#pragma once

#include <array>
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
  // A piece of a message: message x pieces + piece.
  using PieceId = std::uint32_t;

  // Tags [tag, tag + piece_count()) of the simulator are its own.
  CollectiveRun(const Ground& ground, const Expander::Chosen& chosen, Bytes size,
                std::uint32_t tag);

  [[nodiscard]] std::uint32_t piece_count() const {
    return static_cast<std::uint32_t>(states_.size());
  }
  // Cannot run for what its steps ask; start() says why.
  [[nodiscard]] bool refuses() const { return graph_.needs_network_reduction(); }
  // Sends what waits for nothing. False, with refusal(), when there is no way between two ranks.
  bool start();
  bool progress(PieceId piece, std::uint32_t packets, bool done);
  bool sent(PieceId piece);
  [[nodiscard]] const std::string& refusal() const { return refusal_; }
  [[nodiscard]] bool over() const { return left_ == 0; }
  [[nodiscard]] double share_done() const {
    return states_.empty() ? 1
                           : 1 - static_cast<double>(left_) / static_cast<double>(states_.size());
  }
  // Not before this, however fast the links: what the protocol or the GPU can move.
  [[nodiscard]] Time earliest_end() const { return earliest_end_; }
  // A connection of the message that ended last.
  [[nodiscard]] std::uint32_t last_connection() const { return last_connection_; }

 private:
  struct State {
    std::uint32_t flow = kNone;
    std::uint32_t total = 0;      // packets
    std::uint32_t received = 0;   // packets at its end
    std::uint32_t waits_for = 0;  // pieces that must have begun, ended, or left
    bool done = false, begun = false;
  };

  // Of one kind of hop, ps.
  struct HopTimes {
    double crossing = 0, per_byte = 0;
    double shown = 1;  // part of the crossing that a message of the collective does not outlast
    std::uint32_t lead = 1;  // pieces that a way needs under way at once
  };

  void choose_pieces();
  void count_waits();
  // Begins all that is ready, and what that makes ready.
  bool begin_ready();
  bool begin(PieceId piece);
  void satisfy(PieceId piece);
  void arrived(PieceId piece, bool first, bool done);
  const Connected* connect(const Message& message);
  [[nodiscard]] std::int64_t wire_bytes(const Message& message, const Connected& way) const;
  [[nodiscard]] std::uint32_t released(PieceId piece) const;
  [[nodiscard]] PieceId id(MessageId message, std::uint32_t piece) const {
    return message * pieces_ + piece;
  }
  template <typename Visit>
  void visit_next(PieceId piece, const Visit& visit) const;
  bool measure_hops();
  void find_startup();

  Ground ground_;
  const collective::ChannelPlan* plan_;
  collective::Fluid fluid_;
  MessageGraph graph_;
  std::uint32_t pieces_ = 1;
  std::array<HopTimes, 2> hops_;  // inside a node, between nodes
  std::vector<State> states_;
  std::vector<PieceId> ready_;
  std::uint32_t tag_;
  std::uint32_t left_ = 0;
  Time first_start_ = 0;
  Time earliest_end_ = 0;
  std::uint32_t last_connection_ = kNone;
  std::string refusal_;
};

}  // namespace weft::engine::packet
