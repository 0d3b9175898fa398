// A user's file over the shipped catalogue: what it changes, adds and takes away.
#include <gtest/gtest.h>

#include "base/text.h"
#include "import/catalogue.h"
#include "import/shipped_catalogue.h"

namespace weft::import {
namespace {

constexpr std::string_view kShipped = R"(weft: catalogue/1
sources: {sheet: "A data sheet", press: "A paper"}
switches:
  - {model: a, aliases: [a-long], name: A, kind: network, ports: {400Gbps: 64},
     latency: 300ns, power: 700W, notes: {power: "passive cables"},
     sources: {latency: press press, all: sheet datasheet}}
)";

Catalogue with(std::string_view overlay) {
  return Catalogue(
      {{"shipped.yaml", std::string(kShipped)}, {"mine.yaml", std::string(overlay), true}});
}

std::vector<std::string> faults(std::string_view overlay) {
  std::vector<std::string> out;
  try {
    (void)with(overlay);
  } catch (const InputError& error) {
    for (const Diagnostic& d : error.diagnostics()) {
      out.push_back(d.where.file + ":" + std::to_string(d.where.line) + ":" +
                    std::to_string(d.where.column) + " " + d.what);
    }
  }
  return out;
}

TEST(CatalogueOverlay, ReplacesWhatItStatesAndKeepsTheRest) {
  const Catalogue catalogue = with(R"(weft: catalogue/1
sources: {offer: "Offer of a supplier, 2026"}
switches:
  - {model: a, power: 750W, price: 30kUSD, sources: {all: offer quote}}
)");
  const PartRecord* a = catalogue.record("a");
  ASSERT_NE(a, nullptr);
  EXPECT_EQ(a->number("power"), 750);
  EXPECT_EQ(a->figure("power")->confidence, "quote");
  EXPECT_EQ(a->figure("power")->note, "");  // the note was about the other figure
  EXPECT_EQ(a->figure("power")->where.file, "mine.yaml");
  EXPECT_EQ(a->number("price"), 30000);
  EXPECT_EQ(a->number("latency"), 300);
  EXPECT_EQ(a->figure("latency")->source, "press");
  EXPECT_EQ(a->figure("ports")->source, "sheet");  // still by the record's own `all`
  EXPECT_EQ(a->title, "A");
}

TEST(CatalogueOverlay, EnginesSeeTheChange) {
  const Catalogue catalogue = with(R"(weft: catalogue/1
switches:
  - {model: a-long, latency: 250ns, sources: {latency: sheet datasheet}}
)");
  EXPECT_EQ(catalogue.device("a")->forwarding_latency, Duration::nanoseconds(250));
}

TEST(CatalogueOverlay, AddsPartsAndTakesFiguresAway) {
  const Catalogue catalogue = with(R"(weft: catalogue/1
switches:
  - {model: a, power: ~}
  - {model: b, name: B, kind: network, chip: a, ports: {800Gbps: 32},
     sources: {all: sheet datasheet}}
)");
  EXPECT_EQ(catalogue.record("a")->number("power"), std::nullopt);
  ASSERT_NE(catalogue.record("b"), nullptr);
  EXPECT_EQ(catalogue.device("b")->forwarding_latency, Duration::nanoseconds(300));  // of its chip
}

TEST(CatalogueOverlay, ItsFaultsCarryItsOwnPositions) {
  EXPECT_EQ(faults(R"(weft: catalogue/1
switches:
  - {model: a, power: 750W}
  - {model: a, price: 3W, sources: {price: sheet datasheet}}
)"),
            (std::vector<std::string>{
                "mine.yaml:3:23 power of 'a' has no source",
                "mine.yaml:4:13 'a' is changed twice in this file",
                "mine.yaml:4:23 price '3W' is not a quantity in USD, kUSD, MUSD",
            }));
}

TEST(CatalogueOverlay, AShippedRecordIsNotDefinedTwiceByAccident) {
  EXPECT_THROW(Catalogue({{"a.yaml", std::string(kShipped)}, {"b.yaml", std::string(kShipped)}}),
               InputError);
}

// The file that docs/catalogue.md shows goes over the shipped catalogue.
TEST(CatalogueOverlay, TheOneInTheDocumentationWorks) {
  const std::string page = read_file(std::string(WEFT_SOURCE_DIR) + "/docs/catalogue.md");
  const std::size_t begin = page.find("```yaml\n") + 8, end = page.find("```", begin);
  ASSERT_LT(end, page.size());
  std::vector<CatalogueText> files = shipped_catalogue_files();
  files.push_back({"docs/catalogue.md", page.substr(begin, end - begin), true});
  const Catalogue catalogue(files);
  EXPECT_EQ(catalogue.record("huawei-xh9330")->number("price"), 61000);
  EXPECT_EQ(catalogue.record("huawei-xh9330")->capacity(), BitRate::gigabits_per_second(102400));
  EXPECT_NE(catalogue.part("lab-switch"), nullptr);
}

}  // namespace
}  // namespace weft::import
