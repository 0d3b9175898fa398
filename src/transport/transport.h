// A transport tells the protocol at every fidelity. So far: framing and start-up cost (analytic)
// and rate cap (flow); the packet state machines come with the packet engine. One file and one row
// of list.def each. Byte counts: PROTOCOLS 3-5.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/path_costs.h"

namespace weft::transport {

struct HeaderPart {
  std::string name;  // "Ethernet", "IPv4", "UDP", "BTH", "ICRC", "FCS", "preamble and gap"
  Bytes size;
};

class Transport {
 public:
  virtual ~Transport() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;  // preset name: "rocev2"
  [[nodiscard]] virtual std::string_view summary() const = 0;
  [[nodiscard]] virtual std::vector<HeaderPart> headers() const = 0;  // of a middle data packet
  [[nodiscard]] virtual fabric::NetworkCosts costs(Bytes mtu) const = 0;
  [[nodiscard]] virtual Bytes default_mtu() const = 0;
};

std::span<const Transport* const> all_transports();
const Transport* find_transport(std::string_view name);

}  // namespace weft::transport
