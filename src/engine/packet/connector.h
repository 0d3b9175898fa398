// From two devices to a connection of the packet engine: asks for the data path between them, turns
// its hops into links with rate and latency, and keeps the answer for the next flow between the
// same two. What of the path's latency lies in no link (software, DMA set-up, NICs) is paid before
// the first packet. Parallel NVLinks become stripes that packets take in turn. Leaves out: unequal
// shares of parallel links, and copies of a staged path as separate transfers: its links are a
// chain and its pipeline a cap on the rate.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "engine/packet/simulator.h"

namespace weft::engine::packet {

struct Ends {
  fabric::DeviceId from, to;
  fabric::DeviceId from_nic, to_nic;  // invalid: the nearest
  fabric::Via via = fabric::Via::automatic;
  fabric::Mover mover = fabric::Mover::copy_engine;
  std::uint32_t entropy = 0;  // queue pair, or channel
  friend auto operator<=>(const Ends&, const Ends&) = default;
};

struct Connected {
  std::uint32_t connection = 0;
  bool crosses_network = false;
  Duration latency;      // of the data path, one way, software included
  double spent = 1;      // inside a server: raw-rate bytes that the first link spends on a byte
  fabric::LinkId first;  // link of the path
};

class Connector {
 public:
  Connector(const Setup& setup, Simulator& simulator) : setup_(&setup), simulator_(&simulator) {}

  // Null when there is no such path; refusal() then says why.
  const Connected* connect(const Ends& ends);
  [[nodiscard]] const std::string& refusal() const { return refusal_; }

 private:
  Connected make(const fabric::DataPath& path);
  [[nodiscard]] Time add_up(std::uint32_t path, std::uint32_t bytes) const;

  const Setup* setup_;
  Simulator* simulator_;
  std::map<Ends, Connected> known_;
  std::string refusal_;
};

}  // namespace weft::engine::packet
