// A transport tells the protocol at every fidelity. So far: framing and start-up cost (analytic)
// and rate cap (flow); the packet state machines come with the packet engine. One file and one row
// of list.def each, and a page docs/models/NAME.md with the sources of its byte counts.
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
  // Everything on the wire around the payload of a packet in the middle of a message.
  [[nodiscard]] virtual std::vector<HeaderPart> headers() const = 0;
  // `mtu` is what users set: the RDMA MTU (256 to 4096, payload only) for InfiniBand and RoCE, the
  // IP MTU (1500, 9000) for what runs over TCP. NetworkCosts::mtu is the payload it leaves.
  // REQUIRES allows_mtu(mtu).
  [[nodiscard]] virtual fabric::NetworkCosts costs(Bytes mtu) const = 0;
  [[nodiscard]] virtual Bytes default_mtu() const = 0;
  [[nodiscard]] virtual bool allows_mtu(Bytes mtu) const = 0;
};

Bytes total_size(std::span<const HeaderPart> headers);
// 256, 512, 1024, 2048 or 4096: what InfiniBand and RoCE can be set to.
bool is_rdma_mtu(Bytes mtu);
// IPv4 needs 68 at least; 9216 is the largest that data-centre Ethernet carries.
bool is_ip_mtu(Bytes mtu);

std::span<const Transport* const> all_transports();
const Transport* find_transport(std::string_view name);

}  // namespace weft::transport
