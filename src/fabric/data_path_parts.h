// What the ways of data_path.h share: turning links into hops with their rates and latencies, and
// closing a path with its bandwidth, its limit and the sum of its latency. Private to fabric/.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "fabric/data_path.h"

namespace weft::fabric {

// How a leg uses a link.
struct LinkUse {
  Mover mover = Mover::copy_engine;
  bool read = false;  // the mover asks for the data: they ride in completions
  bool peer = false;  // PCIe traffic between two devices, neither end host memory
  double share = 1;   // of the leg's bytes
  int stripe = 0;
};

class PathBuilder {
 public:
  PathBuilder(const Fabric& fabric, const PathCosts& costs, const PathQuery& query, Via via);

  // Starts the next leg; the hops and caps that follow belong to it.
  void begin_leg(Mover mover, std::string what, Duration overhead = {});
  // Adds the hops of `links` to the leg, and their latency to the path.
  void add_links(std::span<const LinkId> links, const LinkUse& use);
  // A DMA read: the request's way out and the memory's answer before the data come.
  void add_read(std::span<const LinkId> links, LinkUse use, std::string memory, Duration access);
  void add_network(std::span<const LinkId> links, Bytes payload, Bytes overhead);
  // Latency of `links` under one name, for what travels without being payload (a doorbell).
  void add_crossing(std::string name, std::span<const LinkId> links);
  void add_part(std::string name, Duration time);
  void cap_leg(BitRate rate, std::string reason);  // keeps the lower of two

  // The text that `make` returns, when the query wants texts.
  template <typename Make>
  [[nodiscard]] std::string text(Make make) const {
    return words_ ? make() : std::string();
  }

  [[nodiscard]] Duration crossing_time(std::span<const LinkId> links) const;
  [[nodiscard]] DataPath& path() { return path_; }
  // Fills bandwidth, narrowest, limit and latency. Call last.
  [[nodiscard]] PathAnswer finish();

 private:
  [[nodiscard]] Hop make_hop(LinkId link, const LinkUse& use, bool after_bridge) const;
  [[nodiscard]] Duration forwarding(LinkId into) const {
    return forwarding_time(fabric_, costs_, into);
  }
  void find_limit();

  const Fabric& fabric_;
  const PathCosts& costs_;
  bool words_;
  DataPath path_;
};

PathAnswer refuse(std::string why);

// The CPU whose memory is nearest to `device` (itself when it is a CPU); invalid when none.
DeviceId host_memory_of(const Fabric& fabric, DeviceId device);

// One file each: nvlink, p2p, rdma and gdr, staged, tcp.
PathAnswer nvlink_path(const Fabric& fabric, const PathCosts& costs, const PathQuery& query);
PathAnswer p2p_path(const Fabric& fabric, const PathCosts& costs, const PathQuery& query);
PathAnswer rdma_path(const Fabric& fabric, const PathCosts& costs, const NetworkRoute& route,
                     const PathQuery& query);
PathAnswer gdr_path(const Fabric& fabric, const PathCosts& costs, const NetworkRoute& route,
                    const PathQuery& query);
PathAnswer staged_path(const Fabric& fabric, const PathCosts& costs, const NetworkRoute& route,
                       const PathQuery& query);
PathAnswer tcp_path(const Fabric& fabric, const PathCosts& costs, const NetworkRoute& route,
                    const PathQuery& query);

// The copy-engine legs that staging and sockets put before and after the network.
void add_copy_to_host(PathBuilder& builder, const Fabric& fabric, const PathCosts& costs,
                      DeviceId gpu, DeviceId host);
void add_copy_from_host(PathBuilder& builder, const Fabric& fabric, const PathCosts& costs,
                        DeviceId host, DeviceId gpu);

// Which NICs and network links join two ends, or why none do. The NICs are the pinned ones, else
// the nearest of each end, else, where no route joins those (rails or planes of their own), the
// nearest pair that one joins.
struct NetworkLegs {
  DeviceId source_nic, destination_nic;
  std::vector<LinkId> links;
  std::string refusal;
  std::string note;  // DataPath::note
};
NetworkLegs find_network(const Fabric& fabric, const NetworkCosts& network,
                         const NetworkRoute& route, const PathQuery& query);
// One-way time of both NICs: what their classes state, else half of the protocol's pair each.
Duration nic_pair_time(const Fabric& fabric, const NetworkCosts& network, const NetworkLegs& legs);

// One RDMA write from `source` to `destination` memory (gpu or cpu) as the next leg of `builder`.
void add_rdma_leg(PathBuilder& builder, const Fabric& fabric, const PathCosts& costs,
                  const NetworkLegs& network, DeviceId source, DeviceId destination);

}  // namespace weft::fabric
