#include <gtest/gtest.h>

#include "data/embedded.h"
#include "engine/analytic/analytic_engine.h"
#include "engine/flow/flow_engine.h"
#include "scenario/session.h"

namespace weft::scenario {
namespace {

const fabric::Fabric& demo() {
  static const Cluster kCluster = [] {
    std::vector<ShippedFile> files;
    for (const data::EmbeddedFile& file : data::embedded_files())
      files.push_back({std::string(file.path), std::string(file.text)});
    const Library library(std::move(files));
    return open_cluster(library, "demo-8x8-h100-rail", {});
  }();
  return *kCluster.fabric;
}

ScenarioFile scenario(const std::string& changes) {
  return parse_scenario(
      "weft: scenario/1\nwork:\n  - {transfer: [0, 8], size: 1GiB}\nlink_changes:\n" + changes,
      "s.yaml");
}

std::vector<engine::LinkChange> changes(const std::string& text) {
  return build_link_changes(scenario(text), demo(), engine::flow_engine());
}

void expect_fault(const std::string& text, int line, std::string_view part,
                  const engine::Engine& engine = engine::flow_engine()) {
  try {
    build_link_changes(scenario(text), demo(), engine);
    ADD_FAILURE() << "accepted: " << text;
  } catch (const InputError& error) {
    const Diagnostic& fault = error.diagnostics().front();
    EXPECT_EQ(fault.where.line, line) << error.what();
    EXPECT_NE(fault.what.find(part), std::string::npos) << error.what();
    EXPECT_FALSE(fault.hint.empty());
  }
}

TEST(LinkChanges, APairIsBothDirectionsAndAnArrowIsOne) {
  // A rail's cables are 400 Gb/s: 100 Gb/s is a quarter.
  const auto nic = demo().of_kind(fabric::DeviceKind::nic).front();
  fabric::LinkId up;
  for (const fabric::LinkId link : demo().out_links(nic))
    if (fabric::is_network(demo().link_class(link).kind)) up = link;
  const std::string leaf(demo().name(demo().to(up))), name(demo().name(nic));
  const auto both = changes("  - {link: [" + leaf + ", " + name + "], at: 10ms, rate: 100Gbps}\n");
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[0].link, fabric::reverse(up));
  EXPECT_EQ(both[1].link, up);
  EXPECT_EQ(both[0].when, Instant::at(Duration::milliseconds(10)));
  EXPECT_DOUBLE_EQ(both[1].factor, 0.25);
  const auto one = changes("  - {link: " + name + " -> " + leaf + ", at: 1s, share: 0}\n");
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0].link, up);
  EXPECT_EQ(one[0].factor, 0);
  expect_fault("  - {link: [" + leaf + ", " + name + "], at: 10ms, rate: 800Gbps}\n", 5,
               "was built for 400 Gbps, less than 800 Gbps");
}

TEST(LinkChanges, FaultsHaveTheirPlace) {
  expect_fault("  - {link: [node0/nic0, node0/nic00], at: 1ms, share: 0}\n", 5,
               "there is no device 'node0/nic00'");
  expect_fault("  - {link: [node0/nic0, node1/nic0], at: 1ms, share: 0}\n", 5,
               "no link joins node0/nic0 and node1/nic0");
  expect_fault("  - {link: [node0/nic0, node1/nic0], at: 1ms, share: 0}\n", 5,
               "the analytic engine has no link changes", engine::analytic_engine());
}

}  // namespace
}  // namespace weft::scenario
