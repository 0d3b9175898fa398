// From a pair of devices to the share of every link that a byte between them takes. Each kind of
// path is asked of fabric::find_data_path once per pair of places in servers of equal shape, then
// stamped onto other servers: links are remembered as (place in the server, port), network links
// are routed afresh: over one path, or over all that the routing policy spreads bytes over, each
// link with its share; the latency is then the mean over the bytes. A stamp that does not fit the
// fabric (other wiring, other link classes) falls back to asking. Leaves out: sharing and time,
// which are the engines' business.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fabric/data_path.h"
#include "routing/routes.h"

namespace weft::engine {

// What one payload byte costs one link. `spent` is what it takes of the raw rate, lost efficiency
// included (never below `wire`); `wire` is what is really sent, framing included.
struct LinkShare {
  fabric::LinkId link;
  double spent = 0;
  double wire = 0;
};

// Bytes of `link` sent per payload byte on account of its packet headers alone.
double framing_factor(const fabric::LinkClass& link);

struct Connection {
  fabric::DeviceId source, destination;
  fabric::Via via = fabric::Via::automatic;
  fabric::Mover mover = fabric::Mover::copy_engine;
  std::optional<fabric::DeviceId> source_nic, destination_nic;
  std::uint64_t entropy = 0;
};

// What all connections of one pattern have in common besides links.
struct PathPattern {
  // A link inside a server, or between a server and a switch that belongs to none (NVLink domains
  // across servers): seen from the end that is in the source's or the destination's server.
  struct LocalHop {
    std::uint32_t device = 0;  // place in its server
    std::uint32_t port = 0;
    bool at_destination = false;  // which server
    bool reversed = false;        // the link that comes in at this port
    bool joined = false;          // starts where the hop before ended
    double spent = 0, wire = 0;
    double reverse = 0;  // the same for the opposite direction: read requests
  };
  struct NetworkHop {
    fabric::LinkClassId link_class;
    fabric::DeviceClassId far_class;
    double spent = 0;
    Duration latency;
  };
  std::vector<LocalHop> before, after;  // of the network part, or all in `before`
  bool crosses_network = false;
  bool shareable = true;
  std::uint32_t source_nic = 0, destination_nic = 0;  // place in their servers
  std::vector<NetworkHop> network;                    // what a network link of each class costs
  Duration local_latency;                             // everything but the network links
  double cap = 0;                                     // payload bytes/s, infinity: none
  std::string cap_reason;
  fabric::DataPath sample;

  // What filling a staging pipeline adds to latency + bytes / rate.
  [[nodiscard]] Duration fill_time(Bytes size) const;
};

class PathTable {
 public:
  PathTable(const fabric::Fabric& fabric, const routing::Routes& routes, fabric::PathCosts costs);

  struct Resolved {
    const PathPattern* pattern = nullptr;  // lives until the next resolve()
    Duration latency;
    // A link may appear twice (staging). Parallel NVLinks have a share of the bytes each.
    std::vector<LinkShare> shares;
  };
  // False when there is no such path; refusal() then says why.
  bool resolve(const Connection& connection, Resolved& out);
  [[nodiscard]] const std::string& refusal() const { return refusal_; }

  // Servers with equal devices, wiring and classes have equal shapes.
  std::uint32_t shape_of(fabric::ServerId server);

  // source shape, place; destination shape, place; NIC places; via, mover, same server.
  using Key = std::array<std::uint32_t, 7>;
  // Connections of one key take the same kind of path.
  Key key_of(const Connection& connection);

 private:
  [[nodiscard]] bool same_shape(fabric::ServerId a, fabric::ServerId b) const;
  [[nodiscard]] std::uint32_t base_of(fabric::DeviceId device) const;
  bool stamp(const PathPattern& pattern, const Connection& connection, Resolved& out);
  bool stamp_local(const std::vector<PathPattern::LocalHop>& hops, const Connection& connection,
                   Resolved& out) const;
  bool stamp_network(const PathPattern& pattern, const Connection& connection, Resolved& out);
  [[nodiscard]] std::optional<PathPattern::NetworkHop> network_cost(const PathPattern& pattern,
                                                                    fabric::LinkId link) const;
  void fill_from_sample(const PathPattern& pattern, const Connection& connection, Resolved& out);
  bool query(const Connection& connection, const Key& key, Resolved& out);
  void emit(fabric::LinkId link, const PathPattern::LocalHop& cost,
            std::vector<LinkShare>& shares) const;
  [[nodiscard]] PathPattern::LocalHop cost_of(const fabric::Hop& hop, fabric::Mover mover) const;
  PathPattern learn(const Connection& connection, fabric::DataPath path) const;
  void learn_local(const Connection& connection, const fabric::Hop& hop, fabric::Mover mover,
                   std::vector<PathPattern::LocalHop>& hops, PathPattern& pattern) const;

  const fabric::Fabric* fabric_;
  const routing::Routes* routes_;
  fabric::PathCosts costs_;
  std::vector<std::uint32_t> server_shape_;
  std::vector<fabric::ServerId> shapes_;  // a representative of each
  std::map<Key, PathPattern> patterns_;
  std::map<Key, std::string> refusals_;  // of ways inside servers, which routes cannot change
  PathPattern one_off_;
  std::vector<fabric::LinkId> route_;
  std::vector<routing::LinkFraction> spread_;
  std::string refusal_;
};

}  // namespace weft::engine
