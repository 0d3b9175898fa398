// RDMA over Converged Ethernet, version 2: InfiniBand transport in UDP/IPv4, so any router carries
// it. IPv6 would add 20 B, a VLAN tag 4 B. Source: IBTA, Annex A17 (RoCEv2), UDP port 4791. The NIC
// pair is UCX's InfiniBand constant and its 200 ns for RoCE.
#include "base/check.h"
#include "transport/transport.h"

namespace weft::transport {

namespace {

class RoceV2 final : public Transport {
 public:
  std::string_view name() const override { return "rocev2"; }
  std::string_view summary() const override {
    return "RDMA in UDP over IP; routable, wants a lossless or well controlled Ethernet";
  }
  std::vector<HeaderPart> headers() const override {
    return {
        {"preamble and gap", Bytes(20)},
        {"Ethernet", Bytes(14)},
        {"IPv4", Bytes(20)},
        {"UDP", Bytes(8)},
        {"BTH", Bytes(12)},
        {"ICRC", Bytes(4)},
        {"FCS", Bytes(4)},
    };
  }
  fabric::NetworkCosts costs(Bytes mtu) const override {
    CHECK(allows_mtu(mtu));
    fabric::NetworkCosts costs;
    costs.name = "rocev2";
    costs.mtu = mtu;
    costs.overhead = total_size(headers());
    costs.nic_pair = Duration::nanoseconds(800);
    costs.routable = true;
    costs.lossless = true;
    costs.rdma = true;
    return costs;
  }
  Bytes default_mtu() const override { return Bytes(4096); }
  bool allows_mtu(Bytes mtu) const override { return is_rdma_mtu(mtu); }
};

}  // namespace

const Transport& rocev2_transport() {
  static const RoceV2 kTransport;
  return kTransport;
}

}  // namespace weft::transport
