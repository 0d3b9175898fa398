// NCCL send and receive between two GPUs without GPUDirect RDMA: over PCIe inside a server, through
// host memory and the network across servers, chunk by chunk. Model: docs/models/staging.md.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "fabric/pcie.h"
#include "pointtest/ends.h"

namespace weft::pointtest {
namespace {

constexpr std::array<Test, 1> kTests = {{
    {"nccl_sendrecv", Prints::latency, "NCCL send and receive, no GPUDirect RDMA"},
}};

// Payload rate of writes along the PCIe links between two devices of a server.
double write_rate(const fabric::Fabric& fabric, fabric::DeviceId from, fabric::DeviceId to) {
  double rate = 0;
  for (const fabric::LinkId id :
       fabric::inner_route(fabric, from, to, {.use_nvlink = false, .acs = true})) {
    const fabric::LinkClass& link = fabric.link_class(id);
    const double here = link.kind == fabric::LinkKind::pcie
                            ? fabric::pcie_write_rate(link).gb_per_s()
                            : link.raw_rate.gb_per_s();
    rate = rate == 0 ? here : std::min(rate, here);
  }
  return rate;
}

Answer inside(const Question& question, Bytes size) {
  const StagingCosts& costs = question.constants->staging;
  const double rate = write_rate(*question.fabric, question.path.source, question.path.destination);
  if (rate == 0) return refuse("no PCIe path joins them");
  Answer answer;
  answer.way = "p2p by SMs";
  answer.limit = "stores of SMs over PCIe";
  answer.time = costs.peer_start + transfer_time(size, rate * costs.sm_share);
  set_rate(answer, size, 1);
  return answer;
}

// Three legs work on chunks one behind the other: GPU to host buffer, the network, buffer to GPU.
// The first chunk goes through all; then the slowest leg and the proxy's step set the pace.
Answer across(const Question& question, Bytes size) {
  const fabric::Fabric& fabric = *question.fabric;
  const StagingCosts& costs = question.constants->staging;
  Question hosts = question;
  hosts.path.source = host_memory_of(fabric, question.path.source);
  hosts.path.destination = host_memory_of(fabric, question.path.destination);
  hosts.path.via = fabric::Via::rdma;
  const Wire wire = find_wire(hosts);
  if (!wire.refusal.empty()) return refuse(wire.refusal);
  const std::array<double, 3> legs = {
      costs.host_share * write_rate(fabric, question.path.source, hosts.path.source), wire.rate(),
      costs.host_share * write_rate(fabric, hosts.path.destination, question.path.destination)};
  const double slowest = *std::min_element(legs.begin(), legs.end());
  const Bytes whole = question.chunk.value_or(costs.chunk);
  const Bytes chunk =
      std::min(whole, Bytes(std::max<std::int64_t>(1, size.count() / costs.pieces)));
  Duration fill;
  for (const double leg : legs) fill += transfer_time(chunk, leg);
  fill -= transfer_time(chunk, slowest);
  // A message of one chunk or less hides the proxy's steps in the start.
  const double steps = size.to_double() / whole.to_double();
  Answer answer;
  answer.way = fmt::format("staged in chunks of {}, {}", to_text(chunk), wire.words);
  answer.limit = "copies of SMs into host memory";
  answer.time = costs.start + fill + transfer_time(size, slowest) + costs.step.scaled(steps);
  set_rate(answer, size, 1);
  return answer;
}

class Staging final : public Family {
 public:
  [[nodiscard]] std::string_view name() const override { return "staging"; }
  [[nodiscard]] std::span<const Test> tests() const override { return kTests; }
  [[nodiscard]] Answer answer(const Test& /*test*/, const Question& question,
                              Bytes size) const override {
    const fabric::Fabric& fabric = *question.fabric;
    if (!is_gpu(question, question.path.source) || !is_gpu(question, question.path.destination))
      return refuse("both ends must be GPUs");
    const bool one_server =
        fabric.info(question.path.source).server == fabric.info(question.path.destination).server;
    return one_server ? inside(question, size) : across(question, size);
  }
};

}  // namespace

const Family& staging_family() {
  static const Staging kFamily;
  return kFamily;
}

}  // namespace weft::pointtest
