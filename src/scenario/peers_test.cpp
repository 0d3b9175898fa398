// Work of the scenarios in examples/peers: matrices, triggers, patterns, and the files themselves.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "base/test_folder.h"
#include "base/text.h"
#include "data/embedded.h"
#include "engine/analytic/analytic_engine.h"
#include "engine/flow/flow_engine.h"
#include "engine/packet/packet_engine.h"
#include "scenario/session.h"

namespace weft::scenario {
namespace {

namespace fs = std::filesystem;

const Library& library() {
  static const Library kLibrary = [] {
    std::vector<ShippedFile> files;
    for (const data::EmbeddedFile& file : data::embedded_files())
      files.push_back({std::string(file.path), std::string(file.text)});
    return Library(std::move(files));
  }();
  return kLibrary;
}

Session open(const ScenarioFile& file) {
  StackOptions options;
  options.stack = file.stack;
  options.routing = file.routing;
  OpenOptions open;
  open.asked_at = file.cluster->where;
  return {library(), open_cluster(library(), file.cluster->text, open), options};
}

ScenarioFile on_ls64(const std::string& work) {
  return parse_scenario("weft: scenario/1\ncluster: ls64.topo\nstack: rocev2\nwork:\n" + work,
                        std::string(WEFT_SOURCE_DIR) + "/examples/peers/test.yaml");
}

// A flow list in a file of its own.
struct MatrixFile {
  explicit MatrixFile(const std::string& text) : path(folder.file("flows.cm")) {
    std::ofstream(path) << text;
  }
  TestFolder folder;
  fs::path path;
};

// The second of three flows is the shortest, so what a multishot trigger starts starts with its
// end.
TEST(Triggers, TheFirstToEndStartsTheNextOnEveryEngine) {
  const MatrixFile matrix(
      "Nodes 8\n0->1 start 0 size 4000000 send_done_trigger 1\n"
      "2->3 start 0 size 1000000 send_done_trigger 1\n4->5 start 0 size 2000000 send_done_trigger "
      "1\n"
      "6->7 trigger 1 size 1000\n6->7 trigger 1 size 1000 send_done_trigger 2\n"
      "3->2 trigger 2 size 1000\ntrigger id 1 multishot\ntrigger id 2 oneshot\n");
  const ScenarioFile file = on_ls64("  - matrix: " + matrix.path.string() + "\n");
  const Session session = open(file);
  const engine::Setup setup = session.setup(build_work(file, session.fabric()));
  ASSERT_TRUE(work::validate(setup.work).empty());
  for (const engine::Engine* engine :
       {&engine::analytic_engine(), &engine::flow_engine(), &engine::packet_engine()}) {
    const auto ops = engine->run(setup, nullptr).ops;
    EXPECT_EQ(ops[3].start, ops[1].end) << engine->name();
    EXPECT_EQ(ops[4].start, ops[2].end) << engine->name();
    EXPECT_EQ(ops[5].start, ops[4].end) << engine->name();
  }
}

TEST(Matrix, AStartWithoutAUnitIsAsked) {
  const MatrixFile matrix("Nodes 2\n0->1 start 40 size 250000\n");
  const std::string item = "  - {matrix: " + matrix.path.string();
  const ScenarioFile bare = on_ls64(item + "}\n"), stated = on_ls64(item + ", start_unit: us}\n");
  const Session session = open(bare);
  try {
    build_work(bare, session.fabric());
    ADD_FAILURE() << "taken without a unit";
  } catch (const InputError& error) {
    EXPECT_EQ(error.diagnostics().at(0).where.file, matrix.path.string());
    EXPECT_EQ(error.diagnostics().at(0).where.line, 2);
  }
  EXPECT_EQ(build_work(stated, session.fabric()).ops.at(0).earliest,
            Instant::at(Duration::microseconds(40)));
}

TEST(Patterns, AllPairsAtOnceKeepsSoManyUnderWay) {
  const ScenarioFile file =
      on_ls64("  - {pattern: all_pairs, size: 8KiB, at_once: 3, ranks: 0-9}\n");
  const Session session = open(file);
  const engine::Setup setup = session.setup(build_work(file, session.fabric()));
  ASSERT_EQ(setup.work.ops.size(), 90u);  // 10 x 9
  const result::Result result = engine::flow_engine().run(setup, nullptr);
  std::set<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for (std::size_t rank = 0; rank < 10; ++rank) {
    for (std::size_t i = rank * 9; i < rank * 9 + 9; ++i) {
      const auto& transfer = std::get<work::Transfer>(setup.work.ops[i].what);
      EXPECT_EQ(transfer.from.index(), rank);
      pairs.emplace(transfer.from.value, transfer.to.value);
      std::size_t beside = 0;  // flows of the rank that are under way when this one starts
      for (std::size_t j = rank * 9; j < rank * 9 + 9; ++j)
        beside +=
            result.ops[j].start <= result.ops[i].start && result.ops[j].end > result.ops[i].start;
      EXPECT_LE(beside, 3u);
    }
  }
  EXPECT_EQ(pairs.size(), 90u);
}

// Chunk c starts at rank c; hop s of it is op c x steps + s.
TEST(Patterns, RingChunksGoRoundHopByHop) {
  const ScenarioFile file = on_ls64("  - {pattern: ring_chunks, size: 1KiB, ranks: 0-3}\n");
  const work::Work work = build_work(file, open(file).fabric());
  ASSERT_EQ(work.ops.size(), 4u * 6);                                    // 2 (n-1) hops each
  const auto& hop = std::get<work::Transfer>(work.ops[2 * 6 + 3].what);  // chunk 2, 4th hop
  EXPECT_EQ(hop.from.index(), (2 + 3) % 4u);
  EXPECT_EQ(hop.to.index(), (2 + 4) % 4u);
  EXPECT_EQ(work.ops[2 * 6 + 3].after, std::vector<work::OpId>{work::OpId(std::size_t{2 * 6 + 2})});
  EXPECT_TRUE(work.ops[2 * 6].after.empty());
}

// Flows of each example, from what it is called.
struct Example {
  const char* name;
  std::size_t hosts, flows;
};
constexpr Example kExamples[] = {{"perm_128n_ls128", 128, 128},
                                 {"perm_1024n_ls1024", 1024, 1024},
                                 {"perm_1024n_ft1024", 1024, 1024},
                                 {"perm_8192n_ls8192", 8192, 8192},
                                 {"a2a64_serial8", 64, 64 * 63},
                                 {"a2a128_serial8", 128, 128 * 127},
                                 {"a2a128_all", 128, 128 * 127},
                                 {"ring128", 128, 128 * 255},
                                 {"incast8", 128, 8},
                                 {"incast32", 128, 32}};

ScenarioFile example(const std::string& name) {
  const std::string path = std::string(WEFT_SOURCE_DIR) + "/examples/peers/" + name + ".yaml";
  return parse_scenario(read_file(path), path);
}

TEST(Peers, EveryScenarioIsThereWithItsFlows) {
  std::size_t files = 0;
  for (const auto& entry : fs::directory_iterator(WEFT_SOURCE_DIR "/examples/peers"))
    files += entry.path().extension() == ".yaml" ? 1 : 0;
  EXPECT_EQ(files, std::size(kExamples));
  for (const Example& e : kExamples) {
    const ScenarioFile file = example(e.name);
    EXPECT_EQ(file.engine->text, "packet") << e.name;
    if (e.hosts > 128) continue;  // large fabrics: bench/peers.cpp runs them
    const Session session = open(file);
    EXPECT_EQ(session.fabric().of_kind(fabric::DeviceKind::gpu).size(), e.hosts) << e.name;
    const work::Work work = build_work(file, session.fabric());
    EXPECT_EQ(work.ops.size(), e.flows) << e.name;
    EXPECT_TRUE(work::validate(work).empty()) << e.name;
  }
}

// 2 MB to one receiver: the wire of its link takes 489 packets of 4178 B (the last is short: 1152 +
// 82 B) for each sender, at 50 GB/s.
TEST(Peers, IncastsEndWhenTheReceiversLinkHasSentAll) {
  for (const auto& [name, senders] : {std::pair{"incast8", 8}, std::pair{"incast32", 32}}) {
    const ScenarioFile file = example(name);
    const Session session = open(file);
    engine::Setup setup = session.setup(build_work(file, session.fabric()));
    setup.packet.congestion = "none";  // pauses alone hold the senders, so the link never idles
    const result::Result result = engine::packet_engine().run(setup, nullptr);
    const double wire_us = senders * (488.0 * 4178 + 1234) / 50e3;
    EXPECT_GT(result.completion.to_microseconds(), wire_us) << name;
    EXPECT_LT(result.completion.to_microseconds(), wire_us * 1.15) << name;
    EXPECT_EQ(result.packets.drops, 0u) << name;  // priority flow control loses nothing
    EXPECT_EQ(result.flows.size(), static_cast<std::size_t>(senders));
  }
}

}  // namespace
}  // namespace weft::scenario
