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
};

// One send of the exact view. Ranks index Group::gpus. Chunks index the n x channels pieces of the
// buffer (all_to_all: piece s*n+d of channel c travels from s to d).
struct Step {
  std::uint32_t from = 0, to = 0;
  std::uint32_t round = 0;  // sends of round r+1 may use what round r delivered
  std::uint32_t chunk = 0;
  std::uint16_t channel = 0;
  bool reduce = false;  // receiver adds; else it overwrites
  Bytes size;
};

// One edge of the fluid view.
struct Edge {
  std::uint32_t from = 0, to = 0;  // ranks
  std::uint16_t channel = 0;
  double bytes = 0;                   // payload
  fabric::DeviceId from_nic, to_nic;  // pinned by the channel when it crosses servers; else invalid
  bool multicast = false;             // NVLS: through the switch's reduction or multicast engine
};

struct Fluid {
  std::vector<Edge> edges;
  Duration latency;            // base plus dependent hops, from the constants
  double wire_factor = 1;      // protocol: LL 2, LL128 128/120, Simple 1
  std::optional<BitRate> cap;  // on the algorithm bandwidth (e.g. LL's maximum)
  std::string latency_text;    // "8.4 + 14 x 3.4 us", for --explain
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
