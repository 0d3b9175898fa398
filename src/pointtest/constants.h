// What parts and protocols add to a point-to-point test, as plain data: one struct for each sort of
// part, looked up by the class of the part at hand. Values, units, sources, and for fitted values
// the residual and the rows they were fitted on, stand in data/constants/point_to_point.yaml.
// A sort has one `default` row with every constant; other rows say what differs: a GPU's by compute
// capability (the highest that does not exceed the part's) and then by model, the rest by name.
// Leaves out: what single runs differ in (BIOS settings, driver versions, clocks).
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/units.h"

namespace weft::pointtest {

struct GpuCosts {
  Duration copy_gap;       // between copies queued one after the other
  BitRate local_copy;      // memory to memory inside the GPU, read and write both counted
  BitRate host_store;      // stores of SMs into host memory over PCIe
  Duration peer_store;     // a small store into a peer's memory and its flag, by a kernel
  Duration staged_store;   // the same when the driver stages it through host memory
  Duration load_overhead;  // of a dependent load beyond the links: caches, page walk, memory
  Duration direct_access;  // a NIC's access to this memory beyond one to host memory
};

// By link: "pcie3", "nvlink4", "c2c".
struct LinkCosts {
  double copy_share = 1;           // of the payload rate that copy engines reach
  double host_read_share = 1;      // PCIe: of the payload rate of reads of host memory
  double sm_share = 1;             // SMs
  double bidirectional_share = 1;  // each way, when copy engines use both ways at once
  double host_both_share = 1;      // PCIe: each way, copies to and from host memory at once
};

struct CpuCosts {
  Duration memory_way;           // a NIC's posted write to host memory, or a doorbell, one way
  double staging_share = 1;      // of the staged rate that this CPU's memory system leaves
  double staged_both_share = 1;  // each way, of the staged rate, when both ways are used
  BitRate bridge_read;           // a NIC's reads of GPU memory through the host bridge
  BitRate socket_read;           // the same across sockets
  BitRate several_read;          // several NICs that read one GPU's memory through bridges
  BitRate host_transfer;         // transfer libraries: what one NUMA node's memory sustains
};

struct NicCosts {
  Duration pair;           // both adapters, from doorbell to the last byte's write
  Duration gather;         // beyond the DMA read, for data that does not ride with the doorbell
  Bytes inline_limit;      // largest payload that rides with the doorbell
  Duration write_gap;      // between messages of one queue pair: write and send
  Duration read_gap;       // RDMA read
  Duration least_gap;      // over all queue pairs
  double share = 1;        // of the port's payload rate, writes
  double read_share = 1;   // RDMA reads
  double write_share = 1;  // a transfer library's writes over many NICs
  Duration block_gap;      // between blocks of a transfer library
};

struct MpiCosts {
  Duration overhead;      // of a small message beyond the verbs, both ends
  Duration gpu_overhead;  // beyond that, buffers in GPU memory
  Duration gap;           // between messages of one process
  Duration gpu_gap;
  double copy_ns_per_byte = 0;  // eager messages: copies at both ends, in the latency
  double gap_ns_per_byte = 0;   // and in the gap
  Bytes short_limit;            // largest message that rides with the doorbell
  Bytes eager_limit;            // largest message sent before the receiver is known
  Duration rendezvous;          // the handshake beyond one round trip
  Duration rendezvous_gap;
  int rails = 1;           // NICs one large message is spread over
  Bytes rail_limit;        // smallest lone message that is
  Duration copied;         // a payload that does not ride with the doorbell, host memory
  Duration copied_gap;     // and in the gap
  double rails_share = 1;  // of the rate, that one message over several NICs reaches
  double lone_share = 1;   // of the rate, that one large message alone reaches
};

struct SocketCosts {
  Duration round_trip_half;  // a request-response test, one way, beyond the path's latency
  Duration message;          // MPI over sockets: between small messages
  Duration gpu_message;
  double eager_ns_per_byte = 0;
  Bytes eager_limit;
  Duration rendezvous;
  BitRate stream;      // one connection, host memory
  BitRate gpu_stream;  // one connection, staged through host memory
};

struct StagingCosts {
  Duration driver_chunk;  // CUDA's own staging: for each chunk
  Bytes driver_chunk_size;
  Duration start;         // NCCL send and receive through the network, small message
  Duration peer_start;    // inside a server
  double sm_share = 1;    // of the PCIe payload rate, NCCL's SMs into a peer
  double host_share = 1;  // and into or out of host memory
  Duration step;          // NCCL's proxy, for each chunk
  Bytes chunk;            // NCCL's network chunk
  int pieces = 1;         // into which a smaller message is cut
  Bytes put_fill;         // largest put that stays on the first of several NICs
  Duration put;           // a put with its signal, posted by the host for a GPU
};

struct CopyCosts {
  Duration store_call;  // gdrcopy: the least a store into the BAR takes its core
  Duration load_call;   // and a load
  Duration load_line;   // round trip of one line, loads being one after the other
};

template <class Costs>
struct Rows {
  Costs fallback;
  std::map<std::string, Costs, std::less<>> named;
  [[nodiscard]] const Costs& of(std::string_view name) const {
    const auto row = named.find(name);
    return row == named.end() ? fallback : row->second;
  }
};

struct Constants {
  Rows<LinkCosts> links;
  Rows<CpuCosts> cpus;
  Rows<NicCosts> nics;
  Rows<MpiCosts> mpi;  // by NIC; "tcp" is not here but in sockets
  SocketCosts sockets;
  StagingCosts staging;
  CopyCosts bar;
  [[nodiscard]] const GpuCosts& gpu(std::string_view model, int compute_capability) const;

  std::map<int, GpuCosts> gpus_from;  // by compute capability; 0 holds the default
  std::map<std::string, GpuCosts, std::less<>> gpus_named;
};

// Throws InputError with every fault of the file.
Constants read_constants(std::string_view text, const std::string& file);

}  // namespace weft::pointtest
