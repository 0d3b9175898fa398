#include "import/catalogue.h"

#include <gtest/gtest.h>

#include <set>

#include "base/text.h"
#include "import/shipped_catalogue.h"

namespace weft::import {
namespace {

using fabric::DeviceKind;
using fabric::LinkKind;
using fabric::Vendor;

TEST(ShippedCatalogue, EveryFigureHasASourceWithATitleAndAConfidence) {
  const Catalogue& catalogue = shipped_catalogue();
  const auto& words = confidence_words();
  const std::set<std::string> confidences(words.begin(), words.end());
  EXPECT_GT(catalogue.figures().size(), 1500u);
  for (const Catalogue::Figure& f : catalogue.figures()) {
    EXPECT_FALSE(catalogue.source_title(f.source).empty()) << f.part << " " << f.key;
    EXPECT_TRUE(confidences.contains(f.confidence)) << f.part << " " << f.key;
    EXPECT_FALSE(f.value.empty()) << f.part << " " << f.key;
  }
}

// A quantity is kept in the unit of its field; only counts and ratios have none.
TEST(ShippedCatalogue, EveryNumberIsReadInTheUnitOfItsField) {
  for (const PartRecord& record : shipped_catalogue().records()) {
    for (const PartFigure& f : record.figures) {
      const PartField* field = record.kind->field(f.key);
      if (field == nullptr || field->type != FieldType::quantity) continue;
      ASSERT_TRUE(f.amount) << f.part << " " << f.key << " " << f.value << f.unit;
      EXPECT_LE(f.amount->low, f.amount->high);
      EXPECT_TRUE(field->unit.empty() || !f.unit.empty()) << f.part << " " << f.key;
    }
  }
}

TEST(ShippedCatalogue, WhatANicRunsIsAProtocolOfTheCatalogue) {
  for (const PartRecord* nic : shipped_catalogue().records_of("nics")) {
    const PartFigure* protocols = nic->figure("protocols");
    if (protocols == nullptr) continue;
    for (const std::string_view word : split(protocols->value, ',')) {
      const PartRecord* found = shipped_catalogue().record(trim(word));
      ASSERT_NE(found, nullptr) << nic->name << " runs " << word;
      EXPECT_EQ(found->kind->section, "protocols");
    }
  }
}

// The switches whose makers count both ways, and those that count one way: ports x rate is the
// same number for all.
TEST(ShippedCatalogue, CapacityIsOneWayWhateverTheHeadline) {
  const auto tbps = [](const char* name) {
    return shipped_catalogue().record(name)->capacity().gbps() / 1000;
  };
  EXPECT_DOUBLE_EQ(tbps("qm9700"), 25.6);          // 64 x 400G, printed as 51.2
  EXPECT_DOUBLE_EQ(tbps("q3400"), 115.2);          // 144 x 800G, printed as 115.2
  EXPECT_DOUBLE_EQ(tbps("h3c-s98258c-g"), 102.4);  // 64 x 1.6T, printed as 204.8
  EXPECT_DOUBLE_EQ(tbps("tomahawk6"), 102.4);      // 512 x 200G
  EXPECT_DOUBLE_EQ(tbps("sn2201"), 0.448);         // 48 x 1G and 4 x 100G
  EXPECT_DOUBLE_EQ(tbps("sn6800-ld"), 409.6);      // 512 x 800G
  EXPECT_EQ(shipped_catalogue().record("tomahawk6")->ports_at(BitRate::gigabits_per_second(800)),
            128);
  EXPECT_EQ(shipped_catalogue().record("zte-51t")->capacity(), BitRate());  // no ports published
}

TEST(ShippedCatalogue, RecordsStateWhatPlansNeedAndLeaveOutWhatNobodyPublished) {
  const Catalogue& catalogue = shipped_catalogue();
  const PartRecord* qm9700 = catalogue.record("qm9700");  // alias of what engines call quantum2
  ASSERT_NE(qm9700, nullptr);
  EXPECT_EQ(qm9700->name, "quantum2");
  EXPECT_EQ(qm9700->number("power"), 747);
  EXPECT_EQ(qm9700->number("price"), 43000);  // the middle of 36000..50000 USD
  EXPECT_FALSE(qm9700->figure("price")->firm());
  EXPECT_TRUE(qm9700->figure("power")->firm());
  EXPECT_EQ(catalogue.record("dgx-b200")->number("power_max"), 14300);  // 14.3 kW in watts
  EXPECT_EQ(catalogue.record("huawei-xh9330")->number("price"), std::nullopt);
  EXPECT_EQ(catalogue.record("immersion")->number("pue"), std::nullopt);
  EXPECT_EQ(catalogue.part("qm9700"), catalogue.part("quantum2"));
  EXPECT_NEAR(*catalogue.record("nic-tor-link")->number("value"), 0.00057, 1e-12);
}

// A box forwards as its chip does; the latency of one whose chip is not known is that of a typical
// switch, never zero.
TEST(ShippedCatalogue, NoNetworkSwitchForwardsInNoTime) {
  const Catalogue& catalogue = shipped_catalogue();
  EXPECT_EQ(catalogue.device("arista-7060x6-64pe")->forwarding_latency,
            catalogue.device("tomahawk5")->forwarding_latency);
  for (const std::string& name : catalogue.names(DeviceKind::network_switch))
    EXPECT_GT(catalogue.device(name)->forwarding_latency, Duration()) << name;
}

// GB/s one way = lanes x GT/s x efficiency / 8.
TEST(ShippedCatalogue, PcieGenerationsFollowTheFormula) {
  for (int generation = 1; generation <= 7; ++generation) {
    const PartRecord* pcie = shipped_catalogue().record("pcie" + std::to_string(generation));
    ASSERT_NE(pcie, nullptr);
    const double lane = *pcie->number("signalling") * *pcie->number("efficiency") / 8;
    EXPECT_NEAR(*pcie->number("rate") / 8, lane, lane * 1e-5) << generation;
    EXPECT_NEAR(*pcie->number("x16_rate"), 16 * lane, 16 * lane * 1e-5) << generation;
  }
}

TEST(ShippedCatalogue, CausesAddUpToTheInterruptions) {
  double sum = 0;
  for (const PartRecord* record : shipped_catalogue().records_of("failures")) {
    if (record->word("of") == "llama3-interruptions") sum += *record->number("value");
  }
  EXPECT_EQ(sum, shipped_catalogue().record("llama3-interruptions")->number("value"));  // 419
}

TEST(ShippedCatalogue, HasThePartsThatServersAreBuiltFrom) {
  const Catalogue& catalogue = shipped_catalogue();
  const CataloguePart* h100 = catalogue.part("h100-sxm5-80gb");
  ASSERT_NE(h100, nullptr);
  EXPECT_EQ(h100->device.compute_capability, 90);
  EXPECT_EQ(h100->device.memory, Bytes(80'000'000'000));
  EXPECT_EQ(h100->pcie, (PcieWidth{5, 16}));
  EXPECT_EQ(h100->nvlink, (NvlinkPort{.links = 18, .generation = 4}));
  EXPECT_TRUE(h100->device.multicast);
  EXPECT_FALSE(catalogue.device("rtx-4090")->peer_to_peer);
  EXPECT_EQ(catalogue.nvlink_of("h800-sxm5-80gb").links, 8);
  EXPECT_EQ(catalogue.part("quantum2")->ports[1],
            (std::pair(BitRate::gigabits_per_second(200), 128)));
  EXPECT_EQ(catalogue.device("nvswitch4")->radix, 72);
  EXPECT_EQ(catalogue.device("connectx7")->port_kind, LinkKind::infiniband);
  EXPECT_EQ(catalogue.network_link(LinkKind::ethernet, BitRate::gigabits_per_second(400)),
            "400gbe");
  EXPECT_EQ(catalogue.delay_per_metre("fibre"), Duration::picoseconds(4900));
}

TEST(ShippedCatalogue, KnowsPciIds) {
  const Catalogue& catalogue = shipped_catalogue();
  EXPECT_EQ(catalogue.model_of_pci(0x10de, 0x20b0), "a100-sxm4-40gb");
  EXPECT_EQ(catalogue.model_of_pci(0x10de, 0x2330), "h100-sxm5-80gb");
  EXPECT_EQ(catalogue.model_of_pci(0x10de, 0x2335), "h200-sxm-141gb");
  EXPECT_EQ(catalogue.model_of_pci(0x15b3, 0x101b), "connectx6");
  EXPECT_EQ(catalogue.model_of_pci(0x15b3, 0x101c), "connectx6");  // its virtual function
  EXPECT_EQ(catalogue.model_of_pci(0x1d0f, 0xefa0), "efa-v1");
  EXPECT_EQ(catalogue.model_of_pci(0x1002, 0x74a1), "mi300x");
  EXPECT_EQ(catalogue.model_of_pci(0x10de, 0x0001), std::nullopt);
}

// The generations and peer rates are NCCL's: family 6 from model 0x55 Skylake, 0x8F Sapphire
// Rapids, 0xCF Emerald Rapids; below that Broadwell.
TEST(ShippedCatalogue, MatchesCpusAsNcclDoes) {
  const Catalogue& catalogue = shipped_catalogue();
  const auto intel = [&](int model) {
    return catalogue.model_of_cpu({Vendor::intel, "x86_64", 6, model});
  };
  EXPECT_EQ(intel(79), "intel-broadwell");
  EXPECT_EQ(intel(0x55), "intel-skylake-sp");
  EXPECT_EQ(intel(0x8f), "intel-sapphire-rapids");
  EXPECT_EQ(intel(0xcf), "intel-emerald-rapids");
  EXPECT_EQ(catalogue.model_of_cpu({Vendor::amd, "x86_64", 23, 49}), "amd-rome");
  EXPECT_EQ(catalogue.model_of_cpu({Vendor::amd, "x86_64", 25, 17}), "amd-genoa");
  EXPECT_EQ(catalogue.model_of_cpu({Vendor::unknown, "arm64", 0, 0}), "generic-arm64");
  EXPECT_EQ(catalogue.model_of_cpu({Vendor::ibm, "ppc64", 0, 0}), "ibm-power9");
  EXPECT_EQ(catalogue.model_of_cpu({Vendor::unknown, "riscv", 0, 0}), "generic-x86_64");

  const std::map<std::string, double> peer_gb_per_s = {{"intel-broadwell", 6},
                                                       {"intel-skylake-sp", 10},
                                                       {"intel-sapphire-rapids", 22},
                                                       {"intel-emerald-rapids", 40},
                                                       {"amd-rome", 16},
                                                       {"generic-arm64", 6},
                                                       {"ibm-power9", 32}};
  for (const auto& [model, rate] : peer_gb_per_s) {
    EXPECT_DOUBLE_EQ(catalogue.socket_link_of(model).peer_rate.gb_per_s(), rate) << model;
  }
}

TEST(ShippedCatalogue, JoinsSocketsWithAllTheirLinks) {
  const Catalogue& catalogue = shipped_catalogue();
  // 3 x UPI 10.4 GT/s = 3 x 20.8 = 62.4 GB/s; 128 GB/s of memory halves over two NUMA nodes.
  EXPECT_NEAR(catalogue.socket_link_of("intel-skylake-sp").raw_rate.gb_per_s(), 62.4, 1e-6);
  EXPECT_NEAR(catalogue.socket_link_of("intel-skylake-sp", 2).raw_rate.gb_per_s(), 41.6, 1e-6);
  EXPECT_NEAR(catalogue.on_die_link_of("intel-skylake-sp", 2).raw_rate.gb_per_s(), 64, 1e-6);
  EXPECT_TRUE(catalogue.host_bridge_of("intel-skylake-sp").splits_p2p_tlps);
  EXPECT_FALSE(catalogue.host_bridge_of("amd-rome").splits_p2p_tlps);
}

TEST(ParsePcieWidth, TakesGenerationAndWidthOnly) {
  EXPECT_EQ(parse_pcie_width("gen5 x16"), (PcieWidth{5, 16}));
  for (const char* wrong : {"", "gen5", "gen5 16", "5 x16", "gen8 x16", "gen5 x0", "gen5 x16 x2"}) {
    EXPECT_FALSE(parse_pcie_width(wrong)) << wrong;
  }
}

// Faults of one catalogue as "line:column what".
std::vector<std::string> faults(std::string_view text) {
  try {
    Catalogue({{"c.yaml", std::string(text)}});
  } catch (const InputError& error) {
    std::vector<std::string> out;
    for (const Diagnostic& d : error.diagnostics()) {
      EXPECT_FALSE(d.hint.empty()) << d.what;
      out.push_back(std::to_string(d.where.line) + ":" + std::to_string(d.where.column) + " " +
                    d.what);
    }
    return out;
  }
  return {};
}

TEST(Catalogue, RefusesAFigureWithoutSourceAndReportsAllFaultsAtOnce) {
  const auto found = faults(R"(weft: catalogue/1
sources:
  nv: "A data sheet"
gpus:
  - {model: a, name: A, vendor: nvidia, memory: 80GB, power: 700W, sources: {memory: nv datasheet}}
  - {model: b, name: B, vendor: nvida, memory: 80, sources: {all: nv guess}}
  - {model: c, name: C, vendor: amd, memory: 1GB,
     sources: {memory: xx datasheet, power: nv datasheet}}
)");
  EXPECT_EQ(found, (std::vector<std::string>{
                       "5:62 power of 'a' has no source",
                       "6:33 unknown vendor 'nvida'",
                       "6:48 memory needs a unit",
                       "6:67 unknown confidence 'guess'",
                       "8:24 unknown source 'xx'",
                       "8:38 source for 'power', which 'c' does not state",
                   }));
}

TEST(Catalogue, RefusesPciIdsAndSocketLinksThatLeadNowhere) {
  const auto found = faults(R"(weft: catalogue/1
sources: {nv: "A data sheet"}
cpus:
  - {model: x, name: X, vendor: intel, architecture: x86_64, memory_bandwidth: 1GB/s,
     socket_link: upi, peer_rate: 1GB/s, sources: {all: nv datasheet}}
pci_ids:
  - {source: nv, confidence: datasheet, ids: {"10de:20b0": y, "10de-1": x}}
)");
  EXPECT_EQ(found, (std::vector<std::string>{"5:19 unknown link 'upi'", "7:60 unknown part 'y'",
                                             "7:63 '10de-1' is not a PCI id"}));
}

TEST(Catalogue, RefusesTheSameModelTwice) {
  const auto found = faults(R"(weft: catalogue/1
sources: {nv: "A data sheet"}
gpus:
  - {model: a, name: A, vendor: nvidia, memory: 80GB, sources: {all: nv datasheet}}
  - {model: a, name: A, vendor: nvidia, memory: 40GB, sources: {all: nv datasheet}}
)");
  EXPECT_EQ(found, std::vector<std::string>{"5:13 part 'a' is defined twice"});
}

}  // namespace
}  // namespace weft::import
