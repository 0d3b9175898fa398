#include "import/part_rows.h"

namespace weft::import {
namespace {

using enum FieldType;
using Rows = PartRows;

// An identity field says which part this is; it needs no source.
PartField identity(std::string_view key, FieldType type, std::string_view words,
                   std::string_view meaning) {
  return {key, type, "", meaning, words, true};
}

Rows join_rows(Rows first, const Rows& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

// What everything one can buy may state.
Rows bought() {
  return {
      {"price", quantity, "USD", "price of one, the figure to plan with", ""},
      {"price_other", quantity, "USD", "another published price, see its note", ""},
      {"lead_time", quantity, "weeks", "order to delivery", ""},
      {"year", quantity, "", "year of first delivery", ""},
      {"status", text, "", "announced or sold, and when", ""},
  };
}

// What stands in a rack.
Rows racked() {
  return join_rows(
      {
          {"power", quantity, "W", "power of one, typical; switches: without optical modules", ""},
          {"power_max", quantity, "W", "the most it draws, as its maker states", ""},
          {"units", quantity, "U", "height in a rack", ""},
          {"weight", quantity, "kg", "weight of one", ""},
          {"depth", quantity, "mm", "depth", ""},
          {"cooling", choice, "", "how its heat leaves", "air|liquid|hybrid"},
          {"airflow", quantity, "CFM", "air it needs", ""},
      },
      bought());
}

}  // namespace

PartRows gpu_rows() {
  return join_rows(
      {
          {"compute_capability", quantity, "", "CUDA compute capability x 10, or gfx number", ""},
          {"memory", quantity, "GB", "memory of one, as labelled", ""},
          {"memory_type", text, "", "kind of memory", ""},
          {"memory_bandwidth", quantity, "TB/s", "memory bandwidth", ""},
          {"fp32", quantity, "TFLOPS", "dense peak", ""},
          {"tf32", quantity, "TFLOPS", "dense peak", ""},
          {"fp16", quantity, "TFLOPS", "dense peak", ""},
          {"bf16", quantity, "TFLOPS", "dense peak; makers often print twice this, with sparsity",
           ""},
          {"fp8", quantity, "TFLOPS", "dense peak", ""},
          {"int8", quantity, "TOPS", "dense peak", ""},
          {"fp4", quantity, "TFLOPS", "dense peak", ""},
          {"bf16_achieved", quantity, "TFLOPS", "best matrix product that was measured", ""},
          {"fp8_achieved", quantity, "TFLOPS", "best matrix product that was measured", ""},
          {"power", quantity, "W", "board power limit", ""},
          {"pcie", width, "", "generation and lanes", ""},
          {"nvlink", width, "", "generation and links", ""},
          {"scale_up", reference, "", "its scale-up fabric when that is not NVLink", "scale_up"},
          {"scale_up_rate", quantity, "GB/s", "scale-up bandwidth of one, one way", ""},
          {"die_to_die", quantity, "GB/s", "between the dies of the package, one way", ""},
          {"network_ports", text, "", "network ports on the chip itself", ""},
          {"peer_to_peer", flag, "", "the driver lets GPUs reach each other over PCIe", ""},
          {"gpu_direct_rdma", flag, "", "a NIC may reach its memory", ""},
          {"multicast", flag, "", "takes part in NVLink SHARP", ""},
      },
      bought());
}

PartRows cpu_rows() {
  return {
      identity("architecture", text, "", "x86_64, arm64 or ppc64"),
      {"family", quantity, "", "CPUID family", ""},
      {"from_model", quantity, "", "lowest CPUID model of the generation", ""},
      {"memory_bandwidth", quantity, "GB/s", "of one socket", ""},
      {"socket_link", reference, "", "link between sockets", "links"},
      {"socket_links", quantity, "", "links between two sockets", ""},
      {"peer_rate", quantity, "GB/s", "PCIe peer-to-peer traffic between two sockets", ""},
      {"splits_p2p_tlps", flag, "", "cuts peer traffic into 64-byte packets", ""},
      {"root_complex_latency", quantity, "ns", "one way through the root complex", ""},
  };
}

PartRows nic_rows() {
  return join_rows(
      {
          identity("form", choice, "card|module|on-chip", "card, network module or on-chip ports"),
          {"port_rate", quantity, "Gbps", "rate of one port", ""},
          {"ports", quantity, "", "ports in the usual version", ""},
          {"total_rate", quantity, "Gbps", "all ports together", ""},
          {"planes", quantity, "", "planes it can spread one connection over", ""},
          {"speaks", words, "", "link kinds of its ports, the usual one first", ""},
          {"protocols", words, "", "records of weft list protocols it runs", ""},
          {"pcie", width, "", "generation and lanes", ""},
          {"cage", text, "", "what plugs into it", ""},
          {"power", quantity, "W", "typical, without optical modules", ""},
          {"power_max", quantity, "W", "the most, without optical modules", ""},
          {"adapter_latency", quantity, "us", "published latency of the adapter", ""},
          {"gpu_direct_rdma", flag, "", "may reach GPU memory", ""},
      },
      bought());
}

PartRows switch_rows() {
  return join_rows(
      {
          identity("kind", choice, "network|nvswitch|pcie|ocs|scale_up", "what it switches"),
          identity("form", choice, "chip|box|chassis|tray", "how it is sold; a chip is not"),
          identity("chip", reference, "switches",
                   "the chip inside; its latency and buffer count "
                   "when the switch states none"),
          {"chips", quantity, "", "chips inside", ""},
          {"process", text, "", "semiconductor process", ""},
          {"ports", ports, "", "ports at each rate it can be set to: one choice, not a sum", ""},
          {"more_ports", ports, "", "ports of another rate that it has besides", ""},
          {"fabric_ports", ports, "", "ports towards the fabric elements of a scheduled fabric",
           ""},
          {"nvlinks", quantity, "", "NVLinks", ""},
          {"nvlink_rate", quantity, "GB/s", "one NVLink, one way", ""},
          {"capacity", quantity, "Tbps", "ports x rate, one way", ""},
          {"headline", quantity, "Tbps", "the capacity its maker prints", ""},
          {"headline_counts", choice, "", "how the headline was counted",
           "one_way|both_ways|unclear"},
          {"latency", quantity, "ns", "head in to head out, empty queues", ""},
          {"buffer", quantity, "MB", "shared packet buffer", ""},
          {"packet_rate", quantity, "Gpps", "packets", ""},
          {"multicast", flag, "", "takes part in NVLink SHARP", ""},
          {"reduces", flag, "", "adds up streams of any length (SHARP 2 and later)", ""},
          {"protocol", reference, "", "what it runs", "protocols"},
          {"features", words, "", "pfc, ecn, ar (adaptive routing), spray, credit, ...", ""},
          {"cages", text, "", "what plugs into it", ""},
          {"power_per_cage", quantity, "W", "the most an optical module may draw", ""},
          {"optics", text, "", "optics that are built in", ""},
          {"optics_power", quantity, "W", "built-in optics, each 800 Gb/s", ""},
          {"energy", quantity, "pJ/bit", "chip", ""},
          {"insertion_loss", quantity, "dB", "optical circuit switches", ""},
          {"switching_time", text, "", "optical circuit switches", ""},
          {"scale_claim", quantity, "", "endpoints its maker claims for a network of it", ""},
          {"reach", quantity, "km", "distance its maker claims", ""},
          {"install_time", quantity, "h", "labour to install one", ""},
          {"use", text, "", "where it is known to run", ""},
      },
      racked());
}

PartRows link_rows() {
  return {
      identity("kind", choice,
               "pcie|nvlink|xgmi|c2c|inter_socket|on_die|ethernet|infiniband|optical_circuit|"
               "wide_area",
               "kind of link"),
      {"generation", quantity, "", "generation", ""},
      {"rate", quantity, "Gbps", "one way, after line coding; PCIe: of one lane", ""},
      {"latency", quantity, "ns", "PHY and FEC of both ends, without the cable", ""},
      {"flow_control", choice, "", "what holds a sender back", "lossy|pfc|credit"},
      {"lanes", quantity, "", "lanes", ""},
      {"lane_rate", quantity, "Gbps", "signalling of one lane", ""},
      {"signalling", quantity, "GT/s", "signalling of one lane", ""},
      {"modulation", text, "", "NRZ or PAM4", ""},
      {"encoding", text, "", "line coding", ""},
      {"efficiency", quantity, "", "payload of the signalling rate that coding leaves", ""},
      {"x16_rate", quantity, "GB/s", "16 lanes, one way", ""},
      {"x16_tlp_rate", quantity, "GB/s", "16 lanes, one way, transaction packets only", ""},
      {"links_per_gpu", quantity, "", "links of one GPU", ""},
      {"per_gpu", quantity, "GB/s", "all links of one GPU, one way", ""},
      {"per_gpu_measured", quantity, "GB/s", "between two GPUs, one way", ""},
      {"model_rate", quantity, "GB/s", "one link in NCCL's cost model", ""},
      {"copper_reach", quantity, "m", "passive copper", ""},
      {"domain", quantity, "", "GPUs of the largest domain", ""},
      {"adapter_latency", quantity, "us", "published adapter latency of the generation", ""},
      {"year", quantity, "", "year of the specification", ""},
      {"status", text, "", "announced or sold, and when", ""},
  };
}

PartRows optic_rows() {
  return join_rows(
      {
          identity("form", choice, "pluggable|lpo|npo|cpo|dac|acc|aec|aoc|fibre|link",
                   "packaging: retimed or linear pluggable, near-packaged, co-packaged, cable"),
          {"rate", quantity, "Gbps", "all ports of it together", ""},
          {"ports", quantity, "", "independent ports it carries", ""},
          {"lane_rate", quantity, "Gbps", "one lane", ""},
          {"medium", choice, "", "multimode, single-mode, amplified single-mode or copper",
           "mmf|smf|smf_amplified|copper"},
          {"reach", quantity, "m", "the longest cable", ""},
          {"reach_om3", quantity, "m", "over OM3 fibre", ""},
          {"ends", words, "", "where it fits: switch_air, switch_liquid, nic", ""},
          {"connector", text, "", "what the fibre plugs in with", ""},
          {"power", quantity, "W", "one end", ""},
          {"power_max", quantity, "W", "one end, the most", ""},
          {"energy", quantity, "pJ/bit", "energy of a bit", ""},
          {"power_saving", quantity, "", "against a retimed pluggable", ""},
          {"price_per_metre", quantity, "USD/m", "to be added to price, each metre", ""},
          {"latency_saving", quantity, "ns", "against a retimed pluggable", ""},
          {"mtbf", quantity, "h", "mean time between failures of one end", ""},
          {"failure_rate", quantity, "FIT", "failures in 1e9 hours", ""},
          {"loss_budget", quantity, "dB", "electrical loss it stands or causes", ""},
          {"service", text, "", "what is replaced when it fails", ""},
          {"use", text, "", "where it is known to run", ""},
      },
      bought());
}

PartRows server_rows() {
  return join_rows(
      {
          identity("form", choice, "tower|rack|blade|tray|generic", "form factor"),
          identity("gpu", reference, "gpus", "GPU"),
          identity("nic", reference, "nics", "NIC of the network between GPUs"),
          identity("wiring", text, "", "shipped server file with its inner links"),
          {"gpus", quantity, "", "GPUs", ""},
          {"nics", quantity, "", "NICs of the network between GPUs", ""},
          {"nic_rate", quantity, "Gbps", "one NIC of that network", ""},
          {"front_nics", quantity, "", "NICs for storage and users", ""},
          {"front_rate", quantity, "Gbps", "one of those", ""},
          {"cages", text, "", "network cages", ""},
          {"cpus", text, "", "processors", ""},
          {"pcie_switches", quantity, "", "PCIe switches", ""},
          {"scale_up", text, "", "how its GPUs are joined", ""},
          {"psus", text, "", "power supplies", ""},
          {"per_rack", quantity, "", "of them in a published rack", ""},
          {"rack_power", quantity, "kW", "of that rack", ""},
          {"host_power", quantity, "W", "all but the GPUs, each GPU", ""},
      },
      racked());
}

PartRows supernode_rows() {
  return join_rows(
      {
          identity("gpu", reference, "gpus", "GPU"),
          identity("nic", reference, "nics", "NIC of the network between supernodes"),
          identity("scale_up", reference, "scale_up", "scale-up fabric"),
          {"gpus", quantity, "", "GPUs of the domain", ""},
          {"cpus", quantity, "", "processors", ""},
          {"nodes", quantity, "", "compute nodes or trays", ""},
          {"racks", quantity, "", "racks", ""},
          {"network_racks", quantity, "", "of them with switches only", ""},
          {"switch_trays", quantity, "", "scale-up switch trays", ""},
          {"level1_switches", quantity, "", "scale-up switches, first level", ""},
          {"level2_switches", quantity, "", "scale-up switches, second level", ""},
          {"planes", quantity, "", "independent scale-up planes", ""},
          {"ocs", quantity, "", "optical circuit switches", ""},
          {"fibres_per_cube", quantity, "", "fibres that leave a block of 4 x 4 x 4 chips", ""},
          {"copper_links", quantity, "", "copper cables", ""},
          {"transceivers", quantity, "", "optical modules", ""},
          {"scale_up_rate", quantity, "TB/s", "whole domain, both ways", ""},
          {"nics", quantity, "", "NICs of the network between supernodes", ""},
          {"nic_rate", quantity, "Gbps", "one of those", ""},
          {"bf16", quantity, "PFLOPS", "dense peak of the domain", ""},
          {"memory", quantity, "TB", "GPU memory of the domain", ""},
          {"memory_bandwidth", quantity, "TB/s", "of the domain", ""},
          {"tray_power", quantity, "kW", "one compute tray", ""},
          {"switch_tray_power", quantity, "W", "one switch tray", ""},
          {"power_budget", quantity, "kW", "what its maker says to provide", ""},
          {"transient", quantity, "", "short peaks over the rated power", ""},
          {"liquid_share", quantity, "", "heat that the liquid takes", ""},
      },
      racked());
}

PartRows scale_up_rows() {
  return {
      {"per_gpu", quantity, "GB/s", "all links of one accelerator, one way", ""},
      {"per_gpu_measured", quantity, "GB/s", "the same, measured", ""},
      {"per_peer", quantity, "GB/s", "to one peer, one way", ""},
      {"per_die", quantity, "GB/s", "one die, one way", ""},
      {"peers", quantity, "", "directly joined peers", ""},
      {"lane_rate", quantity, "Gbps", "one lane", ""},
      {"domain", quantity, "", "accelerators of the largest domain", ""},
      {"topology", text, "", "how they are joined", ""},
      {"optical_links", text, "", "optical links of one accelerator", ""},
      {"status", text, "", "announced or sold, and when", ""},
  };
}

PartRows cooling_rows() {
  return {
      identity("form", choice, "method|equipment", "a way of cooling, or a machine"),
      {"pue", quantity, "", "power of the hall over power of its computers", ""},
      {"pue_dense", quantity, "", "the same at 60 kW a rack", ""},
      {"rack_power", quantity, "kW", "what a rack may draw in practice", ""},
      {"rack_power_max", quantity, "kW", "where it ends", ""},
      {"fan_power", quantity, "kW", "fans of a 30 kW rack", ""},
      {"capture", quantity, "", "heat that the liquid takes; the air takes the rest", ""},
      {"heat_flux", quantity, "W/cm2", "limit at the chip", ""},
      {"saving", quantity, "", "of operating cost, against air", ""},
      {"capacity", quantity, "kW", "heat that one machine moves", ""},
      {"power", quantity, "kW", "what the machine itself draws", ""},
      {"price", quantity, "USD", "price of one", ""},
      {"weight", quantity, "kg", "weight of one", ""},
      {"install_time", quantity, "h", "labour to install one", ""},
      {"lead_time", quantity, "weeks", "order to delivery", ""},
      {"qualities", text, "", "what is said for and against it", ""},
  };
}

PartRows protocol_rows() {
  return {
      {"layer", text, "", "what it runs over", ""},
      {"flow_control", text, "", "what keeps it from losing packets", ""},
      {"congestion_control", text, "", "what keeps queues short", ""},
      {"routable", flag, "", "crosses subnets", ""},
      {"latency", quantity, "us", "end to end, as the trade states it", ""},
      {"latency_same_leaf", quantity, "us", "64 bytes through one switch, measured", ""},
      {"latency_cross_leaf", quantity, "us", "64 bytes through three switches, measured", ""},
      {"adapter_latency", quantity, "us", "published adapter latency", ""},
      {"efficiency", quantity, "", "share of the line rate that a large job gets", ""},
      {"header", quantity, "B", "headers of a packet of an RDMA write", ""},
      {"udp_port", quantity, "", "destination port", ""},
      {"ethertype", text, "", "Ethernet type", ""},
      {"scale_claim", quantity, "", "endpoints claimed", ""},
      {"released", text, "", "date of the specification", ""},
      {"features", words, "", "what it brings", ""},
      {"licence", text, "", "what must be licensed to use it", ""},
      {"licence_price", quantity, "USD", "licence of one endpoint", ""},
      {"cost", text, "", "what is said of its cost", ""},
  };
}

// A fact with one number, of any unit, and what else is needed to read it.
PartRows fact_rows() {
  return {
      {"value", value, "", "the figure", ""},
      {"value2", value, "", "a second figure of the same fact, see its note", ""},
      {"gpus", quantity, "", "GPUs it was seen on", ""},
      {"period", quantity, "d", "how long it was watched", ""},
      {"mtbf", quantity, "h", "the same as a mean time between failures of one", ""},
      identity("of", text, "", "the record that it is a part of"),
  };
}

PartRows network_rows() {
  return {
      {"topology", text, "", "kind of network", ""},
      {"endpoints", quantity, "", "GPUs or hosts", ""},
      {"switches", quantity, "", "switches", ""},
      {"switch_links", quantity, "", "links between switches", ""},
      {"cost", quantity, "MUSD", "network", ""},
      {"cost_per_endpoint", quantity, "USD", "network, each endpoint", ""},
      {"switch_cost", quantity, "USD", "switches of it", ""},
      {"link_cost", quantity, "USD", "links of it, with optics", ""},
  };
}

}  // namespace weft::import
