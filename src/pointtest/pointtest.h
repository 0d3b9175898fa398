// Point-to-point tests as people run them: perftest, the OSU micro-benchmarks, bandwidthTest,
// nvbandwidth, p2pBandwidthLatencyTest, netperf. Each says what the tool would print between two
// ends of a cluster, for one message size. A family is one file and one row of list.def; it offers
// tests that share a model. All stand on fabric::DataPath (which links, what rate and framing they
// leave) and on Constants (constants.h: what a GPU, NIC, CPU or protocol of a class adds).
// Leaves out: other traffic on the links (the flow engine's business) and the spread of repeats.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/data_path.h"
#include "pointtest/constants.h"

namespace weft::pointtest {

// Where and how a test runs.
struct Question {
  const fabric::Fabric* fabric = nullptr;
  const fabric::PathCosts* costs = nullptr;
  const Constants* constants = nullptr;
  fabric::NetworkRoute route;
  fabric::PathQuery path;  // ends, pinned NICs, via; a mover for GPU copies
  bool bidirectional = false;
  bool read = false;        // the one who moves the data asks for it (a get, an RDMA read)
  bool peer_access = true;  // GPUs may reach each other's memory (p2pBandwidthLatencyTest on/off)
  bool interleave = true;   // several NICs: spread every message, or fill one NIC first
  int pairs = 1;            // pairs of processes that run the test at once
  int queue_pairs = 1;      // of verbs tests
  int messages = 1;         // puts under way together
  int rails = 1;            // NICs a put may use
  std::optional<Bytes> chunk;  // of staging, in place of the protocol's
};

// What the tool would print. A latency test fills time, a bandwidth test also the rate: the sum
// over pairs and directions, as the tools print it.
struct Answer {
  Duration time;        // of one message
  double gb_per_s = 0;  // 1 GB = 1e9 B
  std::string way;      // "gdr, node0/nic0 to node1/nic0"
  std::string limit;    // what binds
  std::string refusal;  // why the test cannot run there; then nothing else is set
};

enum class Prints { latency, bandwidth };

struct Test {
  std::string_view name;  // "ib_write_lat"
  Prints prints;
  std::string_view summary;
};

class Family {
 public:
  virtual ~Family() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;  // "verbs"
  [[nodiscard]] virtual std::span<const Test> tests() const = 0;
  [[nodiscard]] virtual Answer answer(const Test& test, const Question& question,
                                      Bytes size) const = 0;
};

std::span<const Family* const> all_families();

struct Found {
  const Family* family = nullptr;
  const Test* test = nullptr;
};
// By the tool's name; nullopt when there is none.
std::optional<Found> find_test(std::string_view name);
std::vector<std::string> test_names();

// The CPU whose memory is nearest to a device, itself when it is one.
fabric::DeviceId host_memory_of(const fabric::Fabric& fabric, fabric::DeviceId device);

}  // namespace weft::pointtest
