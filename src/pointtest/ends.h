// What the families share: the way between two ends over NICs, taken apart into what a message
// crosses (memory and PCIe at the source, the network, PCIe and memory at the destination), and
// the constants of the parts met. Private to pointtest/.
#pragma once

#include <string>
#include <vector>

#include "pointtest/pointtest.h"

namespace weft::pointtest {

// One way over the network. Rates in bytes per nanosecond (GB/s).
struct Wire {
  fabric::DeviceId source_nic, destination_nic;
  bool source_gpu = false, destination_gpu = false;
  double source_rate = 0, network_rate = 0, destination_rate = 0;
  Duration network_time;                 // cables and switches
  Duration source_way, destination_way;  // between NIC and memory, one way
  std::string words;                     // "gdr, node0/nic0 to node1/nic0"
  std::string limit;
  std::string refusal;

  [[nodiscard]] double rate() const;  // of an endless stream
  // A packet is stored and forwarded at each of the three: their times per byte add up.
  [[nodiscard]] double through_ns_per_byte() const;
};

// By the question's `via`; gdr or rdma by the ends' memory when that is automatic.
Wire find_wire(const Question& question);
// Over each NIC of the source's server, the nearest first.
std::vector<Wire> find_wires(const Question& question, int count);

// One way of a message of n bytes through the wire: the first granule is stored and forwarded, what
// follows streams behind it.
Duration crossing_time(const Wire& wire, Bytes size);

const GpuCosts& gpu_costs(const Question& question, fabric::DeviceId gpu);
const CpuCosts& cpu_costs(const Question& question, fabric::DeviceId near);
const NicCosts& nic_costs(const Question& question, fabric::DeviceId nic);
const MpiCosts& mpi_costs(const Question& question, fabric::DeviceId nic);
const LinkCosts& link_costs(const Question& question, const fabric::LinkClass& link);

bool is_gpu(const Question& question, fabric::DeviceId end);

// Time of one message when two limits hold, each alone `a` or `b`: near the corner both slow it
// down. The third power is what perftest's curves show (docs/models/verbs.md).
Duration both(Duration a, Duration b);
Duration transfer_time(Bytes size, double gb_per_s);
// Fills gb_per_s from the time of one message, `messages` of them at once.
void set_rate(Answer& answer, Bytes size, double messages);
Answer refuse(std::string why);

}  // namespace weft::pointtest
