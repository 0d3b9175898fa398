// The exact steps of a collective as messages that engines can send: steps of one round between the
// same two ranks are one message, a message through a NIC far from its rank (PXN) or through
// several NICs is several, and NVSwitch reductions and multicasts are messages up to and down from
// the switches. Says what each waits for. Where a message carries the very chunks that it waits
// for, it follows them as they come in; otherwise it waits for all of them. Leaves out: time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "collective/collective.h"

namespace weft::engine::packet {

using MessageId = std::uint32_t;
inline constexpr MessageId kNoMessage = 0xffffffffu;

struct Message {
  std::uint32_t from = 0, to = 0;  // ranks, or collective::kSwitchPlane
  fabric::DeviceId from_nic, to_nic;
  std::int64_t bytes = 0;
  std::uint32_t round = 0;
  std::uint16_t channel = 0;
  bool crosses = false;  // from node to node
  bool reduces = false;  // the receiver adds it
  bool chained = false;  // passes on what an earlier round brought: a step of its rank
  // Sent when this one has left: the next on the same way, and the next of the sender's lane of
  // messages that wait for nothing.
  MessageId next_on_way = kNoMessage, next_in_lane = kNoMessage;
  // Of a collective that runs in pieces: the message whose next piece goes when a piece of this one
  // has left. Set on the last message of each phase on a way.
  MessageId next_piece = kNoMessage;
};

// What one message waits for, or what waits for it.
struct Dependency {
  MessageId message = 0;
  bool follows = false;  // the same chunks: byte by byte
};

class MessageGraph {
 public:
  MessageGraph(const collective::Algorithm& algorithm, const collective::Request& request,
               const collective::ChannelPlan& plan, const collective::Fluid& fluid);

  // Some steps are reduced or multicast by the network's own switches, which no message can show.
  [[nodiscard]] bool needs_network_reduction() const { return needs_network_reduction_; }
  // Some message waits for others whole, because it does not carry the very chunks they bring:
  // phases overlap only when the collective runs in pieces.
  [[nodiscard]] bool waits_for_whole() const { return waits_for_whole_; }
  [[nodiscard]] std::span<const Message> messages() const { return messages_; }
  [[nodiscard]] std::span<const Dependency> before(MessageId m) const {
    return std::span(before_).subspan(before_begin_[m], before_begin_[m + 1] - before_begin_[m]);
  }
  [[nodiscard]] std::span<const Dependency> after(MessageId m) const {
    return std::span(after_).subspan(after_begin_[m], after_begin_[m + 1] - after_begin_[m]);
  }

 private:
  friend class MessageGraphBuilder;
  bool needs_network_reduction_ = false, waits_for_whole_ = false;
  std::vector<Message> messages_;
  std::vector<std::uint32_t> before_begin_, after_begin_;
  std::vector<Dependency> before_, after_;
};

}  // namespace weft::engine::packet
