// InfiniBand reliable connection. A packet inside one subnet has no global header; the first packet
// of a write carries 16 B more (RETH), which is left out. Source: InfiniBand Architecture
// Specification, volume 1, chapters 5 to 9. The NIC pair is UCX's constant for EDR to XDR adapters.
#include "base/check.h"
#include "transport/transport.h"

namespace weft::transport {

namespace {

class Infiniband final : public Transport {
 public:
  std::string_view name() const override { return "infiniband"; }
  std::string_view summary() const override {
    return "native RDMA on its own lossless network; credits, no drops";
  }
  std::vector<HeaderPart> headers() const override {
    return {
        {"LRH", Bytes(8)},
        {"BTH", Bytes(12)},
        {"ICRC", Bytes(4)},
        {"VCRC", Bytes(2)},
    };
  }
  fabric::NetworkCosts costs(Bytes mtu) const override {
    CHECK(allows_mtu(mtu));
    fabric::NetworkCosts costs;
    costs.name = "infiniband";
    costs.mtu = mtu;
    costs.overhead = total_size(headers());
    costs.nic_pair = Duration::nanoseconds(600);
    costs.routable = true;
    costs.lossless = true;
    costs.rdma = true;
    return costs;
  }
  Bytes default_mtu() const override { return Bytes(4096); }
  bool allows_mtu(Bytes mtu) const override { return is_rdma_mtu(mtu); }
};

}  // namespace

const Transport& infiniband_transport() {
  static const Infiniband kTransport;
  return kTransport;
}

}  // namespace weft::transport
