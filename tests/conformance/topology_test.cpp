// Every row of src/topology/list.def against its closed form, on a grid and on random inputs.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "conformance/measure.h"
#include "conformance/sketch.h"
#include "routing/deadlock.h"
#include "routing/routes.h"

namespace weft {
namespace {

using fabric::DeviceId;
using fabric::Fabric;
using test::Measured;
using test::Prepared;
using test::Sketch;
using topology::ClosedForm;
using topology::Inputs;
using topology::Topology;

template <class T>
std::string differs(const char* what, const std::optional<T>& stated, T measured) {
  if (!stated || *stated == measured) return {};
  return fmt::format("{}: stated {}, measured {}; ", what, *stated, measured);
}

std::string compare_structure(const Fabric& built) {
  std::set<std::string_view> names;
  std::string faults;
  for (std::size_t d = 0; d < built.device_count(); ++d) {
    names.insert(built.name(DeviceId(d)));
    const int radix = built.device_class(DeviceId(d)).radix;
    const auto ports = static_cast<int>(built.out_links(DeviceId(d)).size());
    if (radix > 0 && ports > radix) faults += fmt::format("{} of {} ports; ", ports, radix);
  }
  if (names.size() != built.device_count()) faults += "names repeat; ";
  return faults;
}

// Switches of each tier of the form and the cables between them, counted in the fabric.
std::string compare_tiers(const Fabric& built, const Measured& measured, const ClosedForm& form) {
  std::map<int, topology::TierCounts> found;
  for (const DeviceId s : measured.switches) ++found[built.info(s).tier].switches;
  for (std::size_t l = 0; l < built.link_count(); l += 2) {
    const DeviceId a = built.from(fabric::LinkId(l)), b = built.to(fabric::LinkId(l));
    const auto is_switch = [&](DeviceId d) {
      return std::binary_search(measured.switches.begin(), measured.switches.end(), d);
    };
    if (!is_switch(a) || !is_switch(b)) continue;
    const int lower = std::min(built.info(a).tier, built.info(b).tier);
    if (built.info(a).tier == built.info(b).tier) {
      ++found[lower].links_across;
    } else {
      ++found[lower].links_up;
    }
  }
  std::string faults;
  if (found.size() != form.tiers.size()) {
    return fmt::format("tiers: stated {}, measured {}; ", form.tiers.size(), found.size());
  }
  for (const topology::TierCounts& tier : form.tiers) {
    const topology::TierCounts& here = found[tier.tier];
    if (here.switches == tier.switches && here.links_up == tier.links_up &&
        here.links_across == tier.links_across)
      continue;
    faults += fmt::format("{}: stated {} with {} up and {} across, measured {}, {}, {}; ",
                          tier.name, tier.switches, tier.links_up, tier.links_across, here.switches,
                          here.links_up, here.links_across);
  }
  return faults;
}

std::string compare(const Inputs& inputs, const Fabric& built, const ClosedForm& form) {
  const Measured measured = test::measure(built);
  std::string faults = compare_structure(built);
  if (form.diameter_switches && measured.parts != form.parts) {
    faults += fmt::format("parts: stated {}, measured {}; ", form.parts, measured.parts);
  }
  faults += differs("hosts", form.hosts, static_cast<std::int64_t>(measured.endpoints.size()));
  faults += differs("switches", form.switches, static_cast<std::int64_t>(measured.switches.size()));
  faults += differs("switch links", form.switch_links, measured.switch_links);
  faults += differs("diameter", form.diameter_switches, measured.diameter_switches);
  faults += differs("shortest paths", form.shortest_paths, measured.shortest_paths);
  faults += compare_tiers(built, measured, form);
  if (form.bisection) {
    const double flow =
        static_cast<double>(test::measure_bisection(built, measured, form.bisection_leaves)) /
        static_cast<double>(inputs.host_link.raw_rate.bps());
    if (std::abs(flow - *form.bisection) > 1e-6) {
      faults += fmt::format("bisection: stated {}, measured {}; ", *form.bisection, flow);
    }
  }
  for (std::size_t t = 0; t < form.oversubscription.size(); ++t) {
    // Measured 0: this tier has no switch with links up, which the form must not state either.
    const double most = t < measured.oversubscription.size() ? measured.oversubscription[t] : 0;
    if (std::abs(most - form.oversubscription[t]) > 1e-9) {
      faults += fmt::format("oversubscription {}: stated {}, measured {}; ", t + 1,
                            form.oversubscription[t], most);
    }
  }
  return faults;
}

// No more oversubscribed than was asked for.
std::string compare_asked(const Topology& row, const Inputs& inputs, const ClosedForm& form) {
  std::string faults;
  for (std::size_t t = 0; t < form.oversubscription.size(); ++t) {
    const auto name =
        t == 0 ? std::string("oversubscription") : fmt::format("oversubscription_{}", t + 1);
    const auto asked = inputs.parameters.find(name);
    double most = asked == inputs.parameters.end() ? 1 : asked->second;
    for (const topology::Parameter& parameter : row.parameters()) {
      if (asked == inputs.parameters.end() && parameter.name == name) {
        most = parameter.default_value;
      }
    }
    if (form.oversubscription[t] > most + 1e-9) {
      faults += fmt::format("{}: asked {}, built {}; ", name, most, form.oversubscription[t]);
    }
  }
  return faults;
}

// Empty when the sketch is refused with reasons, or built as its closed form says.
std::string check_sketch(const Sketch& sketch, int& built_count) {
  const Topology& row = *topology::find_topology(sketch.topology);
  const Prepared prepared(sketch);
  const std::vector<std::string> refusals = row.refuse(prepared.inputs);
  for (const std::string& sentence : refusals) {
    if (sentence.size() < 20) return "a refusal without a reason: " + sentence;
  }
  if (!refusals.empty()) return {};
  ++built_count;
  const Fabric built = row.build(prepared.inputs);
  const ClosedForm form = row.closed_form(prepared.inputs);
  return compare(prepared.inputs, built, form) + compare_asked(row, prepared.inputs, form);
}

class EveryTopology : public testing::TestWithParam<const Topology*> {};

INSTANTIATE_TEST_SUITE_P(Rows, EveryTopology, testing::ValuesIn(topology::all_topologies()),
                         [](const auto& info) { return std::string(info.param->name()); });

TEST_P(EveryTopology, EqualsItsClosedFormOnAGrid) {
  int built = 0;
  for (const int radix : {4, 6, 8}) {
    for (const int servers : {1, 2, 3, 5, 8, 13}) {
      for (const test::ServerSketch server :
           {test::ServerSketch{1, 1, 1}, test::ServerSketch{2, 2, 1},
            test::ServerSketch{2, 2, 2}}) {
        for (const std::int64_t fabric_gbps : {400, 800}) {
          const Sketch sketch{.topology = std::string(GetParam()->name()),
                              .servers = std::vector(static_cast<std::size_t>(servers), server),
                              .radix = radix,
                              .fabric_gbps = fabric_gbps};
          EXPECT_EQ(check_sketch(sketch, built), "") << describe(sketch);
        }
      }
    }
  }
  EXPECT_GT(built, 10);
}

Sketch random_sketch(const Topology& row) {
  Sketch sketch{.topology = std::string(row.name())};
  const int kinds = *rc::gen::inRange(1, 3);
  std::vector<test::ServerSketch> templates;
  for (int i = 0; i < kinds; ++i) {
    templates.push_back(
        {*rc::gen::inRange(1, 4), *rc::gen::inRange(1, 4), *rc::gen::inRange(1, 3)});
  }
  const int servers = *rc::gen::inRange(1, 25);
  for (int i = 0; i < servers; ++i) {
    sketch.servers.push_back(templates[*rc::gen::inRange<std::size_t>(0, templates.size())]);
  }
  sketch.radix = *rc::gen::inRange(3, 17);
  sketch.host_gbps = *rc::gen::element<std::int64_t>(100, 200, 400);
  sketch.fabric_gbps = *rc::gen::element<std::int64_t>(200, 400, 800);
  for (const topology::Parameter& parameter : row.parameters()) {
    if (parameter.name == "radix" || *rc::gen::inRange(0, 3) != 0) continue;
    double number = parameter.whole ? *rc::gen::inRange(1, 6) : *rc::gen::inRange(1, 9) / 2.0;
    sketch.parameters[parameter.name] = std::clamp(number, parameter.min, parameter.max);
  }
  return sketch;
}

TEST_P(EveryTopology, EqualsItsClosedFormOnRandomInputs) {
  int built = 0;
  EXPECT_TRUE(rc::check(std::string(GetParam()->name()), [&] {
    for (int i = 0; i < 10; ++i) {
      const Sketch sketch = random_sketch(*GetParam());
      const std::string faults = check_sketch(sketch, built);
      if (!faults.empty()) RC_FAIL(faults + describe(sketch));
    }
  }));
  EXPECT_GT(built, 15);
}

TEST_P(EveryTopology, TellsItsParametersAndNamesFaultyOnes) {
  std::set<std::string> names;
  for (const topology::Parameter& parameter : GetParam()->parameters()) {
    EXPECT_TRUE(names.insert(parameter.name).second) << parameter.name;
    EXPECT_GT(parameter.meaning.size(), 10u) << parameter.name;
    EXPECT_LT(parameter.min, parameter.max) << parameter.name;
    if (parameter.default_value == parameter.default_value) {  // not NaN
      EXPECT_GE(parameter.default_value, parameter.min) << parameter.name;
      EXPECT_LE(parameter.default_value, parameter.max) << parameter.name;
    }
  }
  Sketch sketch{.topology = std::string(GetParam()->name()), .servers = {{1, 1, 1}}};
  sketch.parameters = {{"radxi", 4}, {"radix", 4.5}};
  const auto refusals = GetParam()->refuse(Prepared(sketch).inputs);
  ASSERT_EQ(refusals.size(), 2u);
  EXPECT_NE(refusals[0].find("4.5"), std::string::npos) << refusals[0];
  EXPECT_NE(refusals[1].find("did you mean 'radix'"), std::string::npos) << refusals[1];
}

// The table that a model's page must show for a row: this file is its only other copy.
std::string parameter_table(const Topology& row) {
  std::string table = "| name | unit | default | range | meaning |\n|---|---|---|---|---|\n";
  for (const topology::Parameter& p : row.parameters()) {
    const bool derived = p.default_value != p.default_value;
    table += fmt::format("| {} | {} | {} | {} to {} | {} |\n", p.name, p.unit,
                         derived ? std::string("derived") : fmt::format("{}", p.default_value),
                         p.min, p.max, p.meaning);
  }
  return table;
}

TEST_P(EveryTopology, PageShowsItsParameters) {
  const auto page = fmt::format("{}/docs/models/{}.md", WEFT_SOURCE_DIR, GetParam()->name());
  const std::string table = parameter_table(*GetParam());
  EXPECT_NE(read_file(page).find(table), std::string::npos) << page << " needs\n" << table;
}

// 12 servers of two NICs, in a shape that the row can build.
Sketch twelve_servers(std::string_view topology) {
  Sketch sketch{.topology = std::string(topology),
                .servers = std::vector<test::ServerSketch>(12, {2, 2, 1}),
                .radix = 8};
  if (topology == "single_switch") sketch.radix = 24;  // 12 x 2 ports
  if (topology == "three_tier") sketch.radix = 12;     // 3 pods x 2 x 2 links on a core
  if (topology == "torus") sketch.servers.resize(8), sketch.parameters = {{"dim_1", 8}};
  if (topology == "dragonfly") sketch.parameters = {{"p", 1}, {"a", 4}, {"h", 2}, {"g", 6}};
  if (topology == "optical_circuit") sketch.parameters = {{"pods", 3}};
  if (topology == "dual_tor") sketch.servers.assign(12, {2, 2, 2});
  return sketch;
}

// Distances that Routes finds are those of the breadth-first search, every NIC reaches every NIC of
// its part over a path of that length, and up-down routes cannot deadlock.
TEST_P(EveryTopology, RoutesAreShortestAndFreeOfBufferCycles) {
  if (GetParam()->name() == "scale_up") GTEST_SKIP() << "no network to route over";
  const Sketch sketch = twelve_servers(GetParam()->name());
  const Prepared prepared(sketch);
  ASSERT_EQ(GetParam()->refuse(prepared.inputs), std::vector<std::string>{});
  const Fabric built = GetParam()->build(prepared.inputs);
  const routing::Routes routes(built, {});
  const ClosedForm form = GetParam()->closed_form(prepared.inputs);
  int longest = 0;
  std::vector<fabric::LinkId> links;
  for (const DeviceId from : built.of_kind(fabric::DeviceKind::nic)) {
    for (const DeviceId to : built.of_kind(fabric::DeviceKind::nic)) {
      links.clear();
      if (form.parts > 1 && routes.distance(from, to) < 0) {
        ASSERT_FALSE(routes.path(from, to, 0, links));
        continue;
      }
      ASSERT_TRUE(routes.path(from, to, routing::entropy_of(from, to, 0), links));
      ASSERT_EQ(static_cast<int>(links.size()), routes.distance(from, to));
      DeviceId at = from;
      for (const fabric::LinkId link : links) {
        ASSERT_EQ(built.from(link), at);
        at = built.to(link);
      }
      ASSERT_EQ(at, to);
      longest = std::max(longest, routes.distance(from, to));
    }
  }
  // n switches on the way are n + 1 links.
  EXPECT_EQ(longest, *form.diameter_switches + 1);
  const bool rings = sketch.topology == "torus" || sketch.topology == "dragonfly";
  EXPECT_EQ(routing::find_buffer_cycle(built, routes).empty(), !rings);
}

}  // namespace
}  // namespace weft
