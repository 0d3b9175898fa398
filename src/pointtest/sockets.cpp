// Kernel TCP: netperf's and iperf's round trip and stream, and MPI over sockets. Model:
// docs/models/sockets.md.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "pointtest/ends.h"

namespace weft::pointtest {
namespace {

constexpr std::array<Test, 3> kTests = {{
    {"tcp_latency", Prints::latency, "netperf TCP_RR, one way"},
    {"tcp_bandwidth", Prints::bandwidth, "iperf: streams, one core each"},
    {"osu_bw_tcp", Prints::bandwidth, "OSU: windows of 64 messages, MPI over TCP"},
}};

Answer raw(const Question& question, const fabric::DataPath& path, bool latency, Bytes size) {
  Answer answer;
  answer.way = fmt::format("tcp, {} stream{}", question.pairs, question.pairs == 1 ? "" : "s");
  answer.limit = path.limit;
  if (latency) {
    answer.time = path.time(size) + question.constants->sockets.round_trip_half;
    return answer;
  }
  // Each stream has its core; the wire is for all of them.
  double wire = path.bandwidth.gb_per_s() * question.pairs;
  for (const fabric::Leg& leg : path.legs) {
    if (leg.mover == fabric::Mover::nic) wire = std::min(wire, leg.rate().gb_per_s());
  }
  answer.time = transfer_time(size, wire);
  set_rate(answer, size, 1);
  return answer;
}

Answer over_mpi(const Question& question, const fabric::DataPath& path, Bytes size) {
  const SocketCosts& costs = question.constants->sockets;
  const bool gpu = is_gpu(question, path.source) || is_gpu(question, path.destination);
  Answer answer;
  answer.way = "MPI over tcp";
  const double stream =
      std::min((gpu ? costs.gpu_stream : costs.stream).gb_per_s(), path.bandwidth.gb_per_s());
  if (size <= costs.eager_limit) {
    answer.limit = "copies of small messages";
    const Duration host =
        costs.message + Duration::from_nanoseconds(costs.eager_ns_per_byte * size.to_double());
    answer.time = gpu ? both(costs.gpu_message, host) : host;
  } else {
    answer.limit = "one connection";
    answer.time = costs.rendezvous + transfer_time(size, stream);
  }
  set_rate(answer, size, 1);
  return answer;
}

class Sockets final : public Family {
 public:
  [[nodiscard]] std::string_view name() const override { return "sockets"; }
  [[nodiscard]] std::span<const Test> tests() const override { return kTests; }
  [[nodiscard]] Answer answer(const Test& test, const Question& question,
                              Bytes size) const override {
    fabric::PathQuery query = question.path;
    query.via = fabric::Via::tcp;
    const fabric::PathAnswer found =
        fabric::find_data_path(*question.fabric, *question.costs, question.route, query);
    if (!found.path) return refuse(found.refusal);
    if (&test == &kTests[2]) return over_mpi(question, *found.path, size);
    return raw(question, *found.path, &test == &kTests[0], size);
  }
};

}  // namespace

const Family& sockets_family() {
  static const Sockets kFamily;
  return kFamily;
}

}  // namespace weft::pointtest
