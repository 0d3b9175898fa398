#include "import/network_dump.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "base/check.h"
#include "fabric/fabric_builder.h"
#include "fabric/pcie.h"

namespace weft::import {

namespace {

using fabric::DeviceClass;
using fabric::DeviceId;
using fabric::DeviceKind;
using fabric::LinkKind;
using Dump = NetworkDump;

// A switch with fewer hosts than this share of the median of its peers holds stray hosts (a subnet
// manager on a spine) and is no leaf.
constexpr double kStrayShare = 0.25;

// Tier 1: switches with hosts; others: one more than their nearest neighbour below.
std::vector<int> tiers_of(const Dump& dump) {
  std::vector<int> hosts(dump.switches.size(), 0);
  std::vector<std::vector<std::size_t>> neighbours(dump.switches.size());
  for (const Dump::Cable& cable : dump.cables) {
    if (cable.a.on_switch && cable.b.on_switch) {
      neighbours[cable.a.device].push_back(cable.b.device);
      neighbours[cable.b.device].push_back(cable.a.device);
    } else if (cable.a.on_switch || cable.b.on_switch) {  // not two hosts back to back
      ++hosts[cable.a.on_switch ? cable.a.device : cable.b.device];
    }
  }
  std::vector<int> some;
  for (const int count : hosts) {
    if (count > 0) some.push_back(count);
  }
  std::sort(some.begin(), some.end());
  const double least = some.empty() ? 0 : kStrayShare * some[some.size() / 2];
  std::vector<int> tier(dump.switches.size(), 0);
  std::vector<std::size_t> queue;
  for (std::size_t s = 0; s < tier.size(); ++s) {
    if (hosts[s] == 0 || hosts[s] < least) continue;
    tier[s] = 1;
    queue.push_back(s);
  }
  for (std::size_t at = 0; at < queue.size(); ++at) {
    for (const std::size_t next : neighbours[queue[at]]) {
      if (tier[next] != 0) continue;
      tier[next] = std::min(tier[queue[at]] + 1, 255);
      queue.push_back(next);
    }
  }
  for (std::size_t s = 0; s < tier.size(); ++s) {
    if (dump.switches[s].tier) tier[s] = *dump.switches[s].tier;
    tier[s] = std::max(tier[s], 1);
  }
  return tier;
}

int pcie_generation_for(BitRate rate) {
  for (int generation = 3; generation < fabric::kMaxPcieGeneration; ++generation) {
    if (fabric::pcie_rate(generation, 16) >= rate) return generation;
  }
  return fabric::kMaxPcieGeneration;
}

class NetworkBuild {
 public:
  NetworkBuild(const Dump& dump, const ImportInputs& inputs)
      : dump_(dump), inputs_(inputs), catalogue_(*inputs.catalogue) {}

  fabric::Fabric build() && {
    find_rates();
    add_hosts();
    add_switches();
    add_cables();
    for (const std::string& text : dump_.assumptions) builder_.assume(text);
    return std::move(builder_).build();
  }

 private:
  void find_rates() {
    rates_.resize(dump_.hosts.size());
    for (std::size_t h = 0; h < dump_.hosts.size(); ++h) {
      for (const Dump::Nic& nic : dump_.hosts[h].nics) rates_[h].push_back(nic.rate);
    }
    for (const Dump::Cable& cable : dump_.cables) {
      for (const Dump::End* end : {&cable.a, &cable.b}) {
        if (end->on_switch) continue;
        kind_ = cable.link.kind;
        BitRate& rate = rates_[end->device][end->nic];
        if (dump_.hosts[end->device].nics[end->nic].rate.bps() == 0)
          rate = std::max(rate, cable.link.raw_rate);
      }
    }
  }

  void add_hosts() {
    const std::size_t wanted =
        inputs_.host == nullptr ? 0 : inputs_.host->of_kind(DeviceKind::nic).size();
    std::size_t plain = 0, copies = 0, gpus = 0;
    for (std::size_t h = 0; h < dump_.hosts.size(); ++h) {
      const Dump::Host& host = dump_.hosts[h];
      if (wanted > 0 && host.nics.size() == wanted) {
        add_copy(host, *inputs_.host);
        ++copies;
      } else if (host.inside) {
        add_copy(host, *host.inside);
      } else {
        add_plain(h);
        ++plain;
        gpus += host.gpus ? host.nics.size() : 0;
      }
    }
    say_hosts(copies, plain, gpus);
  }

  void say_hosts(std::size_t copies, std::size_t plain, std::size_t gpus) {
    if (inputs_.host != nullptr) {
      builder_.assume(
          fmt::format("{} of {} hosts have as many NICs as the given server and are drawn as it",
                      copies, dump_.hosts.size()));
      if (plain > 0)
        builder_.assume(
            fmt::format("{} hosts with other numbers of NICs are drawn as one CPU with "
                        "NICs alone",
                        plain));
      return;
    }
    if (plain == 0) return;
    builder_.assume(
        gpus > 0
            ? "the inside of hosts is not given: one GPU to a NIC behind a PCIe switch, x16 links "
              "as "
              "fast as the NIC; --server TYPE draws hosts as that server"
            : "the source names no GPUs: hosts are one CPU with NICs; --server TYPE draws hosts as "
              "that server");
  }

  void add_copy(const Dump::Host& host, const fabric::Fabric& server) {
    const DeviceId first = builder_.append_server(server, host.name, true);
    std::vector<DeviceId> nics;
    for (const DeviceId nic : server.of_kind(DeviceKind::nic))
      nics.push_back(DeviceId(first.index() + nic.index()));
    for (std::size_t n = 0; n < nics.size(); ++n) label_nic(nics[n], host.nics[n]);
    nics_.push_back(std::move(nics));
  }

  void label_nic(DeviceId device, const Dump::Nic& nic) {
    if (!nic.name.empty()) builder_.set_label(device, "nic_name", nic.name);
    for (const auto& [key, value] : nic.labels) builder_.set_label(device, key, value);
  }

  [[nodiscard]] DeviceClass class_or(std::string_view model, std::string_view generic,
                                     DeviceKind kind) const {
    for (const std::string_view name : {model, generic}) {
      const CataloguePart* part = name.empty() ? nullptr : catalogue_.part(name);
      if (part != nullptr && part->device.kind == kind) return part->device;
    }
    DeviceClass c;
    c.kind = kind;
    c.model = generic;
    return c;
  }

  DeviceId add(const Dump::Host& host, std::string_view what, std::size_t n, const DeviceClass& c) {
    return builder_.add_device(builder_.device_class(c),
                               {fmt::format("{}/{}{}", host.name, what, n), 0, 0, false});
  }

  void add_plain(std::size_t h) {
    const Dump::Host& host = dump_.hosts[h];
    const std::string cpu_model =
        catalogue_.model_of_cpu({fabric::Vendor::unknown, "x86_64", 0, 0});
    builder_.begin_server();
    const DeviceId cpu = add(host, "cpu", 0, catalogue_.part(cpu_model)->device);
    const DeviceId bridge = add(host, "bridge", 0, catalogue_.host_bridge_of(cpu_model));
    std::vector<DeviceId> nics, gpus, switches;
    for (std::size_t n = 0; n < host.nics.size(); ++n) {
      DeviceClass nic = class_or("", "generic-nic", DeviceKind::nic);
      nic.ports = host.nics[n].ports;
      nic.port_rate = rates_[h][n];
      nic.port_kind = kind_;
      nics.push_back(add(host, "nic", n, nic));
      label_nic(nics[n], host.nics[n]);
      if (!host.gpus) continue;
      switches.push_back(
          add(host, "pcie", n, class_or("", "generic-pcie-switch", DeviceKind::pcie_switch)));
      gpus.push_back(add(host, "gpu", n, class_or(host.gpu_model, "unknown-gpu", DeviceKind::gpu)));
    }
    std::optional<DeviceId> chip;
    if (host.scale_up) chip = add(host, "nvswitch", 0, scale_up_chip());
    builder_.end_server();
    builder_.add_link({cpu, bridge}, builder_.link_class(catalogue_.on_die_link_of(cpu_model)));
    for (std::size_t n = 0; n < nics.size(); ++n) {
      const BitRate rate = rates_[h][n] * host.nics[n].ports;
      const auto pcie = builder_.link_class(fabric::pcie_link_class(pcie_generation_for(rate), 16));
      if (host.gpus) {
        builder_.add_link({bridge, switches[n]}, pcie);
        builder_.add_link({switches[n], gpus[n]}, pcie);
      }
      builder_.add_link({host.gpus ? switches[n] : bridge, nics[n]}, pcie);
      if (chip) builder_.add_link({gpus[n], *chip}, builder_.link_class(*host.scale_up));
    }
    nics_.push_back(std::move(nics));
  }

  static DeviceClass scale_up_chip() {
    DeviceClass c;
    c.kind = DeviceKind::nvswitch;
    c.model = "nvswitch";
    return c;
  }

  void add_switches() {
    const std::vector<int> tiers = tiers_of(dump_);
    for (std::size_t s = 0; s < dump_.switches.size(); ++s) {
      const Dump::Switch& given = dump_.switches[s];
      DeviceClass c = class_or(given.model, "unnamed", DeviceKind::network_switch);
      c.radix = given.radix;
      if (given.gateway) c.kind = DeviceKind::gateway;
      if (given.latency) c.forwarding_latency = *given.latency;
      if (given.buffer) c.buffer = *given.buffer;
      const DeviceId device = builder_.add_device(
          builder_.device_class(c), {given.name, static_cast<std::uint8_t>(tiers[s]), -1, false});
      for (const auto& [key, value] : given.labels) builder_.set_label(device, key, value);
      switches_.push_back(device);
    }
  }

  [[nodiscard]] DeviceId device_of(const Dump::End& end) const {
    return end.on_switch ? switches_[end.device] : nics_[end.device][end.nic];
  }

  // Label `ports`: the source's port numbers in the order of a device's network links.
  void add_cables() {
    std::map<DeviceId, std::string> ports;
    for (const Dump::Cable& cable : dump_.cables) {
      builder_.add_link({device_of(cable.a), device_of(cable.b)}, builder_.link_class(cable.link));
      for (const Dump::End* end : {&cable.a, &cable.b}) {
        if (end->port == 0) continue;
        std::string& list = ports[device_of(*end)];
        list += fmt::format("{}{}", list.empty() ? "" : " ", end->port);
      }
    }
    for (auto& [device, list] : ports) builder_.set_label(device, "ports", std::move(list));
  }

  const Dump& dump_;
  const ImportInputs& inputs_;
  const Catalogue& catalogue_;
  fabric::FabricBuilder builder_;
  LinkKind kind_ = LinkKind::infiniband;
  std::vector<std::vector<BitRate>> rates_;  // by host and NIC
  std::vector<std::vector<DeviceId>> nics_;  // by host
  std::vector<DeviceId> switches_;
};

}  // namespace

fabric::Fabric build_network(const NetworkDump& dump, const ImportInputs& inputs) {
  CHECK(inputs.catalogue != nullptr);
  return NetworkBuild(dump, inputs).build();
}

fabric::LinkClass network_link(const Catalogue& catalogue, LinkKind kind, BitRate rate) {
  if (const auto name = catalogue.network_link(kind, rate)) return *catalogue.link(*name);
  fabric::LinkClass link;
  link.kind = kind;
  link.name = fmt::format("{} {}", fabric::to_text(kind), to_text(rate));
  link.raw_rate = rate;
  link.flow_control =
      kind == LinkKind::infiniband ? fabric::FlowControl::credit : fabric::FlowControl::lossy;
  return link;
}

bool natural_less(std::string_view a, std::string_view b) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (!digit(a[i]) || !digit(b[j])) {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i, ++j;
      continue;
    }
    std::size_t m = i, n = j;
    while (i < a.size() && a[i] == '0') ++i;
    while (j < b.size() && b[j] == '0') ++j;
    m = i, n = j;
    while (m < a.size() && digit(a[m])) ++m;
    while (n < b.size() && digit(b[n])) ++n;
    if (m - i != n - j) return m - i < n - j;
    const int order = a.substr(i, m - i).compare(b.substr(j, n - j));
    if (order != 0) return order < 0;
    i = m, j = n;
  }
  if (a.size() - i != b.size() - j) return a.size() - i < b.size() - j;
  return a < b;
}

}  // namespace weft::import
