// TCP in the kernel, with timestamps (12 B of options). What it costs beyond the wire (calls,
// copies, interrupts) is in fabric/path_costs.h. Sources: RFC 9293, RFC 7323, IEEE 802.3.
#include "base/check.h"
#include "transport/transport.h"

namespace weft::transport {

namespace {

class Tcp final : public Transport {
 public:
  std::string_view name() const override { return "tcp"; }
  std::string_view summary() const override {
    return "kernel TCP through sockets; runs everywhere, a core copies every byte";
  }
  std::vector<HeaderPart> headers() const override {
    return {
        {"preamble and gap", Bytes(20)},
        {"Ethernet", Bytes(14)},
        {"IPv4", Bytes(20)},
        {"TCP", Bytes(20)},
        {"TCP timestamps", Bytes(12)},
        {"FCS", Bytes(4)},
    };
  }
  fabric::NetworkCosts costs(Bytes mtu) const override {
    CHECK(allows_mtu(mtu));
    fabric::NetworkCosts costs;
    costs.name = "tcp";
    costs.mtu = mtu - Bytes(52);
    costs.overhead = total_size(headers());
    costs.nic_pair = Duration::nanoseconds(800);
    costs.routable = true;
    costs.lossless = false;
    costs.rdma = false;
    return costs;
  }
  Bytes default_mtu() const override { return Bytes(9000); }
  bool allows_mtu(Bytes mtu) const override { return is_ip_mtu(mtu); }
};

}  // namespace

const Transport& tcp_transport() {
  static const Tcp kTransport;
  return kTransport;
}

}  // namespace weft::transport
