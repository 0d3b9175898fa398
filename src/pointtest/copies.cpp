// Copies between host and GPU memory: bandwidthTest, nvbandwidth's host tests, superbench's
// gpu_copy, and a core's loads and stores over a GPU's BAR (gdrcopy). Model: docs/models/copies.md.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "fabric/pcie.h"
#include "pointtest/ends.h"

namespace weft::pointtest {
namespace {

constexpr std::array<Test, 3> kTests = {{
    {"memcpy", Prints::bandwidth, "copy between host and GPU memory, or inside one GPU"},
    {"gdrcopy_to", Prints::latency, "a core stores into GPU memory through the BAR"},
    {"gdrcopy_from", Prints::latency, "a core loads from GPU memory through the BAR"},
}};

// A write-combining buffer is flushed as one packet of a cache line; an uncached vector load asks
// for a line and waits.
constexpr std::int64_t kLine = 64;

Answer local(const Question& question, Bytes size) {
  const GpuCosts& gpu = gpu_costs(question, question.path.source);
  Answer answer;
  answer.way = "inside the GPU";
  answer.limit = "GPU memory, read and written";
  answer.time = gpu.copy_gap + transfer_time(size, gpu.local_copy.gb_per_s() / 2);
  set_rate(answer, size, 1);
  return answer;
}

Answer host_copy(const Question& question, Bytes size) {
  fabric::PathQuery query = question.path;
  query.via = fabric::Via::p2p;
  const fabric::PathAnswer found =
      fabric::find_data_path(*question.fabric, *question.costs, question.route, query);
  if (!found.path) return refuse(found.refusal);
  const bool to_host = is_gpu(question, query.source);
  const GpuCosts& gpu = gpu_costs(question, to_host ? query.source : query.destination);
  Answer answer;
  answer.way = to_host ? "GPU writes host memory" : "GPU reads host memory";
  answer.limit = found.path->limit;
  double rate = found.path->bandwidth.gb_per_s(), both_share = 1;
  if (found.path->narrowest.valid()) {
    const LinkCosts& link =
        link_costs(question, question.fabric->link_class(found.path->narrowest));
    rate *= to_host ? link.copy_share : link.copy_share * link.host_read_share;
    both_share = link.host_both_share;
  }
  if (to_host && query.mover == fabric::Mover::sm && gpu.host_store.gb_per_s() < rate) {
    rate = gpu.host_store.gb_per_s();
    answer.limit = "stores of SMs into host memory";
  }
  double ways = 1;
  if (question.bidirectional) {
    ways = 2;
    rate *= both_share;
  }
  answer.time = gpu.copy_gap + transfer_time(size, rate);
  set_rate(answer, size, ways);
  return answer;
}

// Stores go out as whole lines and nobody waits for them; a load waits for the line's round trip.
Answer bar_copy(const Question& question, Bytes size, bool store) {
  const fabric::Fabric& fabric = *question.fabric;
  const auto links = fabric::inner_route(fabric, question.path.source, question.path.destination,
                                         {.use_nvlink = false, .acs = false});
  Answer answer;
  answer.way = store ? "a core stores through the BAR" : "a core loads through the BAR";
  double rate = 0;
  Duration one_way;
  for (const fabric::LinkId link : links) {
    const fabric::LinkClass& c = fabric.link_class(link);
    one_way += c.latency;
    if (c.kind != fabric::LinkKind::pcie) continue;
    const double wire =
        static_cast<double>(fabric::pcie_write_wire_bytes(Bytes(kLine), c.framing).count());
    const double line_rate = c.raw_rate.gb_per_s() * (1 - c.framing.link_layer_tax) * kLine / wire;
    rate = rate == 0 ? line_rate : std::min(rate, line_rate);
  }
  if (rate == 0) return refuse("no PCIe way leads from this CPU to this GPU");
  const CopyCosts& costs = question.constants->bar;
  if (store) {
    answer.limit = "packets of one cache line";
    answer.time = std::max(costs.store_call, transfer_time(size, rate));
  } else {
    answer.limit = "one line at a time";
    answer.time = costs.load_call + costs.load_line.scaled(size.to_double() / kLine);
  }
  set_rate(answer, size, 1);
  return answer;
}

class Copies final : public Family {
 public:
  [[nodiscard]] std::string_view name() const override { return "copies"; }
  [[nodiscard]] std::span<const Test> tests() const override { return kTests; }
  [[nodiscard]] Answer answer(const Test& test, const Question& question,
                              Bytes size) const override {
    const bool from = is_gpu(question, question.path.source);
    const bool to = is_gpu(question, question.path.destination);
    if (&test == &kTests[0]) {
      if (from && question.path.source == question.path.destination) return local(question, size);
      if (from == to) return refuse("one end must be a GPU and the other host memory");
      return host_copy(question, size);
    }
    if (from || !to) return refuse("gdrcopy is a core at the first end and a GPU at the second");
    return bar_copy(question, size, &test == &kTests[1]);
  }
};

}  // namespace

const Family& copies_family() {
  static const Copies kFamily;
  return kFamily;
}

}  // namespace weft::pointtest
