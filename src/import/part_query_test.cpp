#include "import/part_query.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "import/shipped_catalogue.h"

namespace weft::import {
namespace {

std::vector<std::string> ask(std::string_view section, std::string_view text) {
  const auto conditions = parse_part_conditions(text, *find_part_kind(section), "--where");
  std::vector<std::string> names;
  for (const PartRecord* record : shipped_catalogue().records_of(section)) {
    if (std::all_of(conditions.begin(), conditions.end(),
                    [&](const PartCondition& c) { return holds(*record, c); }))
      names.push_back(record->name);
  }
  return names;
}

std::vector<std::string> faults(std::string_view section, std::string_view text) {
  std::vector<std::string> out;
  try {
    (void)ask(section, text);
  } catch (const InputError& error) {
    for (const Diagnostic& d : error.diagnostics()) {
      EXPECT_FALSE(d.hint.empty());
      out.push_back(std::to_string(d.where.column) + " " + d.what);
    }
  }
  return out;
}

TEST(PartQuery, FindsSwitchesByPortsAtARate) {
  const auto found = ask("switches", "ports_800g>=128 and form=box");
  EXPECT_NE(std::find(found.begin(), found.end(), "quantum-x800"), found.end());    // 144
  EXPECT_NE(std::find(found.begin(), found.end(), "bytedance-102t"), found.end());  // 128
  EXPECT_EQ(std::find(found.begin(), found.end(), "spectrum4"), found.end());       // 64
  EXPECT_EQ(std::find(found.begin(), found.end(), "tomahawk6"), found.end());       // a chip
}

TEST(PartQuery, ComparesInAnyUnitOfTheDimension) {
  // 14.3 and 14.5 kW.
  const std::vector<std::string> hot = {"dgx-b200", "dgx-b300"};
  EXPECT_EQ(ask("servers", "power_max>11kW"), hot);
  EXPECT_EQ(ask("servers", "power_max>11000 W"), hot);
  EXPECT_EQ(ask("servers", "power_max>11000"), hot);  // watts, the unit of the field
}

TEST(PartQuery, ARangeFitsWhenAllOfItDoesAndNothingFitsWhatIsNotStated) {
  // lpo-800 draws 8 to 9 W.
  EXPECT_EQ(ask("optics", "form=lpo, power<=9W"), std::vector<std::string>{"lpo-800"});
  EXPECT_TRUE(ask("optics", "form=lpo, power<=8.5W").empty());
  EXPECT_TRUE(ask("cooling", "name=immersion, pue>0").empty());
}

TEST(PartQuery, TextsAreEqualOrContain) {
  EXPECT_EQ(ask("switches", "title~Tomahawk 6"), std::vector<std::string>{"tomahawk6"});
  EXPECT_EQ(ask("gpus", "vendor=INTEL"), std::vector<std::string>{"gaudi3"});
}

TEST(PartQuery, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(faults("switches", "powr<=500 W"),
            std::vector<std::string>{"1 switches have no field 'powr'"});
  EXPECT_EQ(faults("switches", "power<=500 m, kind<3, latency"),
            (std::vector<std::string>{"8 '500 m' is not a value of power",
                                      "20 kind is a text and has no order",
                                      "23 'latency' is not a condition"}));
  EXPECT_EQ(faults("switches", "").size(), 1u);
}

}  // namespace
}  // namespace weft::import
