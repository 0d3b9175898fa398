// RDMA over Converged Ethernet, version 1: InfiniBand's global header straight in an Ethernet frame
// (Ethertype 0x8915), so no router can carry it. Source: IBTA, Annex A16 (RoCE).
#include "base/check.h"
#include "transport/transport.h"

namespace weft::transport {

namespace {

class RoceV1 final : public Transport {
 public:
  std::string_view name() const override { return "rocev1"; }
  std::string_view summary() const override {
    return "RDMA in bare Ethernet frames; stays inside one subnet";
  }
  std::vector<HeaderPart> headers() const override {
    return {
        {"preamble and gap", Bytes(20)},
        {"Ethernet", Bytes(14)},
        {"GRH", Bytes(40)},
        {"BTH", Bytes(12)},
        {"ICRC", Bytes(4)},
        {"FCS", Bytes(4)},
    };
  }
  fabric::NetworkCosts costs(Bytes mtu) const override {
    CHECK(allows_mtu(mtu));
    fabric::NetworkCosts costs;
    costs.name = "rocev1";
    costs.mtu = mtu;
    costs.overhead = total_size(headers());
    costs.nic_pair = Duration::nanoseconds(800);
    costs.routable = false;
    costs.lossless = true;
    costs.rdma = true;
    return costs;
  }
  Bytes default_mtu() const override { return Bytes(4096); }
  bool allows_mtu(Bytes mtu) const override { return is_rdma_mtu(mtu); }
};

}  // namespace

const Transport& rocev1_transport() {
  static const RoceV1 kTransport;
  return kTransport;
}

}  // namespace weft::transport
