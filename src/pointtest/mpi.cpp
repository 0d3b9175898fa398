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
  double most = 0;  // of one GPU's memory over several NICs
  std::string refusal;
  [[nodiscard]] double rate(int count) const {
    double sum = 0;
    for (int i = 0; i < std::min(count, static_cast<int>(wires.size())); ++i)
      sum += wires[static_cast<std::size_t>(i)].rate();
    return gpu && count > 1 && wires.size() > 1 && wires[0].rate() < most ? std::min(sum, most)
                                                                          : sum;
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
  lanes.most = cpu_costs(question, question.path.source).several_read.gb_per_s();
  return lanes;
}

// What all pairs can have together: `nics` adapters of the server. A message that goes over one
// adapter takes one of its own socket's.
double shared_rate(const Question& question, const Lanes& lanes, int rails) {
  const fabric::Fabric& fabric = *question.fabric;
  const auto all =
      fabric.of_kind(fabric::DeviceKind::nic, fabric.info(question.path.source).server);
  const int home = fabric.info(lanes.wires[0].source_nic).numa;
  const auto near = std::count_if(all.begin(), all.end(), [&](fabric::DeviceId nic) {
    return rails > 1 || fabric.info(nic).numa == home;
  });
  return lanes.wires[0].rate() * std::min(rails * question.pairs, static_cast<int>(near));
}

// Whether a core copies the payload: too long to ride with the doorbell, and in host memory.
bool is_copied(const Question& question, const Lanes& lanes, Bytes size) {
  return !lanes.gpu && size > nic_costs(question, lanes.wires[0].source_nic).inline_limit;
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
  if (lanes.gpu) time += mpi->gpu_overhead;
  if (size <= mpi->eager_limit) {
    time += write_time(question, wire, size, mpi->short_limit);
    if (is_copied(question, lanes, size)) time += mpi->copied;
    if (!lanes.gpu) time += Duration::from_nanoseconds(mpi->copy_ns_per_byte * size.to_double());
    answer.time = time;
    return answer;
  }
  // The handshake is one small message more, and the data are read or written without copies.
  const int rails = lanes.gpu || size >= mpi->rail_limit ? mpi->rails : 1;
  const double alone = lanes.rate(rails) * (lanes.gpu   ? 1
                                            : rails > 1 ? mpi->rails_share
                                                        : mpi->lone_share);
  const double share = shared_rate(question, lanes, mpi->rails) / question.pairs;
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
  if (eager && is_copied(question, lanes, size)) gap += mpi->copied_gap;
  gap += eager ? Duration::from_nanoseconds(mpi->gap_ns_per_byte * size.to_double())
               : mpi->rendezvous_gap;
  const double share = shared_rate(question, lanes, rails) / question.pairs;
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
