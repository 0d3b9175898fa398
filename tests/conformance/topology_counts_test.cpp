// The textbook and published counts that the closed forms must give, and refusals with their
// arithmetic.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "conformance/measure.h"
#include "conformance/sketch.h"
#include "fabric/nvlink_route.h"
#include "fabric/path_class.h"

namespace weft {
namespace {

using fabric::DeviceId;
using fabric::Fabric;
using test::form_of;
using test::make_switch;
using test::Prepared;
using test::Sketch;
using topology::ClosedForm;
using topology::Topology;

// k-ary fat tree: k^3/4 hosts, 5k^2/4 switches, k^3/2 switch links, (k/2)^2 paths between pods.
TEST(TopologyCounts, FatTreeIsTheTextbooks) {
  for (const int k : {4, 8, 48, 64}) {
    const Sketch sketch{.topology = "fat_tree", .servers = {{1, 1, 1}}, .radix = k};
    const ClosedForm form = form_of(sketch, static_cast<std::size_t>(k) * k * k / 4);
    EXPECT_EQ(form.hosts, std::int64_t{k} * k * k / 4);
    EXPECT_EQ(form.switches, std::int64_t{5} * k * k / 4);
    EXPECT_EQ(form.switch_links, std::int64_t{k} * k * k / 2);
    EXPECT_EQ(form.diameter_switches, 5);
    EXPECT_EQ(form.shortest_paths, std::int64_t{k} * k / 4);
    EXPECT_EQ(form.bisection, k * k * k / 8.0);  // full: half the hosts
  }
  // k = 4: 16 hosts, 20 switches, 4 paths. k = 64: 65,536 hosts, 5,120 switches, 1,024 paths.
  const Sketch k64{.topology = "fat_tree", .servers = {{1, 1, 1}}, .radix = 64};
  const ClosedForm form = form_of(k64, 65'536);
  EXPECT_EQ(form.switches, 5'120);
  EXPECT_EQ(form.shortest_paths, 1'024);
}

// Two tiers of k = 64: 64 x 32 = 2,048 hosts, 64 leaves + 32 spines = 96 switches, 32 paths.
TEST(TopologyCounts, LeafSpineIsTheTextbooks) {
  const Sketch sketch{.topology = "leaf_spine", .servers = {{1, 1, 1}}, .radix = 64};
  const ClosedForm form = form_of(sketch, 2'048);
  EXPECT_EQ(form.switches, 96);
  EXPECT_EQ(form.switch_links, 2'048);
  EXPECT_EQ(form.diameter_switches, 3);
  EXPECT_EQ(form.shortest_paths, 32);
  EXPECT_EQ(form.bisection, 1'024.0);
}

// 3:1 on k = 64: 48 down and 16 up; between leaves each host gets 1/3.
TEST(TopologyCounts, OversubscriptionDividesTheBisection) {
  Sketch sketch{.topology = "leaf_spine", .servers = {{1, 1, 1}}, .radix = 64};
  sketch.parameters["oversubscription"] = 3;
  const ClosedForm form = form_of(sketch, 48 * 10);
  EXPECT_EQ(form.oversubscription, std::vector<double>{3.0});
  EXPECT_EQ(form.bisection, 240 / 3.0);
}

struct Published {
  std::size_t servers;
  std::int64_t switches;
  std::int64_t cables;  // per boundary between tiers
  int tiers;
};

// NVIDIA DGX SuperPOD H100 reference architecture (RA-11333): scalable units of 32 nodes x 8 rails
// on QM9700 (64 x 400G): leaf + spine + core and cables per boundary. 1 SU is built with 31 nodes.
TEST(TopologyCounts, RailIsTheDgxSuperPods) {
  const Published table[] = {{31, 8 + 4, 256, 2},
                             {64, 16 + 8, 512, 2},
                             {127, 32 + 16, 1'024, 2},
                             {128, 32 + 16, 1'024, 2},
                             {256, 64 + 32, 2'048, 2},
                             {512, 128 + 128 + 64, 4'096, 3},
                             {1'024, 256 + 256 + 128, 8'192, 3},
                             {2'048, 512 + 512 + 256, 16'384, 3}};
  for (const Published& row : table) {
    const Sketch sketch{.topology = "rail", .servers = {{8, 8, 1}}, .radix = 64};
    const ClosedForm form = form_of(sketch, row.servers);
    EXPECT_EQ(form.switches, row.switches) << row.servers;
    EXPECT_EQ(form.switch_links, row.cables * (row.tiers - 1)) << row.servers;
    EXPECT_EQ(form.diameter_switches, 2 * row.tiers - 1) << row.servers;
  }
}

// The same on Quantum-X800 Q3400 (144 x 800G), units of 72 nodes: 72 uplinks spread evenly only
// over a divisor of 72, so 32 leaves need 18 spines (16 would fit the ports) and 64 need 36.
TEST(TopologyCounts, WholeLinksSpreadEvenlyOnQ3400) {
  const Published table[] = {{72, 8 + 4, 576, 2},
                             {144, 16 + 8, 1'152, 2},
                             {288, 32 + 18, 2'304, 2},
                             {576, 64 + 36, 4'608, 2},
                             {1'296, 144 + 72, 10'368, 2}};
  for (const Published& row : table) {
    Sketch sketch{.topology = "rail", .servers = {{8, 8, 1}}, .radix = 144};
    sketch.host_gbps = sketch.fabric_gbps = 800;
    const ClosedForm form = form_of(sketch, row.servers);
    EXPECT_EQ(form.switches, row.switches) << row.servers;
    EXPECT_EQ(form.switch_links, row.cables) << row.servers;
  }
}

// C. Zhao et al., ISCA 2025, table 3 (64 ports of 400G): 8 planes of two tiers, 2,048 x 8 = 16,384
// endpoints, 96 x 8 = 768 switches, 16,384 links; in each plane 32 ways between leaves.
TEST(TopologyCounts, MultiPlaneIsDeepSeeks) {
  const Sketch sketch{.topology = "multi_plane", .servers = {{8, 8, 1}}, .radix = 64};
  const ClosedForm form = form_of(sketch, 2'048);
  EXPECT_EQ(form.parts, 8);
  EXPECT_EQ(form.hosts, 16'384);
  EXPECT_EQ(form.switches, 768);
  EXPECT_EQ(form.switch_links, 16'384);
  EXPECT_EQ(form.diameter_switches, 3);
  EXPECT_EQ(form.shortest_paths, 32);
  EXPECT_EQ(form.bisection, 8'192.0);  // every plane is non-blocking
}

// 32,768 NICs in rails of 2,048 (16 NICs a server): 3 x 2048/64 = 96 switches a rail where a
// network that joins them takes 5 x 32768/64 = 2,560. 16 x 96 = 1,536, 40 % fewer (HOTI 2024 prints
// 38 to 77 %).
TEST(TopologyCounts, RailOnlySavesTheTopTier) {
  const Sketch rail_only{.topology = "rail_only", .servers = {{16, 16, 1}}, .radix = 64};
  EXPECT_EQ(form_of(rail_only, 2'048).switches, 1'536);
  EXPECT_EQ(form_of(rail_only, 2'048).parts, 16);
  const Sketch joined{.topology = "fat_tree", .servers = {{16, 16, 1}}, .radix = 64};
  EXPECT_EQ(form_of(joined, 2'048).switches, 2'560);
}

// One pod of Alibaba HPN 7.0 (SIGCOMM 2024): 15 segments x 128 servers x 8 GPUs = 15,360; a ToR has
// 128 x 200G down and 60 x 400G up (1.067:1), 15 x 8 x 2 = 240 ToRs, 2 planes x 60 aggregation
// switches with 120 links down, 240 x 60 = 14,400 links; 15,360 x 2 = 30,720 NIC ports.
TEST(TopologyCounts, DualTorIsHpn) {
  Sketch sketch{.topology = "dual_tor", .servers = {{8, 8, 2}}, .radix = 256};
  sketch.host_gbps = 200;
  sketch.parameters = {{"servers_per_segment", 128}, {"oversubscription", 16.0 / 15}};
  Prepared prepared(sketch);
  prepared.inputs.servers.assign(1'920, prepared.inputs.servers.front());
  prepared.inputs.tier_switch_classes = {make_switch(256), make_switch(128), make_switch(128)};
  const Topology& row = *topology::find_topology("dual_tor");
  ASSERT_EQ(row.refuse(prepared.inputs), std::vector<std::string>{});
  const ClosedForm pod = row.closed_form(prepared.inputs);
  EXPECT_EQ(pod.parts, 2);
  EXPECT_EQ(pod.hosts, 30'720);
  EXPECT_EQ(pod.switches, 240 + 120);
  EXPECT_EQ(pod.switch_links, 14'400);
  EXPECT_EQ(pod.diameter_switches, 3);
  ASSERT_EQ(pod.oversubscription.size(), 1u);
  EXPECT_NEAR(pod.oversubscription[0], 1.067, 0.0005);
  // A second pod and cores at 15:1: 120 down and 8 up on each of 240 aggregation switches, so
  // 2 x 960 links to the cores; 5 switches between pods.
  prepared.inputs.parameters["tiers"] = 3;
  prepared.inputs.servers.assign(3'840, prepared.inputs.servers.front());
  ASSERT_EQ(row.refuse(prepared.inputs), std::vector<std::string>{});
  const ClosedForm pods = row.closed_form(prepared.inputs);
  EXPECT_EQ(pods.switch_links, 2 * (14'400 + 960));
  EXPECT_EQ(pods.oversubscription[1], 15.0);
  EXPECT_EQ(pods.diameter_switches, 5);
}

// Whether the build of a sketch measures as its closed form states, where it states something.
void expect_measured(const Sketch& sketch) {
  const Prepared prepared(sketch);
  const Topology& row = *topology::find_topology(sketch.topology);
  ASSERT_EQ(row.refuse(prepared.inputs), std::vector<std::string>{});
  const Fabric built = row.build(prepared.inputs);
  const ClosedForm form = row.closed_form(prepared.inputs);
  const test::Measured measured = test::measure(built);
  EXPECT_EQ(form.diameter_switches, measured.diameter_switches);
  ASSERT_TRUE(form.bisection.has_value());
  EXPECT_EQ(
      *form.bisection,
      static_cast<double>(test::measure_bisection(built, measured, form.bisection_leaves)) / 4e11);
}

// 4 x 4 x 4: 64 routers, 3 x 64 links, 2 + 2 + 2 link hops, 2 x 64 / 4 = 32 links across. 16^3: 24
// hops and 512 links; the mesh of 4 x 4 x 4 has 3 x 16 links a dimension, 9 hops, 16 links across.
TEST(TopologyCounts, TorusIsTheTextbooks) {
  Sketch sketch{.topology = "torus", .servers = {{1, 1, 1}}, .radix = 8};
  sketch.parameters = {{"dim_1", 4}, {"dim_2", 4}, {"dim_3", 4}};
  const ClosedForm cube = form_of(sketch, 64);
  EXPECT_EQ(cube.switches, 64);
  EXPECT_EQ(cube.switch_links, 192);
  EXPECT_EQ(cube.diameter_switches, 7);
  EXPECT_EQ(cube.shortest_paths, 6);  // one hop round in each dimension: 3! orders
  EXPECT_EQ(cube.bisection, 32.0);
  sketch.servers.assign(64, {1, 1, 1});
  expect_measured(sketch);
  sketch.parameters["wrap"] = 0;
  const ClosedForm mesh = form_of(sketch, 64);
  EXPECT_EQ(mesh.switch_links, 144);
  EXPECT_EQ(mesh.diameter_switches, 10);
  EXPECT_EQ(mesh.shortest_paths, 1'680);  // 9! / (3! 3! 3!)
  EXPECT_EQ(mesh.bisection, 16.0);
  expect_measured(sketch);
  sketch.parameters.clear();  // 4,096 servers: 16 x 16 x 16 by itself
  const ClosedForm large = form_of(sketch, 4'096);
  EXPECT_EQ(large.diameter_switches, 25);
  EXPECT_EQ(large.bisection, 512.0);
}

TEST(Torus, RefusesServersThatDoNotFillIt) {
  Sketch sketch{.topology = "torus", .servers = {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}}, .radix = 4};
  sketch.parameters = {{"dim_1", 2}, {"dim_2", 2}};
  const Topology& row = *topology::find_topology("torus");
  EXPECT_EQ(
      row.refuse(Prepared(sketch).inputs),
      std::vector<std::string>{"2 x 2 = 4 nodes, each with one server, and there are 3 servers"});
  sketch.servers.assign(27, {1, 1, 1});
  sketch.parameters = {{"dim_1", 3}, {"dim_2", 3}, {"dim_3", 3}};
  EXPECT_EQ(row.refuse(Prepared(sketch).inputs),
            std::vector<std::string>{"a router needs 1 ports for NICs + 6 neighbours x 1 links = 7 "
                                     "ports, its radix is 4"});
}

// Balanced, a = 2p = 2h, g = a h + 1. p = 2: 9 groups of 4, 72 NICs on 36 switches; 54 links inside
// groups and 36 between; 4 x 5 groups in halves are 20 links. p = 4: 33 groups, 1,056 and 264. p =
// 16: the 261,632 endpoints on 16,352 switches of DeepSeek's cost table (ISCA 2025). Its 384,272
// links use all 512 global ports of its 511 groups; one for each pair of groups uses 510, which is
// 511 x 2 / 2 links less.
TEST(TopologyCounts, DragonflyIsTheTextbooks) {
  Sketch sketch{.topology = "dragonfly", .servers = {{1, 1, 1}}, .radix = 64};
  const ClosedForm small = form_of(sketch, 72);
  EXPECT_EQ(small.switches, 36);
  EXPECT_EQ(small.switch_links, 54 + 36);
  EXPECT_EQ(small.diameter_switches, 4);  // local, global, local
  EXPECT_EQ(small.bisection, 20.0);
  sketch.servers.assign(72, {1, 1, 1});
  expect_measured(sketch);
  sketch.parameters["palmtree"] = 0;
  expect_measured(sketch);
  EXPECT_EQ(form_of(sketch, 1'056).switches, 264);
  const ClosedForm large = form_of(sketch, 261'632);
  EXPECT_EQ(large.switches, 16'352);
  EXPECT_EQ(large.switch_links, 384'272 - 511);
  EXPECT_EQ(large.diameter_switches, 4);
}

TEST(Dragonfly, RefusesMoreGroupsThanGlobalLinksReach) {
  Sketch sketch{.topology = "dragonfly", .servers = {{1, 1, 1}}, .radix = 8};
  sketch.parameters = {{"p", 1}, {"a", 2}, {"h", 1}, {"g", 4}};
  const auto refusals = topology::find_topology("dragonfly")->refuse(Prepared(sketch).inputs);
  ASSERT_EQ(refusals.size(), 1u);
  EXPECT_EQ(refusals[0],
            "4 groups need 3 global links in each for a link to every other, a 2 x h 1 are 2");
}

// 4 pods of 2 leaves x 4 hosts and 4 spines with a cable to each leaf; 12 circuits a pod: 3 rounds
// in which 4 pods pair up, so 4 circuits between every two pods, one on each spine. 12 x 2 = 24
// circuits + 4 x 8 cables; 4 switches from pod to pod, one circuit a spine to take; between halves
// 2 x 2 x 4 = 16 circuits, which is all that 2 pods x 8 hosts send.
TEST(TopologyCounts, CircuitsMakeAUniformMesh) {
  Sketch sketch{.topology = "optical_circuit", .servers = {{1, 1, 1}}, .radix = 8};
  sketch.parameters = {{"pods", 4}, {"spines", 4}, {"leaf_hosts", 4}, {"circuits", 12}};
  const ClosedForm form = form_of(sketch, 32);
  EXPECT_EQ(form.switches, 4 * (2 + 4));
  EXPECT_EQ(form.switch_links, 4 * 8 + 24);
  EXPECT_EQ(form.diameter_switches, 4);
  EXPECT_EQ(form.shortest_paths, 4);
  EXPECT_EQ(form.bisection, 16.0);
  sketch.servers.assign(32, {1, 1, 1});
  expect_measured(sketch);
  const Prepared prepared(sketch);
  const Fabric built = topology::find_topology("optical_circuit")->build(prepared.inputs);
  std::map<std::pair<std::string, std::string>, int> between;
  for (std::size_t l = 0; l < built.link_count(); ++l) {
    const fabric::LinkId link(l);
    if (built.link_class(link).kind != fabric::LinkKind::optical_circuit) continue;
    ++between[{std::string(built.name(built.from(link)).substr(0, 4)),
               std::string(built.name(built.to(link)).substr(0, 4))}];
  }
  EXPECT_EQ(between.size(), 4u * 3);
  for (const auto& [pods, circuits] : between) EXPECT_EQ(circuits, 4) << pods.first << pods.second;
}

TEST(OpticalCircuit, RefusesPodsThatCircuitsDoNotReach) {
  Sketch sketch{.topology = "optical_circuit",
                .servers = std::vector<test::ServerSketch>(6, {1, 1, 1}),
                .radix = 8};
  sketch.parameters = {{"pods", 6}, {"circuits", 4}, {"ocs_ports", 4}};
  EXPECT_EQ(topology::find_topology("optical_circuit")->refuse(Prepared(sketch).inputs),
            (std::vector<std::string>{
                "a circuit switch takes one fibre of each of 6 pods, it has 4 ports",
                "6 pods need 5 circuits each for one to every other pod, there are 4"}));
}

// Two sites of 2 leaves x 4 hosts and 2 spines with 2 cables to each leaf, 2 gateways with a cable
// to each spine, 1 wide-area link of 800G between peers: 2 x (4 + 2) switches, 2 x (8 + 4) + 2
// links, 6 switches across; ways: 4 cables up x 2 gateways x 1 link x 2 spines x 2 cables down.
// Across: 2 x 800G are 4 host links of 400G, of the 8 that a site has.
TEST(TopologyCounts, SitesAreJoinedByGateways) {
  Sketch sketch{.topology = "scale_across",
                .servers = std::vector<test::ServerSketch>(16, {1, 1, 1}),
                .radix = 8};
  sketch.parameters = {{"leaf_hosts", 4}, {"gateways", 2}, {"wan_gbps", 800}, {"distance_km", 100}};
  const ClosedForm form = form_of(sketch, 16);
  EXPECT_EQ(form.switches, 12);
  EXPECT_EQ(form.switch_links, 26);
  EXPECT_EQ(form.diameter_switches, 6);
  EXPECT_EQ(form.shortest_paths, 32);
  EXPECT_EQ(form.bisection, 4.0);
  expect_measured(sketch);
  const Prepared prepared(sketch);
  const Fabric built = topology::find_topology("scale_across")->build(prepared.inputs);
  const auto across = built.find_link(*built.find("site0/gateway0"), *built.find("site1/gateway0"));
  ASSERT_TRUE(across.has_value());
  EXPECT_EQ(built.link_class(*across).latency, Duration::microseconds(490));  // 100 km x 4.9 us
  EXPECT_EQ(built.link_class(*across).kind, fabric::LinkKind::wide_area);
}

TEST(ScaleAcross, RefusesWhatASpineHasNoPortsFor) {
  Sketch sketch{.topology = "scale_across",
                .servers = std::vector<test::ServerSketch>(16, {1, 1, 1}),
                .radix = 8};
  sketch.parameters = {{"leaf_hosts", 4}, {"gateways", 1}, {"wan_links", 8}};
  EXPECT_EQ(
      topology::find_topology("scale_across")->refuse(Prepared(sketch).inputs),
      (std::vector<std::string>{
          "a gateway needs 2 top switches x 1 links + 1 sites x 8 wide-area links = 10 ports, "
          "its radix is 8"}));
}

TEST(DualTor, RefusesNicsWithoutASecondPort) {
  const Sketch sketch{.topology = "dual_tor", .servers = {{1, 1, 1}}};
  const auto refusals = topology::find_topology("dual_tor")->refuse(Prepared(sketch).inputs);
  ASSERT_EQ(refusals.size(), 1u);
  EXPECT_EQ(refusals[0],
            "a NIC needs 2 ports, one for each ToR of its pair; nic0 of server 0 has 1");
}

TEST(MultiPlane, RefusesPlanesThatNothingIsCabledTo) {
  Sketch sketch{.topology = "multi_plane", .servers = {{2, 2, 1}}};
  sketch.parameters["planes"] = 3;
  const auto refusals = topology::find_topology("multi_plane")->refuse(Prepared(sketch).inputs);
  ASSERT_EQ(refusals.size(), 1u);
  EXPECT_EQ(refusals[0],
            "3 planes are asked for and no server has more than 2 NICs: 1 planes would be empty");
}

// One more server than two tiers hold takes three; with tiers asked, the sentence has the numbers.
TEST(TopologyCounts, RefusalsCarryTheArithmetic) {
  Sketch sketch{.topology = "leaf_spine", .servers = {{8, 8, 1}}, .radix = 64};
  Prepared prepared(sketch);
  prepared.inputs.servers.assign(257, prepared.inputs.servers.front());
  // 257 x 8 = 2,056 ports / 32 = 65 leaves.
  const auto refusals = topology::find_topology("leaf_spine")->refuse(prepared.inputs);
  ASSERT_EQ(refusals.size(), 1u);
  EXPECT_EQ(refusals[0],
            "65 leaves are needed and 2 tiers of these switches join at most 64 (2048 host links)");
  EXPECT_EQ(
      form_of({.topology = "rail", .servers = {{8, 8, 1}}, .radix = 64}, 257).diameter_switches, 5);
}

// NVL72: 18 servers x 4 GPUs, 18 chips of 72 ports: 72 x 18 = 1,296 NVLinks, each chip full; and a
// rail network on the NICs at the same time.
TEST(TopologyCounts, Nvl72TogetherWithRails) {
  const Sketch sketch{
      .topology = "rail", .servers = std::vector<test::ServerSketch>(18, {4, 4, 1}), .radix = 64};
  Prepared prepared(sketch);
  prepared.inputs.scale_up.emplace();
  prepared.inputs.scale_up->servers_per_domain = 18;
  prepared.inputs.scale_up->chip_class = test::make_chip(72);
  prepared.inputs.scale_up->link = test::make_nvlink();
  const Topology& row = *topology::find_topology("rail");
  ASSERT_TRUE(row.refuse(prepared.inputs).empty());
  const Fabric built = row.build(prepared.inputs);
  const auto chips = built.of_kind(fabric::DeviceKind::nvswitch);
  ASSERT_EQ(chips.size(), 18u);
  std::size_t nvlinks = 0;
  for (const DeviceId chip : chips) nvlinks += built.out_links(chip).size();
  EXPECT_EQ(nvlinks, 1'296u);
  EXPECT_EQ(built.find("nvl0/nvswitch17"), chips.back());
  // GPUs of different servers are 18 NVLinks apart, over one chip each.
  const DeviceId first = *built.find("node0/gpu0"), last = *built.find("node17/gpu3");
  EXPECT_EQ(to_text(fabric::path_class(built, first, last)), "NV18");
  EXPECT_EQ(fabric::nvlink_chains(built, first, last).size(), 18u);
  // 72 NICs of 64-port switches: 4 rails x 18 servers on 4 leaves.
  EXPECT_EQ(test::measure(built).endpoints.size(), 72u);
  // 19 servers make a chip need 76 ports.
  prepared.inputs.servers.push_back(prepared.inputs.servers.front());
  prepared.inputs.scale_up->servers_per_domain = 0;
  const auto refusals = row.refuse(prepared.inputs);
  ASSERT_EQ(refusals.size(), 1u);
  EXPECT_EQ(
      refusals[0],
      "a domain of 19 servers has 76 GPUs x 1 links = 76 ports on each chip, 'nvswitch' has 72");
}

// 3 pods meet in 3 rounds, which go to one spine as a whole: 2 links down and 3 circuits are 5
// ports on a spine of 4, though 3 circuits over 3 spines would be one each.
TEST(OpticalCircuit, ARoundOfCircuitsNeedsItsPortsOnOneSpine) {
  const Sketch sketch{
      .topology = "optical_circuit",
      .servers = std::vector<test::ServerSketch>(6, {1, 1, 1}),
      .radix = 4,
      .parameters = {{"pods", 3}, {"circuits", 3}, {"spines", 3}, {"leaf_hosts", 1}}};
  const auto refusals = topology::find_topology("optical_circuit")->refuse(Prepared(sketch).inputs);
  ASSERT_EQ(refusals.size(), 1u);
  EXPECT_NE(refusals[0].find("need 5 ports on a spine, its radix is 4"), std::string::npos)
      << refusals[0];
}

// 12 hosts, 2 to a leaf of radix 4: 6 leaves, which 5 pods could share; a top switch has 4 ports.
TEST(FatTree, RefusesMorePodsThanATopSwitchHasPorts) {
  const Sketch sketch{.topology = "fat_tree",
                      .servers = std::vector<test::ServerSketch>(12, {1, 1, 1}),
                      .radix = 4,
                      .parameters = {{"tiers", 3}, {"pods", 5}}};
  const auto refusals = topology::find_topology("fat_tree")->refuse(Prepared(sketch).inputs);
  ASSERT_EQ(refusals.size(), 1u);
  EXPECT_EQ(refusals[0],
            "5 parts under the top tier need a link each on every top switch, its radix is 4");
}

}  // namespace
}  // namespace weft
