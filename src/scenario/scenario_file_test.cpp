#include "scenario/scenario_file.h"

#include <gtest/gtest.h>

namespace weft::scenario {
namespace {

TEST(ParseScenario, ReadsEveryForm) {
  const ScenarioFile scenario = parse_scenario(R"(weft: scenario/1
cluster: demo-8x8-h100-rail
stack: rocev2
seed: 7
work:
  - {collective: all_reduce, size: 256MiB, ranks: "0-15", id: first}
  - {transfer: [node0/gpu0, node1/gpu0], size: 1GiB, after: first}
  - {compute: 100us, ranks: "0-7", id: forward}
  - {pattern: permutation, size: 4MiB, at: 5us, after: [first, forward]}
)",
                                               "s.yaml");
  ASSERT_EQ(scenario.work.size(), 4u);
  EXPECT_EQ(scenario.cluster->text, "demo-8x8-h100-rail");
  EXPECT_EQ(scenario.seed, 7);
  EXPECT_EQ(scenario.work[0].size, Bytes::mib(256));
  EXPECT_EQ(scenario.work[1].from.text, "node0/gpu0");
  EXPECT_EQ(scenario.work[1].after[0].text, "first");
  EXPECT_EQ(scenario.work[2].time, Duration::microseconds(100));
  EXPECT_EQ(scenario.work[3].at, Duration::microseconds(5));
  EXPECT_EQ(scenario.work[3].after.size(), 2u);
}

TEST(ParseScenario, ReadsTheShapeOfAnMoeExchange) {
  const ScenarioFile scenario = parse_scenario(R"(weft: scenario/1
cluster: demo-8x8-h100-rail
work:
  - {collective: moe_dispatch, tokens: 128, experts: 64, top_k: 6, max_nodes: 2}
  - {collective: moe_combine, type: fp8, skew: 0.5, seed: 9}
)",
                                               "s.yaml");
  const work::MoeShape& out = *scenario.work[0].moe;
  EXPECT_EQ(out.tokens, 128);
  EXPECT_EQ(out.token_bytes(), 7392);  // fp8 unless told otherwise
  EXPECT_EQ(out.max_nodes, 2);
  EXPECT_FALSE(out.drawn);
  const work::MoeShape& back = *scenario.work[1].moe;
  EXPECT_TRUE(back.drawn);  // a skew draws
  EXPECT_EQ(back.seed, 9u);
  EXPECT_EQ(back.token_bytes(), 7392);
  // tokens belongs to MoE exchanges, size does not.
  EXPECT_THROW(parse_scenario("weft: scenario/1\nwork:\n  - {collective: all_reduce, size: 1MiB, "
                              "tokens: 4}\n",
                              "s.yaml"),
               InputError);
  EXPECT_THROW(parse_scenario("weft: scenario/1\nwork:\n  - {collective: moe_combine, routing: "
                              "expected, skew: 1}\n",
                              "s.yaml"),
               InputError);
}

TEST(ParseScenario, ReportsEveryFaultOfTheFileAtOnce) {
  try {
    parse_scenario(R"(weft: scenario/1
stak: rocev2
work:
  - {collective: all_reduce, size: 256}
  - {transfer: [0], size: 1MiB, after: nobody}
  - {collective, size: 1MiB}
  - {pattern: [ring], size: 1MiB}
)",
                   "s.yaml");
    FAIL();
  } catch (const InputError& error) {
    ASSERT_EQ(error.diagnostics().size(), 6u) << error.what();
    for (const Diagnostic& diagnostic : error.diagnostics()) {
      EXPECT_GT(diagnostic.where.line, 0);
      EXPECT_FALSE(diagnostic.hint.empty()) << diagnostic.what;
    }
  }
}

TEST(ParseRankList, RangesAndSingles) {
  EXPECT_EQ(parse_rank_list("0-2,5", 8), (std::vector<std::uint32_t>{0, 1, 2, 5}));
  EXPECT_EQ(parse_rank_list("3", 4), (std::vector<std::uint32_t>{3}));
  for (const char* wrong : {"", "4-2", "8", "a", "1-2-3", "-1"}) {
    EXPECT_FALSE(parse_rank_list(wrong, 8)) << wrong;
  }
}

}  // namespace
}  // namespace weft::scenario
