// DataPath: how bytes travel from one memory to another: which engine moves them over which links,
// direct or staged, who copies, and what each part costs. `weft path` prints it, engines execute
// it. Model: docs/models/data_path.md. A path is one or more legs; a leg is one mover (a copy
// engine, a NIC, a CPU) carrying bytes over a chain of links; legs of a staged path run as a
// pipeline over `slots` pinned buffers of `chunk` bytes. Leaves out: queueing (the engines'
// business), and hops through a peer GPU's memory, which no driver takes by itself.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/fabric.h"
#include "fabric/path_costs.h"

namespace weft::fabric {

// The legal ways. `automatic` takes the fastest legal one as the software stack would choose it.
//   nvlink  GPU to GPU over NVLink or xGMI, direct or through NVSwitches, in one server or several
//   p2p     direct DMA inside a server: GPU to GPU over PCIe, or GPU from and to pinned host memory
//   gdr     NICs read and write GPU memory themselves (GPUDirect RDMA); at least one end a GPU
//   rdma    NICs move host memory at both ends
//   staged  through pinned host memory: D2H and H2D inside a server, with RDMA between across
//           servers; a CPU end inside a server is pageable memory that a core copies
//   tcp     through the kernel's sockets, GPU memory staged
enum class Via { automatic, nvlink, p2p, gdr, rdma, staged, tcp };
std::string_view to_text(Via via);
std::optional<Via> parse_via(std::string_view text);
std::vector<std::string> via_names();

enum class Mover { copy_engine, sm, nic, cpu };
std::string_view to_text(Mover mover);

struct Hop {
  LinkId link;
  BitRate raw;               // line rate of the direction used
  BitRate effective;         // payload rate of the whole leg that this hop allows
  double wire_per_byte = 1;  // raw-rate bytes this link spends per payload byte = raw / effective
  // The same for the opposite direction of the cable: the requests of a DMA read.
  double reverse_wire_per_byte = 0;
  Duration latency;     // of the link and of the device at its far end when that forwards
  std::string lost_to;  // for people: "24 B header per 256 B write, 2.4 % DLLP"
  // A leg over parallel NVLinks is split over several chains used at once, each carrying its share
  // (counted in wire_per_byte). Hops of equal stripe are contiguous.
  int stripe = 0;
};

struct Leg {
  Mover mover = Mover::copy_engine;
  std::string what;  // "DMA read of host memory", "RoCEv2 write over rail 3"
  std::vector<Hop> hops;
  std::optional<BitRate> cap;  // a limit that is not a link (one core's copies, reads in flight)
  std::string cap_reason;
  Duration overhead;  // paid for each chunk, or once when not staged; part of DataPath::latency

  // Payload rate of the leg alone, overhead aside.
  [[nodiscard]] BitRate rate() const;
};

// A named part of the one-way latency of a small message; the parts add up to DataPath::latency.
struct LatencyPart {
  std::string name;  // "doorbell", "NIC", "leaf3 switching", "user-to-kernel copy"
  Duration time;
};

struct DataPath {
  DeviceId source, destination;
  Via via = Via::automatic;
  std::vector<Leg> legs;
  std::vector<LatencyPart> parts;
  Duration latency;                // sum of parts
  BitRate bandwidth;               // steady payload rate with nothing else running
  LinkId narrowest;                // link (or invalid when a cap that is no link binds)
  std::string limit;               // what binds, in words
  double cpu_s_per_gb = 0;         // CPU seconds spent per 1e9 payload bytes, both ends
  double dram_bytes_per_byte = 0;  // host memory traffic per payload byte
  int copies = 0;                  // copies of the payload made by CPUs
  Bytes chunk;                     // staging chunk; 0 when not staged
  int slots = 0;
  // What is out of the ordinary, for people: NICs that are not the nearest, and why.
  std::string note;

  // Time for n bytes alone. Two legs, m chunks that take t1 and t2: t1 + t2 + (m-1) max(t1, t2)
  // with two slots or more, m (t1 + t2) with one; a last smaller chunk is counted as it is.
  [[nodiscard]] Duration time(Bytes n) const;
};

// How the network carries bytes between two NICs: given by routing/ through this callback, so that
// fabric/ knows no routing. Appends the links in order; `entropy` separates flows for ECMP.
using NetworkRoute = std::function<void(DeviceId from_nic, DeviceId to_nic, std::uint64_t entropy,
                                        std::vector<LinkId>& out)>;

struct PathQuery {
  DeviceId source, destination;  // gpu or cpu (its memory)
  Via via = Via::automatic;
  Mover mover =
      Mover::copy_engine;  // who drives an intra-server GPU path: copy engine, or SMs (NCCL)
  std::optional<DeviceId> source_nic, destination_nic;  // pinned, else nearest by path class
  std::uint64_t entropy = 0;
  bool words = true;  // false: without the texts for people (what, lost_to, parts' names, limit)
};

// Either a path or why this way is not possible ("GPU P2P is off on rtx-4090").
struct PathAnswer {
  std::optional<DataPath> path;
  std::string refusal;
};

PathAnswer find_data_path(const Fabric& fabric, const PathCosts& costs, const NetworkRoute& route,
                          const PathQuery& query);
// Time from head in to head out of the device that `into` leads to; 0 where it does not forward.
Duration forwarding_time(const Fabric& fabric, const PathCosts& costs, LinkId into);

// Every Via except automatic, in the order above.
std::vector<std::pair<Via, PathAnswer>> find_all_data_paths(const Fabric& fabric,
                                                            const PathCosts& costs,
                                                            const NetworkRoute& route,
                                                            PathQuery query);

// Shortest chain of links inside one server between two devices, NVLink allowed or not; ties go to
// the wider chain, then lower ids. Empty when none. With `acs`, traffic between peers that turns at
// a switch with ACS redirect goes up to the host bridge and back.
struct InnerRouteOptions {
  bool use_nvlink = true;
  bool acs = true;
};
std::vector<LinkId> inner_route(const Fabric& fabric, DeviceId from, DeviceId to,
                                InnerRouteOptions options = {});

}  // namespace weft::fabric
