// What a sender that repeats only what was lost knows about a flow beside flow_state.h: which
// packets arrived beyond the first that is missing, and where it is in its recovery. Source: R.
// Mittal et al., "Revisiting Network Support for RDMA" (IRN), SIGCOMM 2018. Model:
// docs/models/irn.md. Leaves out: the receiver's placement of messages that need order.
#pragma once

#include <cstdint>
#include <vector>

namespace weft::engine::packet {

struct Selective {
  std::vector<std::uint64_t> bits;  // a ring of packets above the acknowledged: which arrived
  std::uint32_t hole = 0;           // the next packet that may have to be sent again
  std::uint32_t known = 0;          // packets below this were sent before one that arrived
  std::uint32_t recover_until = 0;  // recovery ends when all below have arrived
  bool recovering = false;

  // For a window of so many packets.
  void start(std::uint32_t window) {
    *this = {};
    std::size_t words = 1;
    while (words * 64 < window + 64ull) words *= 2;
    bits.assign(words, 0);
  }
  void mark(std::uint32_t packet) { word(packet) |= bit(packet); }
  void forget(std::uint32_t packet) { word(packet) &= ~bit(packet); }
  [[nodiscard]] bool arrived(std::uint32_t packet) const {
    return (bits[packet / 64 & (bits.size() - 1)] & bit(packet)) != 0;
  }

 private:
  std::uint64_t& word(std::uint32_t packet) { return bits[packet / 64 & (bits.size() - 1)]; }
  static std::uint64_t bit(std::uint32_t packet) { return 1ull << packet % 64; }
};

}  // namespace weft::engine::packet
