// The file says at every size what the tuner model chooses there.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/text.h"
#include "collective/tuner.h"
#include "emit/emitter.h"
#include "import/dump_test_support.h"

namespace weft::emit {
namespace {

struct Row {
  std::string collective, algorithm, protocol;
  std::int64_t low = 0, high = 0, nodes = 0, ranks = 0;
};

std::vector<Row> rows_of(const std::string& text) {
  std::vector<Row> rows;
  for (const std::string_view line : split(text, '\n')) {
    if (line.empty() || line[0] == '#') continue;
    const auto cells = split(line, ',');
    EXPECT_EQ(cells.size(), 10u) << line;
    EXPECT_EQ(cells[5], "-1");
    rows.push_back({std::string(cells[0]), std::string(cells[3]), std::string(cells[4]),
                    *parse_int(cells[1]), *parse_int(cells[2]), *parse_int(cells[6]),
                    *parse_int(cells[7])});
  }
  return rows;
}

std::string written(const fabric::Fabric& f) {
  return nccl_tuner_emitter().write(f, {"test", 1, 1});
}

TEST(NcclTuner, SaysWhatTheModelChoosesAtEverySize) {
  const std::string path = std::string(WEFT_SOURCE_DIR) + "/data/servers/dgx-a100.yaml";
  const fabric::Fabric f = import::import_any({path, read_file(path)}, import::dump_test_context());
  collective::Group group;
  for (const fabric::DeviceId gpu : f.of_kind(fabric::DeviceKind::gpu)) group.gpus.push_back(gpu);
  const auto plan = collective::plan_channels(f, group);
  const auto rows = rows_of(written(f));
  std::set<std::string> protocols;
  std::size_t changes = 0;
  for (const Row& row : rows) {
    EXPECT_EQ(row.nodes, 1);
    EXPECT_EQ(row.ranks, 8);
    if (row.collective != "allreduce") continue;
    ++changes;
    protocols.insert(row.protocol);
    for (const std::int64_t size : {std::max<std::int64_t>(row.low, 1), row.high}) {
      if (size > std::int64_t{1} << 36) continue;
      std::string reason;
      const auto choice =
          collective::choose({work::CollectiveKind::all_reduce, Bytes(size), &plan}, {}, reason);
      ASSERT_TRUE(choice);
      EXPECT_EQ(choice->algorithm, row.algorithm) << size;
      EXPECT_EQ(to_lower(to_text(choice->protocol)), row.protocol) << size;
    }
  }
  EXPECT_GE(changes, 3u);
  EXPECT_EQ(protocols, (std::set<std::string>{"ll", "ll128", "simple"}));
}

// Ranges of one collective and node count follow on each other from 0 without a gap.
TEST(NcclTuner, RangesHaveNoGaps) {
  const std::string host_path = std::string(WEFT_SOURCE_DIR) + "/data/servers/hgx-h100.yaml";
  import::ImportInputs inputs = import::dump_test_context();
  const fabric::Fabric host = import::import_any({host_path, read_file(host_path)}, inputs);
  inputs.host = &host;
  const fabric::Fabric f =
      import::import_any({"topology.conf", "SwitchName=a Nodes=n[1-3] LinkSpeed=400\n"}, inputs);
  std::map<std::pair<std::string, std::int64_t>, std::int64_t> next;
  std::map<std::int64_t, std::int64_t> ranks;
  for (const Row& row : rows_of(written(f))) {
    EXPECT_EQ(row.low, (next[{row.collective, row.nodes}]));
    EXPECT_LE(row.low, row.high);
    next[{row.collective, row.nodes}] = row.high + 1;
    ranks[row.nodes] = row.ranks;
  }
  EXPECT_EQ(next.size(), 15u);  // five collectives, 1, 2 and 3 nodes
  EXPECT_EQ(ranks, (std::map<std::int64_t, std::int64_t>{{1, 8}, {2, 16}, {3, 24}}));
}

TEST(NcclTuner, ASourceWithoutGpusIsRefused) {
  EXPECT_THROW(static_cast<void>(written(import::import_data("ib/two_leaves.txt"))), InputError);
}

}  // namespace
}  // namespace weft::emit
