// In-band telemetry: what the ports on its way wrote into a packet, kept beside the pool because a
// packet is one cache line, and what the last acknowledgement of each flow had brought. Takes no
// memory unless the congestion control wants it. Source of the header's size: HPCC's simulator, 2 B
// and 8 B for each of five ports. Leaves out: the units and the wrap-around of the fields.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "congestion/congestion.h"

namespace weft::engine::packet {

class Telemetry {
 public:
  static constexpr std::uint32_t kHeaderBytes = 2 + 5 * 8;

  void want() { wanted_ = true; }
  [[nodiscard]] bool wanted() const { return wanted_; }
  // The packet has nothing yet.
  void clear(std::uint32_t packet) { of(packet).count = 0; }
  // Ports beyond the most that a packet can hold write nothing.
  void write(std::uint32_t packet, const congestion::Hop& hop) {
    Stack& stack = of(packet);
    if (stack.count < stack.hops.size()) stack.hops[stack.count++] = hop;
  }
  // A packet has come to its end; its place in the pool may be taken by the answer.
  void arrive(std::uint32_t packet) { arrived_ = of(packet); }
  // The answer carries what the packet that has arrived brought.
  void echo(std::uint32_t packet) { of(packet) = arrived_; }
  [[nodiscard]] std::span<const congestion::Hop> arrived() const {
    return std::span(arrived_.hops).first(arrived_.count);
  }
  [[nodiscard]] std::span<const congestion::Hop> last(std::uint32_t flow) {
    const Stack& stack = of_flow(flow);
    return std::span(stack.hops).first(stack.count);
  }
  void remember(std::uint32_t flow) { of_flow(flow) = arrived_; }
  void forget(std::uint32_t flow) { of_flow(flow).count = 0; }

 private:
  struct Stack {
    std::array<congestion::Hop, congestion::kMostHops> hops;
    std::uint32_t count = 0;
  };
  Stack& of(std::uint32_t packet) {
    if (packet >= packets_.size()) packets_.resize(packet + packet / 2 + 64);
    return packets_[packet];
  }
  Stack& of_flow(std::uint32_t flow) {
    if (flow >= flows_.size()) flows_.resize(flow + flow / 2 + 64);
    return flows_[flow];
  }

  bool wanted_ = false;
  Stack arrived_;
  std::vector<Stack> packets_, flows_;
};

}  // namespace weft::engine::packet
