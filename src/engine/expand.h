// Turns an op of the work into fluid: bytes to move and what each byte takes of every link.
// A transfer becomes one flow per queue pair over the links of its data path. A collective becomes
// a single flow over all links it uses; its rate is in bytes of the op's size, so alone it takes
//   latency + max over links of (bytes on the link x factor) / (rate of the link),
// the definition of docs/models/collectives.md. Both engines expand alike, so that they differ in
// sharing only. Leaves out: phases of a collective that use different links at different times.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "engine/path_table.h"

namespace weft::engine {

struct Expansion {
  static constexpr double kUnlimited = std::numeric_limits<double>::infinity();

  struct Flow {
    std::uint32_t begin = 0, end = 0;  // its links: shares[begin, end), each link once
    double bytes = 0;
    double weight = 1;
  };
  Duration latency;  // before the first byte, and what filling a pipeline adds
  std::vector<Flow> flows;
  std::vector<LinkShare> shares;
  double cap = kUnlimited;  // bytes/s of all flows together
  std::string cap_name;     // "one CPU core"
  // Transfers.
  fabric::DeviceId from, to;
  // Collectives.
  std::string algorithm, protocol;
  int channels = 0;

  // Time that the links (and the cap) need for all flows together with nothing else running.
  struct Load {
    double seconds = 0;
    fabric::LinkId link;  // of the longest load; invalid when the cap binds
  };
  [[nodiscard]] Load heaviest_load(const fabric::Fabric& fabric) const;
};

class Expander {
 public:
  explicit Expander(const Setup& setup);
  ~Expander();
  Expander(const Expander&) = delete;
  Expander& operator=(const Expander&) = delete;

  // The expansion of a transfer or collective; valid until the next call. Throws InputError when
  // the fabric has no way to carry it or what the user forces cannot run.
  const Expansion& expand(work::OpId op);

  // Which algorithm and protocol a collective runs, and over which channels: for engines that
  // execute its steps. `plan` lives as long as the expander. Throws as expand() does.
  struct Chosen {
    const collective::ChannelPlan* plan = nullptr;
    const collective::Algorithm* algorithm = nullptr;
    collective::Request request;
    int channels = 0;
  };
  Chosen choose(work::OpId op, const work::CollectiveOp& collective);

 private:
  struct LinkTotals;
  using CollectiveKey = std::tuple<std::uint32_t, int, std::int64_t, std::uint32_t, std::string,
                                   std::string, int, bool, bool, std::optional<work::MoeShape>>;

  void expand_transfer(work::OpId op, const work::Transfer& transfer);
  const Expansion& expand_collective(work::OpId op, const work::CollectiveOp& collective);
  Expansion build_collective(work::OpId op, const work::CollectiveOp& collective);
  const collective::ChannelPlan& plan_of(const work::CollectiveOp& op);
  void take_totals(double size, Expansion& out);
  void add_edge(work::OpId op, const collective::Edge& edge, const collective::Fluid& fluid,
                const collective::ChannelPlan& plan);
  void add_path(double bytes, const collective::Fluid& fluid, const collective::ChannelPlan& plan);
  void add_switch_edge(const collective::Edge& edge, const collective::Fluid& fluid,
                       const collective::ChannelPlan& plan);
  // Reductions in the network (expand_in_network.cpp).
  void add_reductions(work::OpId op, const collective::Fluid& fluid,
                      const collective::ChannelPlan& plan);
  void add_reduction(work::OpId op, std::uint32_t channel,
                     const std::vector<const collective::Edge*>& edges,
                     const collective::Fluid& fluid, const collective::ChannelPlan& plan);
  bool resolve_to_switch(const collective::Edge& edge,
                         const std::vector<const collective::Edge*>& edges,
                         const collective::ChannelPlan& plan);
  fabric::DeviceId cut_at_switch(bool up);
  void add_memory_link(fabric::LinkId link, double bytes, const collective::Fluid& fluid,
                       const collective::ChannelPlan& plan);
  [[nodiscard]] fabric::DeviceId gpu_of(work::RankId rank) const;
  [[noreturn]] void refuse(work::OpId op, const std::string& why) const;

  const Setup* setup_;
  PathTable paths_;
  PathTable::Resolved resolved_;
  Expansion scratch_;
  std::unique_ptr<LinkTotals> totals_;
  double protocol_factor_ = 1;  // wire bytes per payload byte of the collective's protocol
  double path_cap_ = 0;         // least cap of a path, as runs of the op per second
  std::string path_cap_name_;
  std::map<std::tuple<std::uint32_t, int, bool>, collective::ChannelPlan> plans_;
  std::map<CollectiveKey, Expansion> collectives_;
  std::size_t cached_shares_ = 0;
};

}  // namespace weft::engine
