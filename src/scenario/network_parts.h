// Links and switches of a cluster file, looked up in the catalogue and completed.
#pragma once

#include "import/cluster_yaml.h"
#include "scenario/library.h"

namespace weft::scenario {

class NetworkParts {
 public:
  NetworkParts(const import::Catalogue& catalogue, Diagnostics& diagnostics)
      : catalogue_(catalogue), diagnostics_(diagnostics) {}

  // The class of a link as the file states it; `fallback` fills what it leaves open (the NIC's
  // port).
  fabric::LinkClass link(const import::ClusterSpec::Link& link, const fabric::LinkClass& fallback);
  // The class of a switch whose ports run at `rate`: the radix of its breakout at that rate.
  fabric::DeviceClass network_switch(const import::ClusterSpec::Switch& given, BitRate rate);
  // Switches reduce in the network (SHARP); without, none does. One that cannot is a fault.
  void enable_sharp(const SourcePosition& where) { sharp_at_ = where; }
  // The link that a NIC's port speaks, by its class.
  fabric::LinkClass port_of(const fabric::DeviceClass& nic);

 private:
  fabric::LinkClass named_or_plain(fabric::LinkKind kind, BitRate rate);

  const import::Catalogue& catalogue_;
  Diagnostics& diagnostics_;
  std::optional<SourcePosition> sharp_at_;
};

// An ideal switch: no radix, no buffer limit, the typical latency of its kind.
fabric::DeviceClass ideal_switch();

}  // namespace weft::scenario
