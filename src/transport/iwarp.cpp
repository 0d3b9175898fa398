// iWARP: RDMA over an offloaded TCP connection. One framed unit fills one segment: 2 B length and 4
// B CRC around a tagged header of 14 B and payload padded to 4 B; stream markers are off, as all
// NICs negotiate. Sources: RFC 5040 (RDMAP), RFC 5041 (DDP), RFC 5044 (MPA), RFC 9293 (TCP).
#include "base/check.h"
#include "transport/transport.h"

namespace weft::transport {

namespace {

class Iwarp final : public Transport {
 public:
  std::string_view name() const override { return "iwarp"; }
  std::string_view summary() const override {
    return "RDMA over offloaded TCP; plain lossy Ethernet, higher latency";
  }
  std::vector<HeaderPart> headers() const override {
    return {
        {"preamble and gap", Bytes(20)},
        {"Ethernet", Bytes(14)},
        {"IPv4", Bytes(20)},
        {"TCP", Bytes(20)},
        {"MPA length", Bytes(2)},
        {"DDP and RDMAP", Bytes(14)},
        {"MPA CRC", Bytes(4)},
        {"FCS", Bytes(4)},
    };
  }
  fabric::NetworkCosts costs(Bytes mtu) const override {
    CHECK(allows_mtu(mtu));
    fabric::NetworkCosts costs;
    costs.name = "iwarp";
    // IPv4 and TCP take 40 B of the IP MTU, the framed unit 20 B more; payload in whole words.
    const std::int64_t payload = (mtu.count() - 60) / 4 * 4;
    costs.mtu = Bytes(payload);
    costs.overhead = total_size(headers());
    // RoCE's pair and 200 ns at each end for TCP state and the CRC over the payload: an estimate.
    costs.nic_pair = Duration::nanoseconds(1200);
    costs.routable = true;
    costs.lossless = false;
    costs.rdma = true;
    return costs;
  }
  Bytes default_mtu() const override { return Bytes(9000); }
  bool allows_mtu(Bytes mtu) const override { return is_ip_mtu(mtu); }
};

}  // namespace

const Transport& iwarp_transport() {
  static const Iwarp kTransport;
  return kTransport;
}

}  // namespace weft::transport
