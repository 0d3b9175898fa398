#include "work/work.h"

#include <gtest/gtest.h>

namespace weft::work {
namespace {

Work two_ranks() {
  Work work;
  work.rank_gpu = {0, 1};
  work.groups = {{RankId(0), RankId(1)}};
  return work;
}

Op all_reduce_op() {
  Op op;
  op.what = CollectiveOp{.kind = CollectiveKind::all_reduce,
                         .group = GroupId(0),
                         .size = Bytes(1024),
                         .root = RankId(0),
                         .algorithm = {},
                         .protocol = {},
                         .channels = 0};
  return op;
}

TEST(Work, NamesRoundTripAndKnowTheSpellingsOfOtherTools) {
  for (const std::string& name : collective_names())
    EXPECT_EQ(to_text(*parse_collective(name)), name);
  EXPECT_EQ(parse_collective("alltoall"), CollectiveKind::all_to_all);
  EXPECT_EQ(parse_collective("AllReduce"), CollectiveKind::all_reduce);
  EXPECT_EQ(parse_collective("sendrecv"), CollectiveKind::send_recv);
  EXPECT_EQ(parse_collective("reduce-scatter"), CollectiveKind::reduce_scatter);
  EXPECT_FALSE(parse_collective("scan"));
}

TEST(Work, BusBandwidthFactorsAreThoseOfNcclTests) {
  EXPECT_DOUBLE_EQ(busbw_factor(CollectiveKind::all_reduce, 8), 1.75);      // 2 x 7/8
  EXPECT_DOUBLE_EQ(busbw_factor(CollectiveKind::all_gather, 8), 0.875);     // 7/8
  EXPECT_DOUBLE_EQ(busbw_factor(CollectiveKind::reduce_scatter, 4), 0.75);  // 3/4
  EXPECT_DOUBLE_EQ(busbw_factor(CollectiveKind::all_to_all, 2), 0.5);       // 1/2
  EXPECT_DOUBLE_EQ(busbw_factor(CollectiveKind::broadcast, 8), 1);
  EXPECT_DOUBLE_EQ(busbw_factor(CollectiveKind::gather, 4), 0.75);   // 3/4
  EXPECT_DOUBLE_EQ(busbw_factor(CollectiveKind::scatter, 4), 0.75);  // 3/4
  // hypercube_perf: (n-1) shares in the algorithm bandwidth already.
  EXPECT_DOUBLE_EQ(algbw_factor(CollectiveKind::hypercube, 8), 0.875);
  EXPECT_DOUBLE_EQ(busbw_factor(CollectiveKind::hypercube, 8), 1);
  EXPECT_DOUBLE_EQ(algbw_factor(CollectiveKind::all_reduce, 8), 1);
}

TEST(Work, SoundWorkHasNoFaults) {
  Work work = two_ranks();
  work.ops = {all_reduce_op(), all_reduce_op()};
  work.ops[1].after = {OpId(0)};
  EXPECT_TRUE(validate(work).empty());
}

TEST(Work, EveryFaultIsSaidOnce) {
  Work work = two_ranks();
  work.groups.push_back({RankId(1)});
  work.ops.resize(4);
  work.ops[0].what = Compute{.rank = RankId(7), .time = Duration()};
  work.ops[1].what = Transfer{.from = RankId(0), .to = RankId(0), .size = Bytes(1)};
  work.ops[2] = all_reduce_op();
  std::get<CollectiveOp>(work.ops[2].what).group = GroupId(1);
  work.ops[3] = all_reduce_op();
  work.ops[3].after = {OpId(9)};
  const std::vector<std::string> faults = validate(work);
  ASSERT_EQ(faults.size(), 4u);
  EXPECT_EQ(faults[0], "op 0: its rank 7 does not exist, there are 2 ranks");
  EXPECT_EQ(faults[1], "op 1: sends from rank 0 to itself");
  EXPECT_EQ(faults[2], "op 2: all_reduce needs two ranks or more, group 1 has 1");
  EXPECT_EQ(faults[3], "op 3: waits for op 9, which does not exist");
}

TEST(Work, ACycleIsFoundAndNamed) {
  Work work = two_ranks();
  work.ops = {all_reduce_op(), all_reduce_op(), all_reduce_op()};
  work.ops[1].after = {OpId(2)};
  work.ops[2].after = {OpId(1)};
  work.ops[1].label = "gradients";
  const std::vector<std::string> faults = validate(work);
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_EQ(faults[0], "op 1 (gradients) can never start: its dependencies form a cycle");
}

TEST(Work, ARootOutsideItsGroupIsRefused) {
  Work work = two_ranks();
  Op op = all_reduce_op();
  auto& collective = std::get<CollectiveOp>(op.what);
  collective.kind = CollectiveKind::broadcast;
  collective.root = RankId(2);
  work.ops = {op};
  EXPECT_EQ(validate(work).at(0), "op 0: root 2 is not a place in group 0 of 2 ranks");
}

}  // namespace
}  // namespace weft::work
