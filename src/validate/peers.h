// What other models say of the same row, so that a table can set them beside Weft's errors. Each is
// reimplemented from published facts and covers only what its own work covers:
//  - nccl_model: the time NCCL 2.30's own cost model gives to the algorithm and protocol that ran.
//  - astra_sim: ASTRA-sim's validated HGX-H100 configuration (analytical, congestion aware): a ring
//    over a switch of 400 GB/s and 936.25 ns; one server of Hopper GPUs.
//  - simai: the bus bandwidth rules of SimAI's analytical mode (no latency at all): A100 and
//  Hopper.
#pragma once

#include <array>
#include <string_view>

#include "collective/channels.h"
#include "work/work.h"

namespace weft::validate {

inline constexpr std::size_t kPeerCount = 3;
inline constexpr std::array<std::string_view, kPeerCount> kPeerNames = {"nccl_model", "astra_sim",
                                                                        "simai"};

// Microseconds by peer; 0: the peer does not cover this.
using PeerTimes = std::array<double, kPeerCount>;
PeerTimes peer_times(const collective::ChannelPlan& plan, const work::CollectiveOp& op,
                     std::string_view algorithm, std::string_view protocol);

}  // namespace weft::validate
