// Emitter row `ibsim_net`: every switch and NIC with its cables, for ibsim, so that a real subnet
// manager can route the fabric.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "emit/emitter.h"
#include "emit/network_ports.h"

namespace weft::emit {

namespace {

using fabric::DeviceId;
using fabric::DeviceKind;

class IbsimNet final : public Emitter {
 public:
  [[nodiscard]] std::string_view name() const override { return "ibsim_net"; }
  [[nodiscard]] std::string_view summary() const override {
    return "network file of ibsim, for opensm and the InfiniBand tools";
  }
  [[nodiscard]] std::string write(const fabric::Fabric& fabric,
                                  const SourcePosition& asked_at) const override {
    const std::vector<DeviceId> devices = network_devices(fabric);
    if (devices.empty())
      throw InputError(asked_at, "there is no network in this source", "name a cluster");
    std::map<fabric::LinkId, int> number;
    for (const DeviceId device : devices) {
      for (const NetworkPort& port : network_ports(fabric, device)) number[port.link] = port.number;
    }
    std::string out = "# ibsim network file written by weft\n";
    for (const DeviceId device : devices) out += record(fabric, device, number);
    return out;
  }

 private:
  static std::string record(const fabric::Fabric& fabric, DeviceId device,
                            const std::map<fabric::LinkId, int>& number) {
    const bool nic = fabric.kind(device) == DeviceKind::nic;
    int ports = nic ? fabric.device_class(device).ports : fabric.device_class(device).radix;
    std::string lines;
    for (const NetworkPort& port : network_ports(fabric, device)) {
      ports = std::max(ports, port.number);
      const auto peer = number.find(fabric::reverse(port.link));
      if (peer == number.end()) continue;
      lines += fmt::format("[{}]\t\"{}\"[{}]\n", port.number, fabric.name(fabric.to(port.link)),
                           peer->second);
    }
    return fmt::format("\n{}\t{} \"{}\"\n{}", nic ? "Hca" : "Switch", ports, fabric.name(device),
                       lines);
  }
};

}  // namespace

const Emitter& ibsim_net_emitter() {
  static const IbsimNet kEmitter;
  return kEmitter;
}

}  // namespace weft::emit
