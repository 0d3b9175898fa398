#include <gtest/gtest.h>

#include "base/text.h"
#include "import/dump_test_support.h"

namespace weft::import {
namespace {

using fabric::DeviceKind;

std::vector<Diagnostic> faults_of(const std::string& text) {
  try {
    static_cast<void>(find_importer("htsim_topo")->read({"t.topo", text}, dump_test_context()));
  } catch (const InputError& error) {
    return error.diagnostics();
  }
  return {};
}

std::size_t of_tier(const fabric::Fabric& f, int tier) {
  std::size_t n = 0;
  for (const fabric::DeviceId s : f.of_kind(DeviceKind::network_switch))
    n += f.info(s).tier == tier;
  return n;
}

std::size_t cables(const fabric::Fabric& f, std::string_view a, std::string_view b) {
  std::size_t n = 0;
  for (const fabric::LinkId link : f.out_links(*f.find(a))) n += f.name(f.to(link)) == b;
  return n;
}

const fabric::LinkClass& link(const fabric::Fabric& f, std::string_view a, std::string_view b) {
  return f.link_class(*f.find_link(*f.find(a), *f.find(b)));
}

// 32 nodes, 8 to a leaf; 2 links up of each leaf, so 2 spines of 4 leaves.
TEST(HtsimTopo, ReadsALeafSpine) {
  const fabric::Fabric f = import_data("htsim/leaf_spine_tiny.topo");
  EXPECT_EQ(count(f, DeviceKind::gpu), 32u);
  EXPECT_EQ(of_tier(f, 1), 4u);
  EXPECT_EQ(of_tier(f, 2), 2u);
  for (const char* spine : {"agg0", "agg1"}) EXPECT_EQ(cables(f, "tor3", spine), 1u);
  EXPECT_EQ(cables(f, "node31/nic0", "tor3"), 1u);
  EXPECT_EQ(link(f, "tor0", "agg0").raw_rate, BitRate::gigabits_per_second(100));
  EXPECT_EQ(link(f, "tor0", "agg0").latency, Duration::nanoseconds(1000));
  EXPECT_EQ(f.device_class(*f.find("tor0")).forwarding_latency, Duration());
}

// 8 nodes in 2 pods: 2 leaves and 2 spines each; a spine's 4 links up are 2 bundles of 2 at half
// the rate, to cores p and p + 2.
TEST(HtsimTopo, ReadsBundlesAndUnequalRates) {
  const fabric::Fabric f = import_data("htsim/test.topo");
  EXPECT_EQ(of_tier(f, 1), 4u);
  EXPECT_EQ(of_tier(f, 2), 4u);
  EXPECT_EQ(of_tier(f, 3), 4u);
  EXPECT_EQ(cables(f, "tor0", "agg1"), 1u);
  EXPECT_EQ(cables(f, "tor0", "agg2"), 0u);  // of the other pod
  EXPECT_EQ(cables(f, "agg1", "core1"), 2u);
  EXPECT_EQ(cables(f, "agg1", "core3"), 2u);
  EXPECT_EQ(cables(f, "agg1", "core0"), 0u);
  EXPECT_EQ(cables(f, "agg3", "core1"), 2u);
  EXPECT_EQ(link(f, "agg1", "core1").raw_rate, BitRate::gigabits_per_second(100));
  EXPECT_EQ(link(f, "tor0", "agg1").raw_rate, BitRate::gigabits_per_second(200));
}

// 128 nodes, 4 to a leaf with 1 link up: 32 leaves, 8 pods of 1 spine with 2 links up, 2 cores.
TEST(HtsimTopo, ReadsOversubscribedTiers) {
  const fabric::Fabric f = import_data("htsim/fat_tree_128_8os.topo");
  EXPECT_EQ(of_tier(f, 1), 32u);
  EXPECT_EQ(of_tier(f, 2), 8u);
  EXPECT_EQ(of_tier(f, 3), 2u);
  EXPECT_EQ(of_tier(import_data("htsim/fat_tree_1024.topo"), 3), 64u);
}

// 4 ports down of 1000 bytes and 2 up of 500.
TEST(HtsimTopo, QueuesOfThePortsAreTheBufferOfTheSwitch) {
  const fabric::Fabric f = import_dump(
      "Nodes 8\nTiers 2\nPodsize 8\nTier 0\nDownlink_speed_Gbps 400\nRadix_Down 4\nRadix_Up 2\n"
      "Queue_Down 1000\nQueue_Up 500\nOversubscribed 2\nDownlink_Latency_ns 500\n"
      "Switch_Latency_ns 300\n"
      "Tier 1\nDownlink_speed_Gbps 400\nRadix_Down 2\nDownlink_Latency_ns 500\n");
  EXPECT_EQ(f.device_class(*f.find("tor0")).buffer, Bytes(5000));
  EXPECT_EQ(f.device_class(*f.find("tor0")).forwarding_latency, Duration::nanoseconds(300));
}

TEST(HtsimTopo, NodesInARowAreTheNicsOfAGivenServer) {
  const fabric::Fabric host = import_data("nccl/aws_p4d.xml");  // 4 NICs, 8 GPUs
  ASSERT_EQ(count(host, DeviceKind::nic), 4u);
  const std::string path = std::string(WEFT_SOURCE_DIR) + "/tests/data/htsim/leaf_spine_tiny.topo";
  ImportInputs inputs = dump_test_context();
  inputs.host = &host;
  const fabric::Fabric f = import_any({path, read_file(path)}, inputs);
  EXPECT_EQ(f.server_count(), 8u);
  EXPECT_EQ(count(f, DeviceKind::gpu), 64u);
}

constexpr const char* kHead = "Nodes 8\nTiers 2\nPodsize 8\n";
constexpr const char* kLeaf =
    "Tier 0\nDownlink_speed_Gbps 400\nRadix_Down 4\nRadix_Up 4\nDownlink_Latency_ns 500\n";
constexpr const char* kSpine =
    "Tier 1\nDownlink_speed_Gbps 400\nRadix_Down 2\nDownlink_Latency_ns 500\n";

std::string with(std::string text, std::string_view old, std::string_view next) {
  return text.replace(text.find(old), old.size(), next);
}

TEST(HtsimTopo, FaultsAreNamedWithTheirPlace) {
  const std::string good = std::string(kHead) + kLeaf + kSpine;
  EXPECT_TRUE(faults_of(good).empty());
  struct Bad {
    std::string text;
    int line;
    const char* what;
  };
  const std::vector<Bad> cases = {
      {with(good, "Nodes 8", "Nodes eight"), 2 - 1, "no whole number"},
      {with(good, "Podsize 8", "Podsize 4"), 3, "two tiers, but pods"},
      {with(good, "Radix_Up 4", "Radix_Up 2"), 4, "do not give Oversubscribed 1"},
      {with(good, "Radix_Down 2", "Radix_Down 4"), 11, "2 switches below"},
      {with(good, "Radix_Down 2", "Radix_Downs 2"), 11, "a tier has no 'Radix_Downs'"},
      {with(good, "Radix_Down 2", "Radix_Down 2\nRadix_Down 2"), 12, "stands twice"},
      {with(good, "Radix_Down 2", "Radix_Down 2\nRadix_Up 2"), 12, "top tier"},
      {with(good, "Radix_Down 2", "Radix_Down 2\nBundle 3"), 12, "bundles of 3"},
      {with(good, "Tier 1", "Tier 0"), 9, "already on line 4"},
      {with(good, "Tier 1", "Tier 2"), 2, "tier 1 is missing"},
      {with(good, "Radix_Down 4", "Radix_Down 3"), 6, "no whole number of switches"},
      {with(good, "Radix_Down 4", "Radix_Down 0"), 6, "Radix_Down is 0"},
      {with(good, "Downlink_speed_Gbps 400\nRadix_Down 4", "Radix_Down 4"), 4,
       "no Downlink_speed_Gbps"},
      {"Nodes 8\nTiers 2\n", 1, "Podsize is missing"},
  };
  for (const Bad& bad : cases) {
    const auto faults = faults_of(bad.text);
    const auto found = std::find_if(faults.begin(), faults.end(), [&](const Diagnostic& fault) {
      return fault.what.find(bad.what) != std::string::npos;
    });
    ASSERT_NE(found, faults.end()) << bad.what;
    EXPECT_EQ(found->where.line, bad.line) << bad.what;
    EXPECT_EQ(found->where.column, bad.what == std::string("no whole number") ? 7 : 1) << bad.what;
    EXPECT_FALSE(found->hint.empty());
  }
}

}  // namespace
}  // namespace weft::import
