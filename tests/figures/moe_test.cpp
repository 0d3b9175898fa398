// DeepEP's published figures on H800 with 400 Gb/s InfiniBand (README of deepseek-ai/DeepEP, MIT).
#include <gtest/gtest.h>

#include "collective/moe_traffic.h"
#include "predict.h"

namespace weft::figures {
namespace {

using work::CollectiveKind;

Answer ask_moe(CollectiveKind kind, std::uint32_t ranks, const work::MoeShape& shape) {
  Question question;
  question.source = "h800-8x8-ndr";
  question.kind = kind;
  question.size = shape.size();
  question.gpus = ranks;
  question.moe = shape;
  return ask(question);
}

work::MoeShape shape_of(CollectiveKind kind) {
  return kind == CollectiveKind::moe_dispatch ? work::dispatch_shape() : work::combine_shape();
}

struct Published {
  CollectiveKind kind;
  std::uint32_t ranks;
  double figure;
};

// 128 tokens of 7168, 8 of 256 experts: microseconds. Latencies were fitted on these.
class LowLatency : public testing::TestWithParam<Published> {};
TEST_P(LowLatency, WithinFifteenPercent) {
  work::MoeShape shape = shape_of(GetParam().kind);
  shape.tokens = 128;
  const Answer answer = ask_moe(GetParam().kind, GetParam().ranks, shape);
  EXPECT_EQ(answer.algorithm, "moe_direct");
  EXPECT_NEAR(answer.time_us, GetParam().figure, 0.15 * GetParam().figure);
}
INSTANTIATE_TEST_SUITE_P(DeepEp, LowLatency,
                         testing::Values(Published{CollectiveKind::moe_dispatch, 8, 77},
                                         Published{CollectiveKind::moe_dispatch, 16, 118},
                                         Published{CollectiveKind::moe_dispatch, 64, 173},
                                         Published{CollectiveKind::moe_combine, 8, 114},
                                         Published{CollectiveKind::moe_combine, 16, 195},
                                         Published{CollectiveKind::moe_combine, 64, 314}));

// 4096 tokens, at most 4 nodes: GB/s, over NVLink (one copy a rank) on one node, else over RDMA
// (one copy a node). Nothing was fitted on these.
class Normal : public testing::TestWithParam<Published> {};
TEST_P(Normal, WithinFifteenPercent) {
  work::MoeShape shape = shape_of(GetParam().kind);
  shape.max_nodes = 4;
  const auto ranks = GetParam().ranks;
  const Answer answer = ask_moe(GetParam().kind, ranks, shape);
  EXPECT_EQ(answer.algorithm, "moe_relay");
  const auto spread =
      collective::expected_spread(shape, static_cast<int>(ranks), static_cast<int>(ranks) / 8);
  const double copies = ranks == 8 ? spread.ranks : spread.nodes;
  const double gb_per_s =
      4096.0 * static_cast<double>(shape.token_bytes()) * copies / (answer.time_us * 1e3);
  EXPECT_NEAR(gb_per_s, GetParam().figure, 0.15 * GetParam().figure);
}
INSTANTIATE_TEST_SUITE_P(DeepEp, Normal,
                         testing::Values(Published{CollectiveKind::moe_dispatch, 8, 153},
                                         Published{CollectiveKind::moe_dispatch, 16, 43},
                                         Published{CollectiveKind::moe_dispatch, 32, 58},
                                         Published{CollectiveKind::moe_dispatch, 64, 51},
                                         Published{CollectiveKind::moe_combine, 8, 158},
                                         Published{CollectiveKind::moe_combine, 16, 43},
                                         Published{CollectiveKind::moe_combine, 32, 57},
                                         Published{CollectiveKind::moe_combine, 64, 50}));

}  // namespace
}  // namespace weft::figures
