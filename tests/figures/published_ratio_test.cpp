// Ratios that others published: SimAI on 32 and 256 H800-class GPUs, three partitions of GB200.
// Sources: SimAI (NSDI 2025) repository tables; NVIDIA/nccl issue 1801.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "predict.h"

namespace weft::figures {
namespace {

using work::CollectiveKind;

double busbw_of(const char* source, const char* algorithm, Bytes size) {
  Question question;
  question.source = source;
  question.size = size;
  question.algorithm = algorithm;
  return ask(question).busbw;
}

// Inside a server of GPUs with 8 NVLinks (the H800; SimAI draws 1360 to 1440 Gb/s) all_reduce of
// tensor-parallel groups: NVLS 218.1 GB/s at 512 MiB, ring 166.7: 1.31. By bytes: a ring moves
// 2 x 7/8 = 1.75 S, NVLS 1 + 1/8 = 1.125 S, a ratio of 1.56 at most.
TEST(SimAi, NvlsOverRingInsideAServer) {
  const double nvls = busbw_of("hgx-h800-2x200g", "nvls", Bytes::mib(512));
  const double ring = busbw_of("hgx-h800-2x200g", "ring", Bytes::mib(512));
  EXPECT_NEAR(nvls, 218.1, 0.10 * 218.1);
  EXPECT_NEAR(ring, 166.7, 0.10 * 166.7);
  EXPECT_NEAR(nvls / ring, 1.31, 0.10 * 1.31);
}

// Data-parallel groups of 256 GPUs: 8 rings, ring g over GPU g of each of 32 servers, all at once.
std::vector<double> busbw_of_rings(const char* cluster, std::uint64_t seed) {
  const scenario::Library library = shipped_library();
  scenario::StackOptions options;
  options.seed = seed;
  const scenario::Session session(library, scenario::open_cluster(library, cluster, {}), options);
  work::Work work = scenario::work_on_all_gpus(session.fabric());
  for (std::uint32_t gpu = 0; gpu < 8; ++gpu) {
    std::vector<work::RankId> ring;
    for (std::uint32_t server = 0; server < 32; ++server) ring.emplace_back(server * 8 + gpu);
    work::CollectiveOp op;
    op.group = work::GroupId(work.groups.size());
    op.size = Bytes::mib(512);
    op.algorithm = "ring";
    work.groups.push_back(std::move(ring));
    work.ops.push_back({op, Instant(), {}, ""});
  }
  const auto& engine = scenario::find_engine({"flow", {}});
  const result::Result result = engine.run(session.setup(std::move(work)), nullptr);
  std::vector<double> out;
  for (const result::OpSpan& op : result.ops) {
    const double seconds = (op.end - op.start).to_seconds();
    out.push_back(Bytes::mib(512).to_double() * 2 * 31 / 32 / seconds / 1e9);
  }
  return out;
}

// SimAI, 16 to 512 MiB: rails 33.1 to 45.7 GB/s a ring, single top-of-rack switches (DCN+) 23.3 to
// 36.2: rails ahead by 1.26 to 1.77. On rails a ring's NIC is its own: 50 GB/s x 0.980 (RoCEv2
// framing) x 0.967 = 47.4 less latency. Behind a top-of-rack switch the 8 rings of a server hash
// onto 8 of the uplinks, some twice: those halve.
TEST(SimAi, RailsOverTopOfRack) {
  const std::vector<double> rail = busbw_of_rings("h100-256-rail", 1);
  for (const double busbw : rail) EXPECT_NEAR(busbw, 45.7, 0.05 * 45.7);
  for (const std::uint64_t seed : {1, 2, 3}) {
    const std::vector<double> tor = busbw_of_rings("h100-256-tor", seed);
    const double mean = std::accumulate(tor.begin(), tor.end(), 0.0) / 8;
    EXPECT_GT(rail[0] / mean, 1.26) << seed;
    EXPECT_LT(rail[0] / mean, 1.77) << seed;
    EXPECT_GT(*std::min_element(tor.begin(), tor.end()), 0.95 * rail[0] / 2) << seed;
  }
}

// Three NVLink domains of GB200, all_reduce of 16 GiB without NVLS: domains of 4 GPUs ring 196.7
// and tree 234.4 GB/s, domains of 8 393.7 and 485.7. Ring: 4 (8) NICs of 50 GB/s, each of 48.2
// after framing and efficiency. Tree: with three nodes each NIC carries 3/4 of what a ring's
// carries.
TEST(Gb200, TreeOverRingOnThreeDomains) {
  const double ring4 = busbw_of("gb200-3xnvl4", "ring", Bytes::gib(16));
  const double tree4 = busbw_of("gb200-3xnvl4", "tree", Bytes::gib(16));
  const double ring8 = busbw_of("gb200-3xnvl8", "ring", Bytes::gib(16));
  const double tree8 = busbw_of("gb200-3xnvl8", "tree", Bytes::gib(16));
  EXPECT_NEAR(ring4, 196.7, 0.03 * 196.7);
  EXPECT_NEAR(tree4, 234.4, 0.04 * 234.4);
  EXPECT_NEAR(ring8, 393.7, 0.03 * 393.7);
  EXPECT_NEAR(tree8, 485.7, 0.04 * 485.7);
  EXPECT_NEAR(tree4 / ring4, 1.19, 0.05 * 1.19);
  EXPECT_NEAR(tree8 / ring8, 1.23, 0.05 * 1.23);
}

}  // namespace
}  // namespace weft::figures
