// The constants of NCCL 2.30's cost model (src/graph/tuning.cc of NVIDIA/nccl): latencies in
// microseconds, bandwidths in GB/s of 1e9 bytes. Nothing here is measured by or fitted for Weft.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace weft::collective::tables {

inline constexpr std::size_t kProtocols = 3;  // LL, LL128, Simple
using PerProtocol = std::array<double, kProtocols>;

// Start-up cost of a collective.
inline constexpr PerProtocol kTreeBase{6.8, 14.0, 8.4};
inline constexpr PerProtocol kRingBase{6.6, 14.0, 8.4};
inline constexpr double kPatBase = 8.0;

// One dependent hop, by what the hop goes over.
struct HopLatency {
  PerProtocol tree, ring;
  double collnet_direct, collnet_chain, nvls, nvls_tree, pat;  // Simple only; 0: not there
};
inline constexpr HopLatency kNvlinkHop{
    {0.6, 1.25, 4.0}, {0.6, 1.9, 3.4}, 3.7, 2.8, 25.0, 25.0, 4.0};
inline constexpr HopLatency kPcieHop{{1.0, 1.9, 4.0}, {1.0, 2.5, 5.7}, 3.7, 2.8, 0, 0, 4.0};
inline constexpr HopLatency kNetworkHop{
    {5.0, 8.5, 14.0}, {2.7, 4.0, 14.0}, 31.0, 30.0, 18.0, 20.9, 14.0};

// CPU cost of posting to the network, hidden behind hops that take longer; x3 for Simple.
inline constexpr double kNetworkOverhead = 1.0;
inline constexpr double kNetworkOverheadAmd = 2.0;

// Rows: Volta, Ampere, Hopper, Blackwell. Columns: 1 node, 2 nodes, more.
inline constexpr std::size_t kGenerations = 4;
using PerGeneration = std::array<std::array<double, 3>, kGenerations>;
// LL's ceiling over all channels. One node: row of the GPU. More: row 0 with Intel CPUs, 1 with
// AMD.
inline constexpr PerGeneration kLlMax{
    {{39.0, 39.0, 20.4}, {87.7, 22.5, 19.0}, {141.0, 45.0, 35.0}, {282.0, 90.0, 70.0}}};
// Ceilings per channel: what the SMs of one channel move.
inline constexpr PerGeneration kRingLl128{
    {{20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 36.7}, {40, 40, 40}}};
inline constexpr PerGeneration kTreeLl128{
    {{20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 29.0}, {55.6, 31.67, 20.0}}};
inline constexpr PerGeneration kTree{
    {{26.5, 18.5, 10.0}, {24.0, 23.6, 17.8}, {38.7, 41.4, 36.0}, {70.0, 42.8, 24.0}}};
inline constexpr PerGeneration kNvlsTree{
    {{26.5, 18.5, 10.0}, {24.0, 23.6, 17.8}, {0.0, 57.7, 45.5}, {0.0, 96.0, 80.0}}};
inline constexpr std::array<double, kGenerations> kNvlsEfficiency{0, 0, 0.85, 0.74};

// Correction of the tree's bandwidth at 64 B x 2^i, by protocol.
inline constexpr std::size_t kTreeSizes = 24;
inline constexpr std::array<std::array<double, kTreeSizes>, kProtocols> kTreeCorrection{
    {{1.0, 1.0, 1.0, 1.0, 0.9, 0.8, 0.7, 0.7, 0.7, 0.7, 0.6, 0.5,
      0.4, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.0, 1.0, 1.0, 1.0},
     {1.0, 1.0, 1.0, 1.0, 1.0, 0.9, 0.8, 0.8, 0.8, 0.7, 0.6, 0.6,
      0.6, 0.6, 0.6, 0.6, 0.8, 0.9, 0.9, 0.9, 0.9, 1.0, 1.0, 1.0},
     {0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.8, 0.7, 0.6, 0.6, 0.5,
      0.5, 0.5, 0.5, 0.6, 0.7, 0.8, 0.7, 0.7, 0.8, 0.9, 0.9, 0.9}}};

}  // namespace weft::collective::tables
