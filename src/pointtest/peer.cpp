// GPU to GPU: p2pBandwidthLatencyTest and nvbandwidth, with peer access on (NVLink, PCIe) and off
// (the driver stages through host memory). Model: docs/models/peer.md.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "fabric/nvlink_route.h"
#include "fabric/pcie.h"
#include "pointtest/ends.h"

namespace weft::pointtest {
namespace {

constexpr std::array<Test, 3> kTests = {{
    {"p2p_bandwidth", Prints::bandwidth, "copies between GPUs; inside one, read and written"},
    {"p2p_latency", Prints::latency, "a kernel's small store into another GPU's memory"},
    {"load_latency", Prints::latency, "a dependent load from a peer's or the host's memory"},
}};

struct Rate {
  double one_way = 0;
  LinkCosts link;
  std::string way, limit, refusal;
};

Rate over_nvlink(const Question& question) {
  Rate rate;
  fabric::PathQuery query = question.path;
  query.via = fabric::Via::nvlink;
  query.mover = fabric::Mover::copy_engine;
  const fabric::PathAnswer found =
      fabric::find_data_path(*question.fabric, *question.costs, question.route, query);
  if (!found.path) {
    rate.refusal = found.refusal;
    return rate;
  }
  const fabric::LinkClass& link =
      question.fabric->link_class(found.path->legs.front().hops.front().link);
  rate.link = link_costs(question, link);
  // The path counts with its own share for copy engines; here the table of links says it.
  const double payload = found.path->bandwidth.gb_per_s() /
                         fabric::copy_engine_nvlink_efficiency(*question.costs, link.generation);
  const bool by_sm = question.path.mover == fabric::Mover::sm;
  rate.one_way = payload * (by_sm ? rate.link.sm_share : rate.link.copy_share);
  rate.way = "nvlink";
  rate.limit = found.path->limit;
  return rate;
}

// Copy engines write into the peer with full packets. What NCCL charges for peer traffic through
// host bridges and across sockets is not seen in their rates, so only the links themselves count.
Rate over_pcie(const Question& question) {
  Rate rate;
  const fabric::Fabric& fabric = *question.fabric;
  for (const fabric::DeviceId end : {question.path.source, question.path.destination}) {
    if (!fabric.device_class(end).peer_to_peer) {
      rate.refusal =
          fmt::format("the driver allows no peer access on {}", fabric.device_class(end).model);
      return rate;
    }
  }
  const auto links = fabric::inner_route(fabric, question.path.source, question.path.destination,
                                         {.use_nvlink = false, .acs = true});
  for (const fabric::LinkId id : links) {
    const fabric::LinkClass& link = fabric.link_class(id);
    const bool pcie = link.kind == fabric::LinkKind::pcie;
    const double here = pcie ? fabric::pcie_write_rate(link).gb_per_s() : link.raw_rate.gb_per_s();
    if (rate.one_way != 0 && here >= rate.one_way) continue;
    rate.one_way = here;
    rate.limit = fmt::format("{} at {}", fabric.link_name(id), to_text_bytes(link.raw_rate));
    if (pcie) rate.link = link_costs(question, link);
  }
  if (links.empty()) rate.refusal = "no PCIe path joins them";
  const bool by_sm = question.path.mover == fabric::Mover::sm;
  rate.one_way *= by_sm ? rate.link.sm_share : rate.link.copy_share;
  rate.way = "p2p";
  return rate;
}

// The driver copies chunk by chunk into a pinned buffer and out of it, both at once; the memory
// system of some CPUs leaves less.
Rate staged(const Question& question) {
  Rate rate;
  Question out = question, in = question;
  out.path.destination = host_memory_of(*question.fabric, question.path.source);
  in.path.source = host_memory_of(*question.fabric, question.path.destination);
  for (Question* leg : {&out, &in}) {
    leg->path.via = fabric::Via::p2p;
    leg->path.mover = fabric::Mover::copy_engine;
    const fabric::PathAnswer found =
        fabric::find_data_path(*question.fabric, *question.costs, question.route, leg->path);
    if (!found.path) {
      rate.refusal = found.refusal;
      return rate;
    }
    double here = found.path->bandwidth.gb_per_s();
    if (leg == &in && found.path->narrowest.valid())
      here *=
          link_costs(question, question.fabric->link_class(found.path->narrowest)).host_read_share;
    rate.one_way = rate.one_way == 0 ? here : std::min(rate.one_way, here);
  }
  const StagingCosts& staging = question.constants->staging;
  const CpuCosts& cpu = cpu_costs(question, question.path.source);
  const Bytes chunk = question.chunk.value_or(staging.driver_chunk_size);
  const Duration each = transfer_time(chunk, rate.one_way) + staging.driver_chunk;
  rate.one_way = cpu.staging_share * chunk.to_double() / each.to_nanoseconds();
  rate.link.bidirectional_share = cpu.staged_both_share;
  rate.link.copy_share = 1;
  rate.way = "staged";
  rate.limit = fmt::format("chunks of {} through host memory", to_text(chunk));
  return rate;
}

Rate best(const Question& question) {
  if (!question.peer_access) return staged(question);
  Rate rate = over_nvlink(question);
  if (!rate.refusal.empty()) rate = over_pcie(question);
  return rate.refusal.empty() ? rate : staged(question);
}

Answer bandwidth(const Question& question, Bytes size) {
  const GpuCosts& gpu = gpu_costs(question, question.path.source);
  Answer answer;
  if (question.path.source == question.path.destination) {
    answer.way = "inside the GPU";
    answer.limit = "GPU memory, read and written";
    answer.time = gpu.copy_gap + transfer_time(size, gpu.local_copy.gb_per_s() / 2);
    set_rate(answer, size, 2);
    return answer;
  }
  Rate rate = best(question);
  if (!rate.refusal.empty()) return refuse(rate.refusal);
  if (question.bidirectional) rate.one_way *= rate.link.bidirectional_share / rate.link.copy_share;
  answer.way = rate.way;
  answer.limit = rate.limit;
  answer.time = gpu.copy_gap + transfer_time(size, rate.one_way);
  set_rate(answer, size, question.bidirectional ? 2 : 1);
  return answer;
}

Answer store_latency(const Question& question) {
  const GpuCosts& gpu = gpu_costs(question, question.path.source);
  const Rate rate = best(question);
  if (!rate.refusal.empty()) return refuse(rate.refusal);
  Answer answer;
  answer.way = rate.way;
  answer.limit = "the kernel that stores";
  answer.time = rate.way == "staged" ? gpu.staged_store : gpu.peer_store;
  return answer;
}

// Out and back over the links, and what the GPU itself takes.
Answer load_latency(const Question& question) {
  const fabric::Fabric& fabric = *question.fabric;
  const GpuCosts& gpu = gpu_costs(question, question.path.source);
  std::vector<fabric::LinkId> links;
  const bool peer = is_gpu(question, question.path.destination);
  if (peer) {
    const auto chains =
        fabric::nvlink_chains(fabric, question.path.source, question.path.destination);
    if (!chains.empty()) links.assign(chains[0].links.begin(), chains[0].links.end());
  }
  if (links.empty())
    links = fabric::inner_route(fabric, question.path.source, question.path.destination);
  if (links.empty()) return refuse("no link joins them");
  Duration one_way;
  for (std::size_t i = 0; i < links.size(); ++i) {
    one_way += fabric.link_class(links[i]).latency;
    if (i + 1 < links.size())
      one_way += fabric.device_class(fabric.to(links[i])).forwarding_latency;
  }
  Answer answer;
  answer.way = peer ? "loads from a peer" : "loads from host memory";
  answer.limit = "round trip";
  answer.time = gpu.load_overhead + one_way + one_way;
  if (!peer) answer.time += question.costs->memory_access;
  return answer;
}

class Peer final : public Family {
 public:
  [[nodiscard]] std::string_view name() const override { return "peer"; }
  [[nodiscard]] std::span<const Test> tests() const override { return kTests; }
  [[nodiscard]] Answer answer(const Test& test, const Question& question,
                              Bytes size) const override {
    if (!is_gpu(question, question.path.source)) return refuse("the first end is no GPU");
    if (&test == &kTests[2]) return load_latency(question);
    if (!is_gpu(question, question.path.destination)) return refuse("the second end is no GPU");
    return &test == &kTests[0] ? bandwidth(question, size) : store_latency(question);
  }
};

}  // namespace

const Family& peer_family() {
  static const Peer kFamily;
  return kFamily;
}

}  // namespace weft::pointtest
