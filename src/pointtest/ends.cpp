#include "pointtest/ends.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fabric/path_class.h"

namespace weft::pointtest {
namespace {

using fabric::DeviceKind;

// Adapters read and pass on payload in pieces of this size, whatever the MTU: the latency of a
// thesis testbed is the same for MTUs from 256 to 4096 B.
constexpr double kGranule = 4096;

double slower(double a, double b) {
  return a == 0 ? b : std::min(a, b);
}

struct Part {
  double rate = 0;
  Duration time;
};

void add(Part& part, const fabric::Hop& hop) {
  part.rate = slower(part.rate, hop.effective.gb_per_s());
  part.time += hop.latency;
}

void split_hops(const fabric::Fabric& fabric, const fabric::Leg& leg, Part& source, Part& network,
                Part& destination) {
  bool after = false;
  for (const fabric::Hop& hop : leg.hops) {
    if (fabric::is_network(fabric.link_class(hop.link).kind)) {
      add(network, hop);
      after = true;
    } else {
      add(after ? destination : source, hop);
    }
  }
  if (leg.cap) source.rate = slower(source.rate, leg.cap->gb_per_s());
}

// A NIC reads GPU memory below the link's rate when the way leads through a host bridge.
double bridge_limit(const Question& question, fabric::DeviceId gpu, fabric::DeviceId nic) {
  using fabric::PathKind;
  const PathKind kind = fabric::path_class(*question.fabric, gpu, nic).kind;
  const CpuCosts& cpu = cpu_costs(question, gpu);
  if (kind == PathKind::sys) return cpu.socket_read.gb_per_s();
  if (kind == PathKind::node || kind == PathKind::phb) return cpu.bridge_read.gb_per_s();
  return 0;
}

const fabric::Leg* network_leg(const fabric::Fabric& fabric, const fabric::DataPath& path) {
  for (const fabric::Leg& leg : path.legs) {
    for (const fabric::Hop& hop : leg.hops) {
      if (fabric::is_network(fabric.link_class(hop.link).kind)) return &leg;
    }
  }
  return nullptr;
}

Wire wire_of(const Question& question, const fabric::DataPath& path) {
  const fabric::Fabric& fabric = *question.fabric;
  Wire wire;
  const fabric::Leg* leg = network_leg(fabric, path);
  if (leg == nullptr) {
    wire.refusal = "the way does not leave the server";
    return wire;
  }
  Part source, network, destination;
  split_hops(fabric, *leg, source, network, destination);
  for (const fabric::Hop& hop : leg->hops) {
    const fabric::DeviceId tail = fabric.from(hop.link), head = fabric.to(hop.link);
    if (fabric.kind(head) == DeviceKind::nic && !wire.source_nic.valid()) wire.source_nic = head;
    if (fabric.kind(tail) == DeviceKind::nic) wire.destination_nic = tail;
  }
  wire.source_gpu = is_gpu(question, path.source);
  wire.destination_gpu = is_gpu(question, path.destination);
  wire.source_rate = source.rate;
  if (wire.source_gpu) {
    const double limit = bridge_limit(question, path.source, wire.source_nic);
    if (limit > 0) wire.source_rate = std::min(wire.source_rate, limit);
  }
  wire.network_rate = network.rate * nic_costs(question, wire.source_nic).share;
  wire.destination_rate = destination.rate;
  wire.network_time = network.time;
  wire.source_way = cpu_costs(question, path.source).memory_way;
  wire.destination_way = cpu_costs(question, path.destination).memory_way;
  wire.words = fmt::format("{}, {} to {}", to_text(path.via), fabric.name(wire.source_nic),
                           fabric.name(wire.destination_nic));
  wire.limit = path.limit;
  return wire;
}

}  // namespace

double Wire::rate() const {
  return std::min({source_rate, network_rate, destination_rate});
}

double Wire::through_ns_per_byte() const {
  return 1 / source_rate + 1 / network_rate + 1 / destination_rate;
}

Wire find_wire(const Question& question) {
  fabric::PathQuery query = question.path;
  if (query.via == fabric::Via::automatic) {
    const bool gpu = is_gpu(question, query.source) || is_gpu(question, query.destination);
    query.via = gpu ? fabric::Via::gdr : fabric::Via::rdma;
  }
  const fabric::PathAnswer answer =
      fabric::find_data_path(*question.fabric, *question.costs, question.route, query);
  if (answer.path) return wire_of(question, *answer.path);
  Wire wire;
  wire.refusal = answer.refusal;
  return wire;
}

std::vector<Wire> find_wires(const Question& question, int count) {
  std::vector<Wire> wires = {find_wire(question)};
  if (!wires[0].refusal.empty() || count == 1) return wires;
  const fabric::Fabric& fabric = *question.fabric;
  const auto sources = fabric.of_kind(DeviceKind::nic, fabric.info(question.path.source).server);
  const auto ends = fabric.of_kind(DeviceKind::nic, fabric.info(question.path.destination).server);
  std::vector<Wire> others;
  for (std::size_t i = 0; i < std::min(sources.size(), ends.size()); ++i) {
    if (sources[i] == wires[0].source_nic) continue;
    Question with = question;
    with.path.source_nic = sources[i];
    with.path.destination_nic = ends[i];
    Wire wire = find_wire(with);
    if (wire.refusal.empty()) others.push_back(std::move(wire));
  }
  std::stable_sort(others.begin(), others.end(),
                   [](const Wire& a, const Wire& b) { return a.rate() > b.rate(); });
  for (Wire& wire : others) {
    if (static_cast<int>(wires.size()) == count) break;
    wires.push_back(std::move(wire));
  }
  return wires;
}

Duration crossing_time(const Wire& wire, Bytes size) {
  const double first = std::min(size.to_double(), kGranule);
  const double rest = size.to_double() - first;
  return Duration::from_nanoseconds(first * wire.through_ns_per_byte() + rest / wire.rate());
}

fabric::DeviceId host_memory_of(const fabric::Fabric& fabric, fabric::DeviceId device) {
  if (fabric.kind(device) == DeviceKind::cpu) return device;
  fabric::DeviceId nearest;
  std::size_t shortest = SIZE_MAX;
  for (const fabric::DeviceId cpu : fabric.of_kind(DeviceKind::cpu, fabric.info(device).server)) {
    const auto chain =
        fabric::inner_route(fabric, device, cpu, {.use_nvlink = false, .acs = false});
    if (!chain.empty() && chain.size() < shortest) {
      shortest = chain.size();
      nearest = cpu;
    }
  }
  return nearest;
}

const GpuCosts& gpu_costs(const Question& question, fabric::DeviceId gpu) {
  const fabric::DeviceClass& c = question.fabric->device_class(gpu);
  return question.constants->gpu(c.model, c.compute_capability);
}

const CpuCosts& cpu_costs(const Question& question, fabric::DeviceId near) {
  const fabric::DeviceId cpu = host_memory_of(*question.fabric, near);
  return question.constants->cpus.of(cpu.valid() ? question.fabric->device_class(cpu).model : "");
}

const NicCosts& nic_costs(const Question& question, fabric::DeviceId nic) {
  return question.constants->nics.of(question.fabric->device_class(nic).model);
}

const MpiCosts& mpi_costs(const Question& question, fabric::DeviceId nic) {
  return question.constants->mpi.of(question.fabric->device_class(nic).model);
}

const LinkCosts& link_costs(const Question& question, const fabric::LinkClass& link) {
  const std::string name = link.generation > 0
                               ? fmt::format("{}{}", fabric::to_text(link.kind), link.generation)
                               : std::string(fabric::to_text(link.kind));
  return question.constants->links.of(name);
}

bool is_gpu(const Question& question, fabric::DeviceId end) {
  return question.fabric->kind(end) == DeviceKind::gpu;
}

Duration both(Duration a, Duration b) {
  const double x = a.to_nanoseconds(), y = b.to_nanoseconds();
  return Duration::from_nanoseconds(std::cbrt(x * x * x + y * y * y));
}

Duration transfer_time(Bytes size, double gb_per_s) {
  return Duration::from_nanoseconds(size.to_double() / gb_per_s);
}

void set_rate(Answer& answer, Bytes size, double messages) {
  if (answer.time.ps() > 0)
    answer.gb_per_s = messages * size.to_double() / answer.time.to_nanoseconds();
}

Answer refuse(std::string why) {
  Answer answer;
  answer.refusal = std::move(why);
  return answer;
}

}  // namespace weft::pointtest
