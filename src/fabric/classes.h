// What many devices or many links have in common: the kinds, and the physics of each class.
// Numbers come from data/catalogue (with source and confidence), never from here. The order of two
// classes has no meaning; it only lets the builder store equal classes once.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/units.h"

namespace weft::fabric {

enum class DeviceKind : std::uint8_t {
  gpu,
  cpu /* one per NUMA domain */,
  host_bridge,
  pcie_switch,
  nvswitch,
  nic,
  network_switch,
  ocs,
  gateway,
};
inline constexpr std::size_t kDeviceKindCount = 9;
std::string_view to_text(
    DeviceKind kind);  // "gpu", "pcie_switch", ... ("switch" for network_switch)

enum class LinkKind : std::uint8_t {
  pcie,
  nvlink,
  xgmi,
  c2c,
  inter_socket,
  on_die /* CPU to its own host bridge or memory */,
  ethernet,
  infiniband,
  optical_circuit,
  wide_area,
};
std::string_view to_text(LinkKind kind);
inline bool is_network(LinkKind k) {
  return k >= LinkKind::ethernet;
}

enum class FlowControl : std::uint8_t { lossy, pfc, credit };
std::string_view to_text(FlowControl flow_control);

enum class Vendor : std::uint8_t {
  unknown,
  nvidia,
  amd,
  intel,
  arm,
  ibm,
  zhaoxin,
  aws,
  mellanox,
  broadcom,
  huawei,
  google
};
std::string_view to_text(Vendor vendor);

using DeviceClassId = Id<struct DeviceClassTag>;
using LinkClassId = Id<struct LinkClassTag>;

struct DeviceClass {
  DeviceKind kind = DeviceKind::gpu;
  std::string model;  // catalogue name: "h100-sxm5-80gb", "pex88096", "quantum2"
  Vendor vendor = Vendor::unknown;
  Duration forwarding_latency;  // head in to head out, for devices that forward
  int radix = 0;                // switches: ports; 0 = not limited
  Bytes buffer;                 // switches: shared packet buffer
  bool reduces = false;         // network switches: add up what passes (SHARP), and are told to
  // gpu
  int compute_capability = 0;  // 80, 90, 100; AMD: gfx number (942); 0 unknown
  Bytes memory;
  bool peer_to_peer = true;     // driver allows GPU P2P over PCIe
  bool gpu_direct_rdma = true;  // gpu and nic: both must allow it
  bool multicast = false;       // gpu and nvswitch: NVLS (NVLink SHARP)
  // cpu
  std::string cpu_architecture;  // "x86_64", "arm64", "ppc64"
  int cpu_family = 0, cpu_model = 0;
  bool splits_p2p_tlps = false;  // host_bridge: forwards P2P as 64 B TLPs (Intel): rate x 5/6
  bool ats = false;              // nic/gpu: caches translations, so ACS does not redirect it
  // nic
  BitRate port_rate;  // per port
  int ports = 1;
  LinkKind port_kind = LinkKind::ethernet;  // nic: what its ports speak
  Duration nic_latency;                     // one way, doorbell excluded; see docs/models/rdma.md

  friend auto operator<=>(const DeviceClass&, const DeviceClass&) = default;
};

// Several functions on one PCIe card (a NIC with two ports) share its slot. The slot is a
// pcie_switch of this model, but neither a bridge on the way nor a delay.
inline constexpr std::string_view kCardSlotModel = "multifunction-adapter";
inline bool is_card_slot(const DeviceClass& device_class) {
  return device_class.model == kCardSlotModel;
}

// PCIe needs different overhead for a write (payload rides with the request) and a read (payload
// rides in completions); other links use `overhead` only.
struct Framing {
  Bytes max_payload;          // bytes of payload one packet carries; 0 = no framing
  Bytes overhead;             // wire bytes added to each packet (PCIe: posted write)
  Bytes read_max_payload;     // PCIe: completion payload (RCB and MPS bound)
  Bytes read_overhead;        // PCIe: per completion
  Bytes read_request;         // PCIe: largest read request (MRRS)
  Bytes request_overhead;     // PCIe: bytes of one read request, on the reverse direction
  double link_layer_tax = 0;  // share of the raw rate taken by ACK, credit and skip symbols

  friend auto operator<=>(const Framing&, const Framing&) = default;
};

struct LinkClass {
  LinkKind kind = LinkKind::pcie;
  std::string name;  // "pcie5 x16", "nvlink4 x18", "ndr 400G"
  BitRate raw_rate;  // one direction, after line coding, all lanes together
  Duration latency;  // propagation plus PHY/FEC, one way
  Framing framing;
  FlowControl flow_control = FlowControl::credit;
  Bytes buffer;        // receiver buffer per direction
  int generation = 0;  // pcie 1..7, nvlink 1..6
  int width = 1;       // pcie lanes, or parallel NVLinks bundled in this link
  // inter_socket: what PCIe peer-to-peer traffic gets across it, far below raw_rate (NCCL's
  // constants for QPI, UPI, xGMI); 0: no lower than raw_rate.
  BitRate peer_rate;

  friend auto operator<=>(const LinkClass&, const LinkClass&) = default;
};

}  // namespace weft::fabric
