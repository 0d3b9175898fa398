// The text that ibnetdiscover writes and ibsim reads, as records: nodes, their ports and what each
// port is cabled to. Also ibnetdiscover's port list (option -p). Both ends of a cable must agree;
// a dump may be partial, so a peer without a record of its own is a node all the same.
// Format: infiniband-diags, "Topology file format"; ibsim, net-examples. Leaves out chassis
// grouping and `include`.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/errors.h"
#include "base/units.h"

namespace weft::import {

struct IbDump {
  enum class Kind { network_switch, adapter, router };
  struct Port {
    int number = 0;
    std::size_t peer = 0;  // node
    int peer_port = 0;
    int width = 0;      // lanes; 0 not told
    std::string speed;  // "NDR"; "" not told
    SourcePosition where;
  };
  struct Node {
    Kind kind = Kind::network_switch;
    std::string id;           // "S-0aa0000000000028", or any name in ibsim files
    std::string description;  // "MF0;leaf1:MQM9701/U1", "node1 mlx5_0"
    int ports = 0;            // 0: only met as a peer
    int lid = 0;
    std::uint32_t vendor_id = 0, device_id = 0;
    std::map<int, Port> cabled;
    SourcePosition where;
  };
  std::vector<Node> nodes;  // in the order met
  std::size_t unconnected = 0;
};

bool looks_like_ib_port_list(std::string_view text);
// Throws InputError with every fault of the text.
IbDump read_ib_records(std::string_view text, const std::string& file);
IbDump read_ib_port_list(std::string_view text, const std::string& file);

// Data rate after line coding of that many lanes of "SDR" ... "XDR"; nullopt for unknown words.
std::optional<BitRate> ib_rate(int lanes, std::string_view speed);
// "4xNDR" or "4x NDR" in two words; nullopt when it is neither.
struct IbSpeed {
  int lanes = 0;
  std::string speed;
};
std::optional<IbSpeed> parse_ib_speed(std::string_view text);

}  // namespace weft::import
