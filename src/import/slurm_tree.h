// The switches and nodes of a Slurm topology.conf, checked: every name known, no node under two
// leaves, no switch beneath itself. Blocks (topology/block) are leaves, and each size of BlockSizes
// beyond the first is a tier of switches over so many nodes. Source: Slurm's topology.conf manual.
// Leaves out: topology.yaml, dynamic nodes.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/errors.h"
#include "base/units.h"
#include "import/importer.h"

namespace weft::import {

struct SlurmSwitch {
  std::string name;
  SourcePosition where;
  std::optional<BitRate> rate;  // of the links beneath, from LinkSpeed
  std::vector<std::size_t> hosts, children;
  int tier = 0;  // leaves 1; 0: nothing beneath
};

struct SlurmTree {
  std::vector<SlurmSwitch> switches;
  std::vector<std::string> hosts;
  bool blocks = false;
  std::size_t speeds_taken_as_gbps = 0, speeds_passed_over = 0;
};

// Throws InputError with every fault.
SlurmTree read_slurm_tree(const Source& source, const Catalogue& catalogue);

// The first line that is not a comment opens a switch or a block.
bool looks_like_slurm_topology(std::string_view text);

}  // namespace weft::import
