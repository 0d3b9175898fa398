// What a network looks like as a whole: tiers, radix, hosts per leaf, rails, planes, speeds found,
// and what is odd beside its peers: cables missing between two switches, a leaf with fewer uplinks,
// slow cables, hosts with fewer NICs, a gap in a grid of names.
// Model: two neighbouring tiers of one connected part are expected to be joined alike, so the
// number of cables that most pairs have is what every pair should have; where less than half of
// the pairs are joined (torus, dragonfly) only totals per switch are compared. Leaves out: bit
// errors, routing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fabric/fabric.h"

namespace weft::fabric {

struct NetworkSurvey {
  struct Range {
    std::int64_t least = 0, most = 0;
  };
  struct Tier {
    int tier = 0;
    std::size_t switches = 0;
    std::vector<int> radixes;          // found, ascending; 0 unknown
    Range ports_used, hosts, uplinks;  // per switch; hosts counts cables to NICs
    std::size_t cables_up = 0;
  };
  struct Speed {
    std::string between;  // "hosts - tier 1"
    std::string link;     // "4xNDR"
    BitRate rate;
    std::size_t cables = 0;
  };
  struct Rail {
    int number = 0;
    std::size_t leaves = 0, nics = 0;
  };
  struct MissingCables {
    std::string lower, upper;
    std::int64_t present = 0, expected = 0;
  };
  struct Finding {
    std::string kind;  // "missing_links", "slow_link", "few_uplinks", "few_nics", "name_gap", ...
    std::string text;
  };
  std::size_t hosts = 0, nics = 0, gpus = 0, switches = 0, cables = 0;
  std::int64_t usual_nics = 0;  // per host
  std::vector<Tier> tiers;
  std::vector<Speed> speeds;
  std::vector<Rail> rails;          // empty: leaves mix rails
  std::vector<std::size_t> planes;  // switches of each connected part, largest first
  std::vector<MissingCables> missing;
  std::int64_t missing_cables = 0, expected_cables = 0;  // between tiers
  double worst_oversubscription = 0;                     // bandwidth down over up, of a leaf
  std::string worst_leaf;
  std::vector<Finding> findings;
};

NetworkSurvey survey_network(const Fabric& fabric);

}  // namespace weft::fabric
