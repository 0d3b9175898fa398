// perftest: latency and bandwidth of RDMA write, send and read. Model: docs/models/verbs.md.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "pointtest/ends.h"
#include "pointtest/verbs_time.h"

namespace weft::pointtest {
namespace {

constexpr std::array<Test, 6> kTests = {{
    {"ib_write_lat", Prints::latency, "perftest: RDMA write, half the round trip"},
    {"ib_send_lat", Prints::latency, "perftest: send, half the round trip"},
    {"ib_read_lat", Prints::latency, "perftest: RDMA read, the whole round trip"},
    {"ib_write_bw", Prints::bandwidth, "perftest: RDMA writes"},
    {"ib_send_bw", Prints::bandwidth, "perftest: sends"},
    {"ib_read_bw", Prints::bandwidth, "perftest: RDMA reads"},
}};

// The request goes out, the far adapter reads its memory, the data come back.
Duration read_time(const Question& question, const Wire& wire, Bytes size) {
  const fabric::PathCosts& costs = *question.costs;
  const NicCosts& nic = nic_costs(question, wire.source_nic);
  Duration fetch = wire.destination_way + wire.destination_way + costs.memory_access;
  if (wire.destination_gpu) fetch += gpu_costs(question, question.path.destination).direct_access;
  const Duration once = nic.pair + wire.network_time;
  return costs.post_wqe + costs.doorbell + wire.source_way + once + fetch + once + wire.source_way +
         costs.completion + crossing_time(wire, size);
}

Answer bandwidth(const Question& asked, Bytes size, bool read) {
  Question question = asked;
  if (read) std::swap(question.path.source, question.path.destination);
  if (read) std::swap(question.path.source_nic, question.path.destination_nic);
  const Wire wire = find_wire(question);
  if (!wire.refusal.empty()) return refuse(wire.refusal);
  const NicCosts& nic = nic_costs(question, wire.source_nic);
  const Duration own = read ? nic.read_gap : nic.write_gap;
  const Duration gap = std::max(own.scaled(1.0 / question.queue_pairs), nic.least_gap);
  Answer answer;
  answer.way = wire.words;
  const double rate = wire.rate() * (read ? nic.read_share : 1);
  const Duration bytes = transfer_time(size, rate);
  answer.limit = bytes > gap ? wire.limit : "messages a queue pair can start";
  answer.time = both(gap, bytes);
  set_rate(answer, size, question.bidirectional ? 2 : 1);
  return answer;
}

class Verbs final : public Family {
 public:
  [[nodiscard]] std::string_view name() const override { return "verbs"; }
  [[nodiscard]] std::span<const Test> tests() const override { return kTests; }
  [[nodiscard]] Answer answer(const Test& test, const Question& question,
                              Bytes size) const override {
    const auto index = static_cast<std::size_t>(&test - kTests.data());
    if (index >= 3) return bandwidth(question, size, index == 5);
    const Wire wire = find_wire(question);
    if (!wire.refusal.empty()) return refuse(wire.refusal);
    Answer answer;
    answer.way = wire.words;
    answer.time = index == 2 ? read_time(question, wire, size)
                             : write_time(question, wire, size,
                                          nic_costs(question, wire.source_nic).inline_limit);
    answer.limit = crossing_time(wire, size) > answer.time.scaled(0.5)
                       ? wire.limit
                       : "adapters, PCIe, cables and switches";
    return answer;
  }
};

}  // namespace

// A write whose payload rides with the doorbell needs no DMA read; a longer one does, and so does
// one out of GPU memory, which the core that rings cannot read.
Duration write_time(const Question& question, const Wire& wire, Bytes size, Bytes inline_limit) {
  const fabric::PathCosts& costs = *question.costs;
  const NicCosts& nic = nic_costs(question, wire.source_nic);
  Duration time = costs.post_wqe + costs.doorbell + wire.source_way + nic.pair + wire.network_time +
                  wire.destination_way + costs.completion;
  if (size.count() > 0 && (size > inline_limit || wire.source_gpu))
    time += wire.source_way + wire.source_way + costs.memory_access + nic.gather;
  if (wire.source_gpu && size.count() > 0)
    time += gpu_costs(question, question.path.source).direct_access;
  if (wire.destination_gpu && size.count() > 0)
    time += gpu_costs(question, question.path.destination).direct_access;
  return time + crossing_time(wire, size);
}

const Family& verbs_family() {
  static const Verbs kFamily;
  return kFamily;
}

}  // namespace weft::pointtest
