// NVLink in closed form, and bundles of equal links inside a server (xGMI, NVLink-C2C, UPI). A
// packet is flits of 16 B: one header and at most 16 of data, so 256 B of payload cost 272 on the
// wire. Model and limits: docs/models/nvlink.md. The packet format is public for NVLink 1 and 2
// only and is taken to hold for later ones. Leaves out: reads' request flits, byte enables.
// Sources: NVIDIA P100, V100, A100, H100 and Blackwell architecture papers; nvidia-smi nvlink -s.
#pragma once

#include "base/units.h"
#include "fabric/classes.h"

namespace weft::fabric {

inline constexpr int kMaxNvlinkGeneration = 6;

// One link, one direction: what its lanes carry, what NVIDIA states, and what payload gets.
BitRate nvlink_wire_rate(int generation);
BitRate nvlink_stated_rate(int generation);
BitRate nvlink_payload_rate(int generation);

// `links` parallel NVLinks of a generation as one link. REQUIRES 1 <= generation <= 6, links >= 1.
LinkClass nvlink_link_class(int generation, int links);

// `links` equal parallel links as one: rates and buffers add up, latency stays.
LinkClass bundled(const LinkClass& one, int links);
// A bundle between two sockets that gives PCIe peer-to-peer traffic only `peer_rate` in all.
LinkClass inter_socket_link_class(const LinkClass& one, int links, BitRate peer_rate);

}  // namespace weft::fabric
