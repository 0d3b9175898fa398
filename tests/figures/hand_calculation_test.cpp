// `weft bench all_reduce --nodes 2` on the topology files that Azure (NDv4) and AWS (p4d) ship to
// NCCL, against the same figures worked out by hand from the model's constants.
//
// Both: 2 nodes x 8 A100, n = 16 ranks, N = 2. The file names neither NVLink nor NIC rate; they are
// filled in as 12 NVLinks through NVSwitch and HDR200 (NDv4), 100 Gb/s EFA (p4d). Measured latency
// of A100 is 1.45 times NCCL's model (data/constants/collective.yaml); of what EFA's plugin
// declares 0.84 is true. The NIC's size curve bends all of it but the NIC's own latency.
#include <gtest/gtest.h>

#include "predict.h"

namespace weft::figures {
namespace {

constexpr double kLatencyScale = 1.45;
constexpr double kEfaShare = 0.84;
constexpr double kRanks = 16;

// The factor by message size that was fitted for a class of NIC, Simple protocol or the others.
double bend(std::string_view nic, fabric::Vendor vendor, bool simple, Bytes size) {
  const scenario::Library library = shipped_library();
  const collective::NicConstants& of = library.collective_constants().nic(nic, vendor);
  return (simple ? of.simple : of.low_latency).at(size);
}

std::string file(const char* name) {
  return std::string(WEFT_SOURCE_DIR) + "/tests/data/nccl/" + name;
}

Answer two_nodes(const char* name, Bytes size, const char* algorithm = "",
                 const char* protocol = "") {
  Question question;
  question.source = file(name);
  question.size = size;
  question.nodes = 2;
  question.algorithm = algorithm;
  question.protocol = protocol;
  return ask(question);
}

// Tree, LL: base 6.8 us, then twice (up and down) 7 NVLink hops of 0.6 us in the node and log2(2) =
// 1 network hop of 5 us: 6.8 + 2 (7 x 0.6 + 5) = 25.2 us.
TEST(AzureNdv4, EightBytesAreTheLatencyOfTree) {
  const Answer answer = two_nodes("azure_ndv4_topo.xml", Bytes(8));
  EXPECT_EQ(answer.algorithm, "tree");
  EXPECT_EQ(answer.protocol, "LL");
  const double factor = bend("connectx6", fabric::Vendor::mellanox, false, Bytes(8));
  EXPECT_NEAR(answer.time_us, 25.2 * kLatencyScale * factor, 0.01);
}

// Ring, Simple, 8 channels, one a NIC. Latency: base 8.4 us; 2 (n-1) = 30 steps of which 2 (N-1) =
// 2 cross the network at 14 us; the other 28 cost max(NVLink 3.4, AMD host 2 x 3 = 6) us: 8.4 + 28
// x 6 + 2 x 14 = 204.4 us, x 1.4 (ring, Simple, several nodes, large). Bytes on each NIC: 2 (n-1)/n
// of an eighth of the buffer. Rate: 200 Gb/s = 25 GB/s, of which a packet of 4096 B pays 26 B of
// InfiniBand headers, and collectives reach 0.967.
TEST(AzureNdv4, EightGibibytesAreTheBytesOfRingThroughEachNic) {
  const Answer answer = two_nodes("azure_ndv4_topo.xml", Bytes::gib(8));
  EXPECT_EQ(answer.algorithm, "ring");
  const double latency_us = 204.4 * 1.4 * kLatencyScale;                           // 414.9
  const double bytes = Bytes::gib(8).to_double() / 8 * 2 * (kRanks - 1) / kRanks;  // 2.013e9
  const double rate = 25e9 * 4096 / (4096 + 26) * 0.967;                           // 24.02 GB/s
  // 84,222 us before the curve: 191.2 GB/s of bus bandwidth.
  const double factor = bend("connectx6", fabric::Vendor::mellanox, true, Bytes::gib(8));
  EXPECT_NEAR(answer.time_us, (latency_us + bytes / rate * 1e6) * factor, 1.0);
  EXPECT_NEAR(answer.busbw, 191.2 / factor, 0.1);
  EXPECT_NEAR(answer.busbw / 189.6, 1, 0.03);  // measured on 8 x 200 Gb/s RoCE
}

// The cost model's turn from tree to ring: tree LL128 at 2 MiB, ring LL128 at 16 MiB.
TEST(AzureNdv4, TheChoiceFollowsTheCostModel) {
  EXPECT_EQ(two_nodes("azure_ndv4_topo.xml", Bytes::mib(2)).algorithm, "tree");
  EXPECT_EQ(two_nodes("azure_ndv4_topo.xml", Bytes::mib(2)).protocol, "LL128");
  EXPECT_EQ(two_nodes("azure_ndv4_topo.xml", Bytes::mib(16)).algorithm, "ring");
}

// Intel host and EFA: its plugin declares 75 us, paid on each of the 2 x log2(2) network hops of
// tree LL: 6.8 + 2 (7 x 0.6 + 5) = 25.2 us scaled and bent, + 2 x 75 us x 0.84.
TEST(AwsP4d, EightBytesAreTheLatencyOfTreeAndOfThePlugin) {
  const Answer answer = two_nodes("aws_p4d.xml", Bytes(8));
  EXPECT_EQ(answer.algorithm, "tree");
  const double factor = bend("efa-v1", fabric::Vendor::aws, false, Bytes(8));
  EXPECT_NEAR(answer.time_us, 25.2 * kLatencyScale * factor + 2 * 75 * kEfaShare, 0.01);
  EXPECT_NEAR(answer.time_us / 164.3, 1, 0.05);  // measured on two p4de
}

// Ring, Simple, 4 channels, one a NIC of 12.5 GB/s. Latency: 8.4 + 28 x max(3.4, Intel host 1 x 3 =
// 3)
// + 2 x 14 = 131.6 us, x 1.4, scaled; the plugin's 75 us twice a hop (Simple) on 2 hops, x 1.4,
// unscaled. Rate: 4096 B packets pay 82 B of headers, and collectives reach 0.99 through EFA.
TEST(AwsP4d, EightGibibytesByRingAreTheBytesThroughEachNic) {
  const Answer answer = two_nodes("aws_p4d.xml", Bytes::gib(8), "ring", "simple");
  const double factor = bend("efa-v1", fabric::Vendor::aws, true, Bytes::gib(8));
  const double latency_us = 131.6 * 1.4 * kLatencyScale * factor + 2 * 2 * 75 * 1.4 * kEfaShare;
  const double bytes = Bytes::gib(8).to_double() / 4 * 2 * (kRanks - 1) / kRanks;  // 4.027e9
  const double rate = 12.5e9 * 4096 / (4096 + 82) * 0.99;                          // 12.13 GB/s
  EXPECT_NEAR(answer.time_us, latency_us + bytes / rate * 1e6 * factor, 5.0);
}

// Left alone it takes tree, whose cap binds: 4 channels x 24 GB/s (the search's rate inside the
// node) x 0.92, halved for going up and down: 44.16 GB/s of algorithm bandwidth.
TEST(AwsP4d, EightGibibytesByTreeAreItsCap) {
  const Answer answer = two_nodes("aws_p4d.xml", Bytes::gib(8));
  EXPECT_EQ(answer.algorithm, "tree");
  const double algbw = Bytes::gib(8).to_double() / answer.time_us / 1e3;
  const double factor = bend("efa-v1", fabric::Vendor::aws, true, Bytes::gib(8));
  EXPECT_NEAR(algbw, 4 * 24 * 0.92 / 2 / factor, 0.15);
}

}  // namespace
}  // namespace weft::figures
