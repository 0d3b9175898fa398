// A collective algorithm gives two views of itself: exact steps (who sends which chunk to whom,
// after what) and its fluid form (bytes per edge and the depth of dependent latency). A conformance
// test asserts that both carry the same bytes and that a symbolic run of the steps leaves the right
// data on every rank. One file and one row of list.def each.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collective/channels.h"
#include "collective/constants.h"
#include "work/work.h"

namespace weft::collective {

enum class Protocol : std::uint8_t { ll, ll128, simple };
std::string_view to_text(Protocol p);
std::optional<Protocol> parse_protocol(std::string_view text);

struct Request {
  work::CollectiveKind kind = work::CollectiveKind::all_reduce;
  Bytes size;  // nccl-tests' size column (work/work.h)
  std::uint32_t root = 0;
  Protocol protocol = Protocol::simple;
  bool in_place = false;                // no rank copies its own share
  const work::MoeShape* moe = nullptr;  // of moe_dispatch and moe_combine
};

// One send of the exact view. Ranks index Group::gpus. (channel, chunk) names a piece of the
// buffer; chunk < n, except all_to_all and send_recv: chunk s*n+d travels from s to d.
struct Step {
  std::uint32_t from = 0, to = 0;
  std::uint32_t round = 0;  // sends of round r+1 may use what round r delivered
  std::uint32_t chunk = 0;
  std::uint16_t channel = 0;
  bool reduce = false;      // receiver adds; else it overwrites
  bool in_switch = false;   // NVLS: reduced (reduce) or multicast (not) by the NVSwitch
  bool in_network = false;  // SHARP: the same by the network's switches
  Bytes size;
};

// The other end of an edge that ends in the NVSwitches: Edge::from or Edge::to, never both.
inline constexpr std::uint32_t kSwitchPlane = 0xffffffffu;

// One edge of the fluid view. Shapes:
//  - from and to are ranks: bytes travel from one GPU's memory to the other's.
//  - multicast, to == kSwitchPlane: bytes that `from` puts on its NVLinks towards the switches.
//  - multicast, from == kSwitchPlane: bytes that `to` takes from its NVLinks.
// A multicast edge with a NIC ends in the network's switches instead (SHARP): bytes that a GPU puts
// through that NIC, or takes from it; edges of one channel are added up in one tree of switches.
// PXN (a NIC that is near another GPU of the node) is written out as two edges, the NVLink hop
// (relay) and the hop that crosses the network from the relaying GPU; both keep `origin`.
struct Edge {
  std::uint32_t from = 0, to = 0;  // ranks, or kSwitchPlane
  std::uint16_t channel = 0;
  double bytes = 0;                     // payload
  fabric::DeviceId from_nic, to_nic;    // pinned by the channel when it crosses nodes; else invalid
  bool multicast = false;               // NVLS: through the switch's reduction or multicast engine
  bool relay = false;                   // first half of a PXN hop: `to` only passes the bytes on
  std::uint32_t origin = kSwitchPlane;  // PXN: rank whose bytes these are; else kSwitchPlane
  [[nodiscard]] bool in_network() const {
    return multicast && (from_nic.valid() || to_nic.valid());
  }
};

// Predicted time = latency + max over links of (bytes on it x factor) / NCCL-effective rate of the
// link, not faster than `cap` allows. The factor is `wire_factor` for edges inside a node (NVLink,
// xGMI, PCIe) and `network_wire_factor` for edges through NICs, their PCIe links included. Both
// already hold the protocol's overhead divided by the measured efficiency, `latency` already the
// measured scale: engines need no further constants. Effective rate of NVLink and xGMI:
// nccl_link_gb_per_s (channels.h).
struct Fluid {
  std::vector<Edge> edges;
  Duration latency;                // of NCCL's model, times the measured latency scale
  double wire_factor = 1;          // protocol (LL 2, LL128 128/120, Simple 1) / efficiency
  double network_wire_factor = 1;  // the same protocol factor / efficiency of NIC and stack
  std::optional<BitRate> cap;      // on size / time (LL's maximum, what a tree's SMs move)
  std::string latency_text;        // "(8.4 + 14 x 3.4) x 1.03 us", for --explain
};

class Algorithm {
 public:
  virtual ~Algorithm() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;  // "ring"
  [[nodiscard]] virtual std::string_view summary() const = 0;
  // Empty when it can run, else why not ("needs NVSwitch with multicast on every GPU").
  [[nodiscard]] virtual std::string refuse(const Request& request,
                                           const ChannelPlan& plan) const = 0;
  virtual void steps(const Request& request, const ChannelPlan& plan,
                     const std::function<void(const Step&)>& emit) const = 0;
  [[nodiscard]] virtual Fluid fluid(const Request& request, const ChannelPlan& plan,
                                    const Constants& constants) const = 0;
};

std::span<const Algorithm* const> all_algorithms();
const Algorithm* find_algorithm(std::string_view name);

}  // namespace weft::collective
