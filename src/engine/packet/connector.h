// From two devices to a connection of the packet engine: asks for the data path between them, turns
// its hops into links with rate and latency, and keeps the answer for the next flow between the
// same two. What of the path's latency lies in no link (software, DMA set-up, NICs) is paid before
// the first packet. Parallel NVLinks become stripes that packets take in turn, in proportion to
// their rates. Leaves out: copies of a staged path as separate transfers; its links are a chain and
// its pipeline a cap on the rate.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "engine/packet/simulator.h"
#include "engine/packet/ways.h"
#include "engine/path_table.h"

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

// Links in a row, and the share of the bytes that takes them.
struct Chain {
  std::vector<Segment> segments;
  double share = 0;
};

class Connector {
 public:
  Connector(const Setup& setup, Simulator& simulator)
      : setup_(&setup),
        simulator_(&simulator),
        costs_(setup.costs),
        paths_(*setup.fabric, *setup.routes, setup.costs) {
    costs_.network.overhead += Bytes(simulator.telemetry_bytes());
  }

  // Null when there is no such path; refusal() then says why.
  const Connected* connect(const Ends& ends);
  // From a GPU up to its NVSwitches, or down from them, over all its NVLinks: for what the switches
  // reduce or multicast.
  const Connected* connect_to_switches(fabric::DeviceId gpu, bool up);
  // How long one packet of the connection, or a message of fewer bytes, is under way.
  [[nodiscard]] Time crossing_time(const Connected& way, std::int64_t bytes) const;
  // How long the narrowest link of the connection sends so many bytes.
  [[nodiscard]] Time sending_time(const Connected& way, std::int64_t bytes) const;
  // A flow of so many bytes with every link to itself, from its start to its last byte's arrival.
  [[nodiscard]] Time time_alone(std::uint32_t connection, std::int64_t bytes) const;
  [[nodiscard]] const std::string& refusal() const { return refusal_; }

 private:
  fabric::PathAnswer find_path(const Ends& ends);
  Connected make(const fabric::DataPath& path);
  void add_ways(std::vector<Chain>& chains);
  std::vector<WayLinks> ways_between(fabric::LinkId out, fabric::LinkId in);
  [[nodiscard]] std::vector<WayLinks> drawn_ways(fabric::DeviceId from, fabric::DeviceId to) const;
  void let_switches_choose(const std::vector<Chain>& chains, Connection& connection);
  [[nodiscard]] Duration forwarding(fabric::LinkId into) const;
  void find_nic(Connection& connection) const;
  void add_chains(const std::vector<Chain>& chains, Connection& connection);
  [[nodiscard]] Time add_up(std::uint32_t path, std::uint32_t bytes) const;

  const Setup* setup_;
  Simulator* simulator_;
  fabric::PathCosts costs_;  // the setup's, and what telemetry adds to each packet
  PathTable paths_;
  std::map<PathTable::Key, fabric::Via> best_way_;  // where the user leaves it to us
  std::map<Ends, Connected> known_;
  std::map<std::pair<fabric::DeviceId, bool>, Connected> to_switches_;
  std::map<std::pair<fabric::DeviceId, fabric::DeviceId>, std::vector<WayLinks>> ways_;
  std::string refusal_;
};

}  // namespace weft::engine::packet
