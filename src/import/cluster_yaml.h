// The cluster file (`weft: cluster/1`): which servers, how the network joins them, which protocol
// stack runs. Documented in docs/cluster-file.md. Parsing gives plain data; every name that needs
// looking up (server types, topologies, switch models, links, stacks) stays text with its position,
// and scenario/ looks it up and builds. Leaves out: several networks in one cluster (storage,
// management).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/errors.h"
#include "base/units.h"
#include "fabric/classes.h"

namespace weft::import {

// A word of the file that is looked up elsewhere.
struct NameAt {
  std::string text;
  SourcePosition where;
};

struct ClusterSpec {
  struct ServerGroup {
    NameAt type;                     // a shipped server's name, or the path of any importer's file
    std::vector<std::string> names;  // one a server, unique in the file
    SourcePosition where;
  };

  // Either `name` (of the catalogue) or kind and rate; the rest overrides or completes them.
  struct Link {
    std::optional<NameAt> name;
    std::optional<fabric::LinkKind> kind;
    std::optional<BitRate> rate;
    std::optional<double> length_m;
    std::optional<NameAt> medium;     // "fibre", "copper"
    std::optional<Duration> latency;  // PHY and FEC, without the cable
    SourcePosition where;
  };

  // A catalogue model, figures that override it, or figures alone.
  struct Switch {
    std::optional<NameAt> model;
    std::optional<int> radix;
    std::optional<Duration> latency;
    std::optional<Bytes> buffer;
    SourcePosition where;
  };

  struct Parameter {
    std::string name;
    double value = 0;  // "2:1" is 2
    SourcePosition name_at, value_at;
  };

  struct Network {
    std::optional<NameAt> topology;  // always there unless links are drawn
    std::optional<Link> link;        // NIC to first switch; drawn links: the default
    std::optional<Link> uplink;      // switch to switch; none: as `link`
    std::vector<Switch> switches;    // by tier, leaf first; one for all; empty: not given
    std::optional<NameAt> routing;   // "ecmp", "spray", ...; none: ecmp
    bool sharp = false;              // switches that can reduce in the network do
    SourcePosition sharp_at;
    std::vector<Parameter> parameters;  // of the topology, names not checked
    SourcePosition where;
  };

  // GPUs of several servers behind common NVLink switches: every GPU has links_per_chip links to
  // each of the domain's chips.
  struct ScaleUp {
    std::optional<NameAt> chip;           // catalogue model of the switch chip
    std::int64_t servers_per_domain = 0;  // 0: all servers
    std::int64_t chips = 0;
    std::int64_t links_per_chip = 1;
    SourcePosition where;
  };

  struct DrawnSwitch {
    std::string name;
    Switch figures;
    int tier = 1;
    SourcePosition where;
  };
  struct DrawnEnd {
    std::string device;  // a switch or a server of this file
    std::string port;    // of a switch: any name; of a server: "nic3"
    bool on_server = false;
    SourcePosition where;
  };
  struct DrawnLink {
    std::array<DrawnEnd, 2> ends;
    std::optional<Link> link;  // none: the network's
    SourcePosition where;
  };

  std::string file;
  std::optional<std::string> description;
  std::vector<ServerGroup> servers;
  std::optional<NameAt> stack;
  std::vector<NameAt> catalogues;  // files of parts over the shipped ones, key `catalogue`
  std::optional<Network> network;  // key `fabric`
  std::optional<ScaleUp> scale_up;
  std::vector<DrawnSwitch> switches;
  std::vector<DrawnLink> links;

  [[nodiscard]] std::size_t server_count() const;
};

// True when the first line that is no comment says `weft: cluster/...`.
bool is_cluster_file(std::string_view text);

// Throws InputError with every fault of the file.
ClusterSpec parse_cluster(std::string_view text, const std::string& file);

}  // namespace weft::import
