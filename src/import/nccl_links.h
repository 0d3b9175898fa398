// Scale-up links of an NCCL topology file: nvlink and xgmi elements. Every GPU states its own; both
// ends of a link between GPUs must agree. Targets that are no GPU are NVSwitch chips or CPUs by
// their class; a driver in a virtual machine hides the chips behind one address.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/errors.h"
#include "base/xml.h"
#include "import/server_sketch.h"

namespace weft::import {

// One nvlink or xgmi element.
struct NcclLink {
  std::size_t gpu = 0;  // node of the GPU that states it
  fabric::LinkKind kind = fabric::LinkKind::nvlink;
  PciAddress target;
  std::string target_text;
  std::uint32_t target_class = 0;
  int count = 1;
  SourcePosition where;
};

// nullopt when (reported) malformed.
std::optional<NcclLink> read_nccl_link(const XmlElement& element, std::size_t gpu,
                                       Diagnostics& diagnostics);

// NVLinks to NVSwitch chips that have one name together: spread over chips once models are known.
struct HiddenChips {
  std::size_t gpu = 0;
  int links = 0;
};

class NcclLinks {
 public:
  NcclLinks(ServerSketch& sketch, const std::vector<NcclLink>& links, Diagnostics& diagnostics,
            std::vector<std::string>& notes)
      : sketch_(sketch), links_(links), diagnostics_(diagnostics), notes_(notes) {}

  // Adds the links to the sketch. `present`: addresses of everything in the file.
  std::vector<HiddenChips> join(const std::set<PciAddress>& present);

 private:
  using Pair = std::pair<std::size_t, std::size_t>;

  void add_direct(const NcclLink& link, std::size_t peer);
  void pair_up(Pair pair, const NcclLink& link);
  void no_peer(const NcclLink& link, const std::set<PciAddress>& present);

  ServerSketch& sketch_;
  const std::vector<NcclLink>& links_;
  Diagnostics& diagnostics_;
  std::vector<std::string>& notes_;
  std::map<Pair, const NcclLink*> direct_;
};

}  // namespace weft::import
