// Real dumps, damaged at random: whatever the damage, an importer gives a sound Fabric or an
// InputError in which every fault has a place and a sentence. A failure prints seed and case.
#include <gtest/gtest.h>

#include "base/random.h"
#include "import/dump_test_support.h"

namespace weft::import {
namespace {

constexpr int kCasesPerFile = 60;

std::string original(const std::string& name) {
  return read_file(std::string(WEFT_SOURCE_DIR) + "/tests/data/" + name);
}

std::size_t below(RandomStream& random, std::size_t bound) {
  return bound == 0 ? 0 : static_cast<std::size_t>(random.below(bound));
}

// One small accident: a piece lost, doubled, moved or overwritten, a digit or a word changed.
void damage(std::string& text, RandomStream& random) {
  static const std::vector<std::string> kWords = {"-1",       "0",
                                                  "255",      "99999999999999999999",
                                                  "\"",       "<",
                                                  ">",        "X",
                                                  "NV18",     "SYS",
                                                  "PIX",      "\t",
                                                  "0x068000", "gpu",
                                                  "nic",      "1-1",
                                                  "16 GT/s",  "ffff:ff:1f.7",
                                                  "\xff",     "&amp;"};
  const std::size_t at = below(random, text.size());
  const std::size_t length = std::min(below(random, 60) + 1, text.size() - at);
  const std::string piece = text.substr(at, length);
  switch (below(random, 6)) {
    case 0:
      text.erase(at, length);
      break;
    case 1:
      text.insert(at, piece);
      break;
    case 2:
      text.insert(below(random, text.size()), piece);
      break;
    case 3:
      text.replace(at, length, kWords[below(random, kWords.size())]);
      break;
    case 4:
      text[at] = static_cast<char>('0' + below(random, 10));
      break;
    default:
      text.resize(at);
      break;
  }
}

void expect_sound(const fabric::Fabric& f) {
  for (std::size_t i = 0; i < f.link_count(); ++i) {
    ASSERT_GT(f.link_class(fabric::LinkId(i)).raw_rate.bps(), 0);
  }
  for (const fabric::DeviceId nic : f.of_kind(fabric::DeviceKind::nic)) {
    ASSERT_GT(f.device_class(nic).port_rate.bps(), 0);
    ASSERT_FALSE(f.out_links(nic).empty());
  }
  for (std::size_t s = 0; s < f.server_count(); ++s) {
    fabric::topology_matrix(f, fabric::ServerId(s));
  }
}

void expect_placed(const InputError& error, std::string_view text) {
  const auto lines = std::count(text.begin(), text.end(), '\n') + 1;
  ASSERT_FALSE(error.diagnostics().empty());
  for (const Diagnostic& d : error.diagnostics()) {
    EXPECT_GE(d.where.line, 1) << d.what;
    EXPECT_LE(d.where.line, lines + 1) << d.what;
    EXPECT_GE(d.where.column, 1) << d.what;
    EXPECT_FALSE(d.what.empty());
  }
}

class Mutation : public testing::TestWithParam<const char*> {};

TEST_P(Mutation, GivesAFabricOrAFaultWithAPlace) {
  const std::string text = original(GetParam());
  const Importer* importer = nullptr;
  for (const Importer* candidate : all_importers()) {
    if (importer == nullptr && candidate->recognises({"dump", text})) importer = candidate;
  }
  ASSERT_NE(importer, nullptr);
  for (int n = 0; n < kCasesPerFile; ++n) {
    SCOPED_TRACE(std::string(GetParam()) + ", case " + std::to_string(n));
    RandomStream random(17, static_cast<std::uint64_t>(n));
    std::string damaged = text;
    const std::size_t accidents = below(random, 3) + 1;
    for (std::size_t k = 0; k < accidents && !damaged.empty(); ++k) damage(damaged, random);
    try {
      expect_sound(importer->read({"dump", damaged}, dump_test_context()));
    } catch (const InputError& error) {
      expect_placed(error, damaged);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, Mutation,
    testing::Values("nccl/aws_p4d.xml", "nccl/azure_ndv5_topo.xml", "nccl/oci_h100.xml",
                    "nccl/rccl_8p_940vm.xml", "nccl/azure_nc48v4_topo.xml", "nccl/aws_g5.xml",
                    "hwloc/aws_p3dn.xml", "hwloc/power8_p100.xml", "hwloc/knl_heteromem.xml",
                    "topo_m/gh200_1gpu_2nic.txt", "topo_m/nv8_8gpu_6nic.txt",
                    "topo_m/a100_sxm_8gpu_8x100g_roce_pxb.txt",
                    "topo_m/v100_ndv2_8gpu_4nic_tabs.txt",
                    "topo_m/rtx6000ada_4gpu_2socket_4nic.txt", "slurm/topograph_tree.conf",
                    "slurm/topograph_block.conf", "htsim/test.topo", "htsim/fat_tree_128_8os.topo",
                    "infragraph/slices.yaml", "infragraph/two_tier_clos.yaml"));

}  // namespace
}  // namespace weft::import
