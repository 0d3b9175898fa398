// Transfers by a library that uses every NIC of two servers at once (Mooncake's transfer engine
// over EFA), and puts of one process over its NICs. Model: docs/models/transfer.md.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "pointtest/ends.h"

namespace weft::pointtest {
namespace {

constexpr std::array<Test, 2> kTests = {{
    {"nic_transfer", Prints::bandwidth, "blocks over every NIC of two servers, summed"},
    {"rdma_put", Prints::bandwidth, "puts of one GPU, posted by its host, over its NICs"},
}};

// The wire of NIC i of both servers, with the GPU that it serves when memory is a GPU's.
Wire wire_of_nic(const Question& question, std::size_t index) {
  const fabric::Fabric& fabric = *question.fabric;
  Question with = question;
  const auto pick = [&](fabric::DeviceId& end, std::optional<fabric::DeviceId>& nic) {
    const fabric::ServerId server = fabric.info(end).server;
    const auto nics = fabric.of_kind(fabric::DeviceKind::nic, server);
    const auto peers = fabric.of_kind(fabric.kind(end), server);
    const std::size_t own = std::min(index, nics.size() - 1);
    nic = nics[own];
    end = peers[own * peers.size() / nics.size()];
  };
  pick(with.path.source, with.path.source_nic);
  pick(with.path.destination, with.path.destination_nic);
  return find_wire(with);
}

Answer over_all(const Question& question, Bytes size) {
  const fabric::Fabric& fabric = *question.fabric;
  const fabric::ServerId server = fabric.info(question.path.source).server;
  const auto nics = fabric.of_kind(fabric::DeviceKind::nic, server);
  if (nics.empty()) return refuse("a server without a NIC");
  double rate = 0, blocks_per_ns = 0;
  for (std::size_t i = 0; i < nics.size(); ++i) {
    const Wire wire = wire_of_nic(question, i);
    if (!wire.refusal.empty()) return refuse(wire.refusal);
    const NicCosts& nic = nic_costs(question, nics[i]);
    // A pipe of many blocks is held by the port, not by reads of one queue pair.
    rate += std::min(wire.network_rate, wire.destination_rate) *
            (question.read ? nic.read_share : nic.write_share);
    blocks_per_ns += 1 / nic.block_gap.to_nanoseconds();
  }
  Answer answer;
  answer.way = fmt::format("{} NICs", nics.size());
  answer.limit = "the ports";
  if (!is_gpu(question, question.path.source)) {
    const auto cpus = fabric.of_kind(fabric::DeviceKind::cpu, server);
    double host = 0;
    for (const fabric::DeviceId cpu : cpus)
      host += cpu_costs(question, cpu).host_transfer.gb_per_s();
    if (host < rate) {
      rate = host;
      answer.limit = "host memory";
    }
  }
  const double by_blocks = blocks_per_ns * size.to_double();
  if (by_blocks < rate) answer.limit = "blocks the library can start";
  answer.time = both(transfer_time(size, rate), transfer_time(size, by_blocks));
  set_rate(answer, size, 1);
  return answer;
}

Answer put_messages(const Question& question, Bytes size) {
  const StagingCosts& costs = question.constants->staging;
  const std::vector<Wire> wires = find_wires(question, question.rails);
  if (!wires[0].refusal.empty()) return refuse(wires[0].refusal);
  const bool spread = question.interleave || size > costs.put_fill;
  double rate = 0;
  for (std::size_t i = 0; i < (spread ? wires.size() : 1); ++i) rate += wires[i].network_rate;
  Answer answer;
  answer.way = fmt::format("{} of {} NICs", spread ? wires.size() : 1, wires.size());
  answer.limit = wires[0].limit;
  answer.time = costs.put + transfer_time(size * question.messages, rate);
  set_rate(answer, size, question.messages);
  return answer;
}

class Transfer final : public Family {
 public:
  [[nodiscard]] std::string_view name() const override { return "transfer"; }
  [[nodiscard]] std::span<const Test> tests() const override { return kTests; }
  [[nodiscard]] Answer answer(const Test& test, const Question& question,
                              Bytes size) const override {
    return &test == &kTests[0] ? over_all(question, size) : put_messages(question, size);
  }
};

}  // namespace

const Family& transfer_family() {
  static const Transfer kFamily;
  return kFamily;
}

}  // namespace weft::pointtest
