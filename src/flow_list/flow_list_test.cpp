#include "flow_list/flow_list.h"

#include <gtest/gtest.h>

namespace weft::flow_list {
namespace {

std::vector<Diagnostic> faults(const std::string& text) {
  try {
    read_htsim_cm(text, "m.cm");
  } catch (const InputError& error) {
    return error.diagnostics();
  }
  return {};
}

Placement on_ranks(std::size_t count) {
  Placement placement;
  for (std::size_t r = 0; r < count; ++r) placement.rank_of_node.emplace_back(r);
  placement.unit = Duration::microseconds(1);
  return placement;
}

TEST(HtsimCm, FlowsAndTriggersBecomeOps) {
  // As htsim's generators write it, a carriage return and a missing last line end included.
  const FlowList list = read_htsim_cm(
      "Nodes 4\r\nConnections 3\nTriggers 1\n"
      "0->1 id 1 start 0 size 2000000 send_done_trigger 7\n"
      "2->1 id 2 start 40 size 250000 recv_done_trigger 7  # the second one\n"
      "1->3 id 3 trigger 7 size 5\n"
      "trigger id 7 barrier count 2",
      "m.cm");
  EXPECT_EQ(list.nodes, 4u);
  ASSERT_EQ(list.flows.size(), 3u);
  EXPECT_EQ(list.first_timed(), &list.flows[1]);
  EXPECT_EQ(list.flows[2].where.line, 6);
  work::Work work;
  work.rank_gpu = {0, 1, 2, 3};
  const auto ops = add_to(work, list, on_ranks(4));
  EXPECT_EQ(ops.size(), 3u);
  EXPECT_EQ(work.ops[1].earliest, Instant::at(Duration::microseconds(40)));
  ASSERT_EQ(work.triggers.size(), 1u);
  EXPECT_EQ(work.triggers[0].needs, 2u);
  EXPECT_EQ(work.triggers[0].targets, std::vector<work::OpId>{ops[2]});
  EXPECT_EQ(work.ops[2].label, "1->3 id 3");
  EXPECT_TRUE(work::validate(work).empty());
}

TEST(HtsimCm, EveryFaultHasItsPlace) {
  const auto found = faults(
      "Nodes 2\n"
      "0->0 start 0 size 1\n"
      "0->1 start 0\n"
      "0->1 start 0 size 2MB\n"
      "0->1 size 1 strat 0\n"
      "0->5 start 0 size 1\n"
      "0->1 trigger 3 size 1\n"
      "0->1 id 1 msg start 0 size 1\n"
      "failure switch_type AGG switch_id 0 link_id 1\n"
      "nodes\n");
  std::vector<int> lines;
  for (const Diagnostic& d : found) lines.push_back(d.where.line);
  EXPECT_EQ(lines, (std::vector<int>{2, 3, 4, 5, 5, 5, 8, 9, 10}));
}

TEST(HtsimCm, ReferencesThatCannotHoldAreFaults) {
  EXPECT_EQ(faults("Nodes 2\nConnections 2\n0->1 start 0 size 1\n").size(), 1u);
  EXPECT_EQ(faults("Nodes 2\n0->5 start 0 size 1\n").at(0).where.line, 2);
  EXPECT_EQ(faults("Nodes 2\n0->1 trigger 3 size 1\n").at(0).where.line, 2);  // not defined
  // Two flows wait for a trigger that starts one of them each time, and it fires once.
  const auto never = faults(
      "Nodes 2\n0->1 start 0 size 1 send_done_trigger 1\n0->1 trigger 1 size 1\n"
      "0->1 trigger 1 size 1\ntrigger id 1 multishot\n");
  ASSERT_EQ(never.size(), 1u);
  EXPECT_EQ(never[0].where.line, 5);
  EXPECT_EQ(faults("").size(), 1u);
  EXPECT_EQ(faults("Nodes 2\n").size(), 1u);
}

}  // namespace
}  // namespace weft::flow_list
