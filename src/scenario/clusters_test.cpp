// Every shipped cluster opens, and its first and last GPU reach one another; what fabric.routing
// and its override do.
#include <gtest/gtest.h>

#include <algorithm>

#include "data/embedded.h"
#include "scenario/session.h"

namespace weft::scenario {
namespace {

const Library& library() {
  static const Library kLibrary = [] {
    std::vector<ShippedFile> files;
    for (const data::EmbeddedFile& file : data::embedded_files()) {
      files.push_back({std::string(file.path), std::string(file.text)});
    }
    return Library(std::move(files));
  }();
  return kLibrary;
}

Session open(std::string_view name, std::optional<TextAt> routing = {}) {
  StackOptions options;
  options.routing = std::move(routing);
  return {library(), open_cluster(library(), name, {}), options};
}

class ShippedCluster : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Names, ShippedCluster, testing::ValuesIn(library().names("clusters")),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// Pairs of hosts for point-to-point tests have no GPUs: there the CPUs are the ends.
TEST_P(ShippedCluster, JoinsItsFirstAndLastEnd) {
  const Session session = open(GetParam());
  auto ends = session.fabric().of_kind(fabric::DeviceKind::gpu);
  if (ends.empty()) ends = session.fabric().of_kind(fabric::DeviceKind::cpu);
  ASSERT_GT(ends.size(), 1u);
  fabric::PathQuery query;
  query.source = ends.front();
  query.destination = ends.back();
  const auto answer =
      fabric::find_data_path(session.fabric(), session.costs(), session.network_route(), query);
  ASSERT_TRUE(answer.path.has_value()) << answer.refusal;
  EXPECT_GT(answer.path->bandwidth.bps(), 0);
  EXPECT_GT(answer.path->latency.ps(), 0);
}

TEST(Routing, ComesFromTheClusterUnlessOverridden) {
  EXPECT_EQ(open("demo-8x8-h100-rail").routing(), routing::Policy::ecmp);
  EXPECT_EQ(open("torus-4x4x2-h100").routing(), routing::Policy::dimension_order);
  EXPECT_EQ(open("torus-4x4x2-h100", TextAt{"spray", {}}).routing(), routing::Policy::spray);
}

TEST(Routing, RefusesWhatTheNetworkCannotDo) {
  for (const auto& [name, message] :
       {std::pair{
            "dimension_order",
            "dimension_order goes through the dimensions of a torus or mesh, and this network "
            "has none"},
        {"sprai", "there is no routing 'sprai'"}}) {
    try {
      open("demo-8x8-h100-rail", TextAt{name, {"command line, --routing", 0, 0}});
      ADD_FAILURE() << name << " was taken";
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
    }
  }
}

bool notes_say(const Session& session, std::string_view what) {
  return std::ranges::any_of(session.cluster().notes, [&](const std::string& note) {
    return note.find(what) != std::string::npos;
  });
}

// Rings of four have no cycle under dimension order, all minimal ways over them have; a dragonfly's
// shortest routes have; a Clos network has none.
TEST(Routing, NotesRoutesThatCanDeadlock) {
  EXPECT_FALSE(notes_say(open("torus-4x4x2-h100"), "deadlock"));
  EXPECT_TRUE(notes_say(open("torus-4x4x2-h100", TextAt{"ecmp", {}}), "can deadlock"));
  EXPECT_TRUE(notes_say(open("dragonfly-9-groups-h100"), "can deadlock"));
  EXPECT_FALSE(notes_say(open("dragonfly-9-groups-h100", TextAt{"up_down", {}}), "deadlock"));
  EXPECT_FALSE(notes_say(open("demo-8x8-h100-rail"), "deadlock"));
}

// A sprayed flow uses both ports of its adapter: 2 x 200 Gb/s where one path has 200.
TEST(Routing, SprayUsesBothPortsOfAnAdapter) {
  const auto seconds = [](const char* routing) {
    const Session session = open("dual-tor-hpn-2-segments", TextAt{routing, {}});
    work::Work work = work_on_all_gpus(session.fabric());
    work.ops.push_back({work::Transfer{work::RankId(std::size_t{0}), work::RankId(std::size_t{64}),
                                       Bytes(std::int64_t{256} << 20)},
                        Instant(),
                        {},
                        ""});
    return find_engine({"flow", {}})
        .run(session.setup(std::move(work)), nullptr)
        .completion.to_seconds();
  };
  const double one = seconds("ecmp"), both = seconds("spray");
  EXPECT_NEAR(one / both, 2, 0.01);
}

}  // namespace
}  // namespace weft::scenario
