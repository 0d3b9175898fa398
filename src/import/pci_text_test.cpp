// PCI facts as sysfs, NCCL and hwloc write them.
#include "import/pci_text.h"

#include <gtest/gtest.h>

namespace weft::import {
namespace {

TEST(PciAddress, IsReadWithAndWithoutDomain) {
  EXPECT_EQ(parse_pci_address("0000:1b:00.0"), (PciAddress{0, 0x1b, 0, 0}));
  EXPECT_EQ(parse_pci_address("10:1d.7"), (PciAddress{0, 0x10, 0x1d, 7}));
  EXPECT_EQ(parse_pci_address("10000:e1:00.0"), (PciAddress{0x10000, 0xe1, 0, 0}));  // VMD
  for (const char* bad : {"", "0000:1b:00", "0000:1b:20.0", "0000:1b:00.8", "0000:1b1:00.0",
                          "g:0.0", "0000:1b:00.0 ", "0:0:0:0.0"}) {
    EXPECT_FALSE(parse_pci_address(bad)) << bad;
  }
}

TEST(PciAddress, FunctionsOfOneCardShareTheSlot) {
  EXPECT_TRUE((PciAddress{0, 1, 0, 0}.same_slot({0, 1, 0, 1})));
  EXPECT_FALSE((PciAddress{0, 1, 0, 0}.same_slot({0, 1, 1, 0})));
}

TEST(PciClass, GoesByBaseAndSubClass) {
  EXPECT_EQ(pci_class_of(0x060400), PciClass::bridge);
  EXPECT_EQ(pci_class_of(0x068000), PciClass::nvswitch);
  EXPECT_EQ(pci_class_of(0x030200), PciClass::gpu);    // 3D controller: NVIDIA data centre GPUs
  EXPECT_EQ(pci_class_of(0x038000), PciClass::gpu);    // display, other: AMD Instinct to MI200
  EXPECT_EQ(pci_class_of(0x120000), PciClass::gpu);    // accelerator: AMD Instinct from MI300
  EXPECT_EQ(pci_class_of(0x020700), PciClass::nic);    // InfiniBand
  EXPECT_EQ(pci_class_of(0x0c0600), PciClass::nic);    // InfiniBand, old QLogic
  EXPECT_EQ(pci_class_of(0x010802), PciClass::other);  // NVMe
}

TEST(PcieGeneration, IsReadInEverySpellingOfSysfs) {
  EXPECT_EQ(parse_pcie_generation("2.5 GT/s"), 1);
  EXPECT_EQ(parse_pcie_generation("8 GT/s"), 3);
  EXPECT_EQ(parse_pcie_generation("16 GT/s"), 4);
  EXPECT_EQ(parse_pcie_generation("16.0 GT/s PCIe"), 4);
  EXPECT_EQ(parse_pcie_generation("32.0 GT/s PCIe"), 5);
  EXPECT_EQ(parse_pcie_generation("64.0 GT/s PCIe"), 6);
  EXPECT_EQ(parse_pcie_generation(""), 0);
  EXPECT_EQ(parse_pcie_generation("Unknown speed"), 0);
  EXPECT_FALSE(parse_pcie_generation("16"));
  EXPECT_FALSE(parse_pcie_generation("17 GT/s"));
}

TEST(PcieLanes, KnowsWhatLinuxPrintsForUnknown) {
  EXPECT_EQ(parse_lanes("16"), 16);
  EXPECT_EQ(parse_lanes("0"), 0);
  EXPECT_EQ(parse_lanes("255"), 0);
  EXPECT_FALSE(parse_lanes("3"));
  EXPECT_FALSE(parse_lanes("x16"));
}

TEST(PcieOfRate, TakesTheWidestPairOfThatRate) {
  EXPECT_EQ(pcie_of_rate(15.753846), (PciSpeed{3, 16}));  // 8 GT/s x 16 / 8 x 128/130; also 4 x8
  EXPECT_EQ(pcie_of_rate(31.507692), (PciSpeed{4, 16}));
  EXPECT_EQ(pcie_of_rate(63.015385), (PciSpeed{5, 16}));
  EXPECT_EQ(pcie_of_rate(7.876923), (PciSpeed{3, 8}));
  EXPECT_EQ(pcie_of_rate(3.938462), (PciSpeed{3, 4}));  // not 4.0, which is generation 1 x16
  EXPECT_EQ(pcie_of_rate(4.0), (PciSpeed{1, 16}));
  EXPECT_EQ(pcie_of_rate(2.0), (PciSpeed{1, 8}));
  EXPECT_EQ(pcie_of_rate(0), PciSpeed{});
  EXPECT_FALSE(pcie_of_rate(0.1));
}

TEST(CpuMask, IsAListOfRanges) {
  // p4d, first socket: words lowest last. 00ffffff = 0-23; ffff0000 in word 1 = 48-63; ff = 64-71.
  EXPECT_EQ(cpu_list_of_mask("000000ff,ffff0000,00ffffff"), "0-23,48-71");
  EXPECT_EQ(cpu_list_of_mask("0x00000001"), "0");
  EXPECT_EQ(cpu_list_of_mask("0x0000ffff,0xffffffff,,0x00000003"), "0-1,64-111");  // empty word = 0
  EXPECT_EQ(cpu_list_of_mask("fff0000,00000000"), "48-59");  // OCI's file has a short word
  EXPECT_EQ(cpu_list_of_mask("0"), "");
  EXPECT_FALSE(cpu_list_of_mask("0-23"));
  EXPECT_FALSE(cpu_list_of_mask("123456789"));
}

}  // namespace
}  // namespace weft::import
