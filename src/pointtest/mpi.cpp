// The OSU micro-benchmarks over an MPI that stands on verbs or on libfabric: eager messages up to a
// limit, a rendezvous with RDMA above it, large messages spread over several NICs. Model:
// docs/models/mpi.md. Sockets are sockets.cpp's.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "pointtest/ends.h"
#include "pointtest/verbs_time.h"

namespace weft::pointtest {
namespace {

constexpr std::array<Test, 5> kTests = {{
    {"osu_latency", Prints::latency, "OSU: one-way latency of a ping-pong"},
    {"osu_multi_lat", Prints::latency, "OSU: the same with several pairs at once"},
    {"osu_bw", Prints::bandwidth, "OSU: windows of 64 messages"},
    {"osu_bibw", Prints::bandwidth, "OSU: both ways at once"},
    {"osu_mbw_mr", Prints::bandwidth, "OSU: several pairs at once, summed"},
}};

struct Lanes {
  std::vector<Wire> wires;
  bool gpu = false;
  std::string refusal;
  [[nodiscard]] double rate(int count) const {
    double sum = 0;
    for (int i = 0; i < std::min(count, static_cast<int>(wires.size())); ++i)
      sum += wires[static_cast<std::size_t>(i)].rate();
    return sum;
  }
};

Lanes find_lanes(const Question& question, const MpiCosts** mpi) {
  Lanes lanes;
  lanes.wires = find_wires(question, 1);
  lanes.refusal = lanes.wires[0].refusal;
  if (!lanes.refusal.empty()) return lanes;
  *mpi = &mpi_costs(question, lanes.wires[0].source_nic);
  if ((*mpi)->rails > 1) lanes.wires = find_wires(question, (*mpi)->rails);
  lanes.gpu = lanes.wires[0].source_gpu || lanes.wires[0].destination_gpu;
  return lanes;
}

// What all pairs can have together: `nics` adapters of the server.
double shared_rate(const Question& question, const Lanes& lanes, int nics) {
  const fabric::ServerId server = question.fabric->info(question.path.source).server;
  const auto all = question.fabric->of_kind(fabric::DeviceKind::nic, server);
  return lanes.wires[0].rate() * std::min(nics, static_cast<int>(all.size()));
}

Answer latency(const Question& question, Bytes size) {
  const MpiCosts* mpi = nullptr;
  const Lanes lanes = find_lanes(question, &mpi);
  if (!lanes.refusal.empty()) return refuse(lanes.refusal);
  const Wire& wire = lanes.wires[0];
  Answer answer;
  answer.way = wire.words;
  answer.limit = wire.limit;
  Duration time = mpi->overhead;
  if (lanes.gpu && size.count() > 0) time += mpi->gpu_overhead;
  if (size <= mpi->eager_limit) {
    time += write_time(question, wire, size, mpi->short_limit);
    if (!lanes.gpu) time += Duration::from_nanoseconds(mpi->copy_ns_per_byte * size.to_double());
    answer.time = time;
    return answer;
  }
  // The handshake is one small message more, and the data are read or written without copies.
  const int rails = lanes.gpu || size >= mpi->rail_limit ? mpi->rails : 1;
  const double alone = lanes.rate(rails) * (lanes.gpu ? 1 : mpi->lone_share);
  const double share = shared_rate(question, lanes, rails * question.pairs) / question.pairs;
  time += write_time(question, wire, Bytes(1), Bytes(0)) + mpi->rendezvous +
          transfer_time(size, std::min(alone, share));
  answer.time = time;
  return answer;
}

Answer bandwidth(const Question& question, Bytes size) {
  const MpiCosts* mpi = nullptr;
  const Lanes lanes = find_lanes(question, &mpi);
  if (!lanes.refusal.empty()) return refuse(lanes.refusal);
  const bool eager = size <= mpi->eager_limit;
  const int rails = eager ? 1 : mpi->rails;
  Duration gap = lanes.gpu ? mpi->gpu_gap : mpi->gap;
  gap += eager ? Duration::from_nanoseconds(mpi->gap_ns_per_byte * size.to_double())
               : mpi->rendezvous_gap;
  const double share = shared_rate(question, lanes, rails * question.pairs) / question.pairs;
  Answer answer;
  answer.way = lanes.wires[0].words;
  const Duration bytes = transfer_time(size, std::min(lanes.rate(rails), share));
  answer.limit = bytes > gap ? lanes.wires[0].limit : "messages a process can start";
  answer.time = eager ? both(gap, bytes) : gap + bytes;
  set_rate(answer, size, question.pairs * (question.bidirectional ? 2.0 : 1.0));
  return answer;
}

class Mpi final : public Family {
 public:
  [[nodiscard]] std::string_view name() const override { return "mpi"; }
  [[nodiscard]] std::span<const Test> tests() const override { return kTests; }
  [[nodiscard]] Answer answer(const Test& test, const Question& asked, Bytes size) const override {
    Question question = asked;
    if (&test == &kTests[3]) question.bidirectional = true;
    return test.prints == Prints::latency ? latency(question, size) : bandwidth(question, size);
  }
};

}  // namespace

const Family& mpi_family() {
  static const Mpi kFamily;
  return kFamily;
}

}  // namespace weft::pointtest
