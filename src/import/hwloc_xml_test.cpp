// hwloc XML as lstopo writes it: AWS instances and hwloc's own test machines.
#include <gtest/gtest.h>

#include "import/dump_test_support.h"

namespace weft::import {
namespace {

using fabric::DeviceKind;
using fabric::LinkKind;

std::string gpu_model(const fabric::Fabric& f) {
  return f.device_class(f.of_kind(DeviceKind::gpu)[0]).model;
}

TEST(HwlocXml, AwsP5HasFourEfaOnTheSwitchOfEachGpu) {
  const fabric::Fabric f = import_data("hwloc/aws_p5.xml");
  EXPECT_EQ(count(f, DeviceKind::cpu), 2u);
  EXPECT_EQ(count(f, DeviceKind::gpu), 8u);
  EXPECT_EQ(count(f, DeviceKind::nic), 32u);  // EFA only; the 32 ENA functions have no RDMA
  EXPECT_EQ(count(f, DeviceKind::pcie_switch), 8u);
  EXPECT_EQ(count(f, DeviceKind::nvswitch), 4u);
  EXPECT_EQ(gpu_model(f), "h100-sxm5-80gb");  // 10de:2330
  const fabric::DeviceId nic = device_at(f, "0000:4f:00.0");
  EXPECT_EQ(f.device_class(nic).model, "efa-v2");  // 1d0f:efa1
  EXPECT_EQ(f.label(nic, "nic_name"), "rdmap79s0");
  const fabric::DeviceId gpu = device_at(f, "0000:53:00.0");
  EXPECT_EQ(fabric::to_text(fabric::path_class(f, gpu, nic)), "PIX");
  EXPECT_EQ(fabric::to_text(fabric::path_class(f, gpu, device_at(f, "0000:60:00.0"))), "NODE");
  EXPECT_EQ(f.label(gpu, "cpu_affinity"), "0-47");  // 0x0000ffff,0xffffffff
  EXPECT_EQ(f.info(gpu).numa, 0);
  // pci_link_speed="63.015385": 32 GT/s x 16 / 8 x 128/130.
  EXPECT_EQ(uplink(f, gpu).generation, 5);
  EXPECT_EQ(uplink(f, gpu).width, 16);
  EXPECT_TRUE(assumes(f, "63.015385 GB/s is taken as PCIe 5 x16"));
  EXPECT_TRUE(assumes(f, "without RDMA left out"));
}

TEST(HwlocXml, UplinksOfVirtualSwitchesAreThoseOfWhatIsBelow) {
  const fabric::Fabric f = import_data("hwloc/aws_p5.xml");
  for (const fabric::DeviceId pcie : f.of_kind(DeviceKind::pcie_switch)) {
    EXPECT_EQ(f.device_class(pcie).model, "virtual-pcie-switch");
    EXPECT_EQ(uplink(f, pcie).generation, 5);  // the GPU's, not the 15.75 GB/s AWS shows
  }
  EXPECT_TRUE(assumes(f, "PCIe speed of a switch's uplink not in the source"));
}

TEST(HwlocXml, AwsP5enHasTwoGpusASwitch) {
  const fabric::Fabric f = import_data("hwloc/aws_p5en.xml");
  EXPECT_EQ(count(f, DeviceKind::pcie_switch), 4u);
  EXPECT_EQ(count(f, DeviceKind::gpu), 8u);
  EXPECT_EQ(count(f, DeviceKind::nic), 16u);
  EXPECT_EQ(gpu_model(f), "h200-sxm-141gb");                                 // 10de:2335
  EXPECT_EQ(f.device_class(f.of_kind(DeviceKind::nic)[0]).model, "efa-v3");  // 1d0f:efa2
  EXPECT_EQ(matrix_row(f, 0).substr(0, 58),
            "X NV18 NV18 NV18 NV18 NV18 NV18 NV18 PIX PIX PIX PIX NODE ");
}

TEST(HwlocXml, AwsG5HasOneHostBridgeForBothNumaNodes) {
  const fabric::Fabric f = import_data("hwloc/aws_g5.xml");
  EXPECT_EQ(count(f, DeviceKind::gpu), 8u);  // not the Amazon display chip 1d0f:1111
  EXPECT_EQ(gpu_model(f), "a10g");
  const auto m = fabric::topology_matrix(f, fabric::ServerId(0));
  EXPECT_EQ(m.numa_affinity[0], "0-1");
  EXPECT_EQ(m.cpu_affinity[0], "0-191");
  EXPECT_TRUE(assumes(f, "belongs to no single NUMA node"));
  // Idle GPUs: 2 GB/s is generation 1 x8; A10G does generation 4.
  const fabric::LinkClass& link = uplink(f, f.of_kind(DeviceKind::gpu)[0]);
  EXPECT_EQ(link.generation, 4);
  EXPECT_EQ(link.width, 8);
  EXPECT_TRUE(assumes(f, "idle GPUs slow down"));
}

TEST(HwlocXml, AwsG6SpreadsL4OverTwoSockets) {
  const fabric::Fabric f = import_data("hwloc/aws_g6.xml");
  EXPECT_EQ(gpu_model(f), "l4");
  EXPECT_EQ(matrix_row(f, 0), "X NODE NODE NODE SYS SYS SYS SYS NODE");
}

TEST(HwlocXml, AwsP3dnGetsTheHybridCubeMesh) {
  const fabric::Fabric f = import_data("hwloc/aws_p3dn.xml");
  EXPECT_EQ(gpu_model(f), "v100-sxm2-32gb");  // 10de:1db5
  EXPECT_TRUE(assumes(f, "taken as hybrid-cube-mesh"));
  EXPECT_EQ(uplink(f, f.of_kind(DeviceKind::gpu)[0]).generation, 3);  // 15.753846
}

TEST(HwlocXml, Power8GivesItsNvlinksBetweenGpusAndCpus) {
  const fabric::Fabric f = import_data("hwloc/power8_p100.xml");
  EXPECT_EQ(gpu_model(f), "p100-sxm2-16gb");
  EXPECT_EQ(f.device_class(f.of_kind(DeviceKind::cpu)[0]).model, "ibm-power9");
  // 40000 MB/s between GPU 0 and 1, and between each GPU and its package: 2 links of 20 GB/s.
  EXPECT_EQ(matrix_row(f, 0), "X NV2 SYS SYS");
  int to_gpu = 0, to_cpu = 0;
  for (const fabric::LinkId link : f.out_links(f.of_kind(DeviceKind::gpu)[0])) {
    const fabric::LinkClass& c = f.link_class(link);
    if (c.kind != LinkKind::nvlink) continue;
    EXPECT_EQ(c.width, 2);
    EXPECT_EQ(c.generation, 1);
    (f.kind(f.to(link)) == DeviceKind::cpu ? to_cpu : to_gpu) += 1;
  }
  EXPECT_EQ(to_gpu, 1);
  EXPECT_EQ(to_cpu, 1);
  // The port says 7.88 GB/s, the GPU 15.75: the link has 8 lanes.
  EXPECT_EQ(uplink(f, f.of_kind(DeviceKind::gpu)[0]).width, 8);
}

TEST(HwlocXml, AGpuUnderTwoNamesHasNoLinkToItself) {
  const fabric::Fabric f = import_dump(
      "<topology version=\"2.0\"><object type=\"Package\" os_index=\"0\" nodeset=\"0x1\">"
      "<object type=\"NUMANode\" os_index=\"0\" cpuset=\"0xf\" nodeset=\"0x1\"/>"
      "<object type=\"Bridge\" bridge_type=\"0-1\">"
      "<object type=\"PCIDev\" pci_busid=\"0000:01:00.0\" "
      "pci_type=\"0302 [10de:2330] [10de:16c1] a1\">"
      "<object type=\"OSDev\" gp_index=\"1\" name=\"cuda0\" osdev_type=\"5\"/>"
      "<object type=\"OSDev\" gp_index=\"2\" name=\"nvml0\" osdev_type=\"1\"/></object>"
      "</object></object><distances2 nbobjs=\"2\" name=\"NVLinkBandwidth\">"
      "<indexes>1 2</indexes><u64values>0 450000 450000 0</u64values></distances2></topology>");
  EXPECT_EQ(count(f, DeviceKind::gpu), 1u);
  for (const fabric::LinkId link : f.out_links(f.of_kind(DeviceKind::gpu)[0])) {
    EXPECT_NE(f.link_class(link).kind, LinkKind::nvlink);
  }
}

TEST(HwlocXml, EqualRatesBeyondTheLinksOfAGpuAreNvswitch) {
  const auto gpu = [](const std::string& bus, const std::string& index) {
    return "<object type=\"PCIDev\" pci_busid=\"0000:" + bus +
           ":00.0\" pci_type=\"0302 [10de:2330] [10de:16c1] a1\" pci_link_speed=\"63.015385\">"
           "<object type=\"OSDev\" gp_index=\"" +
           index + "\" name=\"nvml\" osdev_type=\"5\"/></object>";
  };
  // 450000 MB/s = 18 links of 25 GB/s between each of three pairs: 36 a GPU, which has 18.
  const fabric::Fabric f = import_dump(
      "<topology version=\"2.0\"><object type=\"Package\" os_index=\"0\" nodeset=\"0x1\">"
      "<object type=\"NUMANode\" os_index=\"0\" cpuset=\"0xf\" nodeset=\"0x1\"/>"
      "<object type=\"Bridge\" bridge_type=\"0-1\">" +
      gpu("01", "1") + gpu("02", "2") + gpu("03", "3") +
      "</object></object><distances2 nbobjs=\"3\" name=\"NVLinkBandwidth\">"
      "<indexes>1 2 3</indexes><u64values>0 450000 450000 450000 0</u64values>"
      "<u64values>450000 450000 450000 0</u64values></distances2></topology>");
  EXPECT_EQ(count(f, DeviceKind::nvswitch), 4u);
  EXPECT_EQ(matrix_row(f, 0), "X NV18 NV18");
}

TEST(HwlocXml, MachinesWithoutGpusAreServersToo) {
  const fabric::Fabric gb10 = import_data("hwloc/dgx_gb10.xml");  // no I/O in the file
  EXPECT_EQ(count(gb10, DeviceKind::cpu), 1u);
  EXPECT_EQ(count(gb10, DeviceKind::gpu), 0u);
  EXPECT_TRUE(assumes(gb10, "no GPU in the file"));
  EXPECT_EQ(count(import_data("hwloc/96em64t.xml"), DeviceKind::nic), 8u);
}

TEST(HwlocXml, MemoryWithoutCpusOfItsOwnIsLeftOut) {
  const fabric::Fabric f = import_data("hwloc/knl_heteromem.xml");
  EXPECT_EQ(count(f, DeviceKind::cpu), 4u);  // 8 NUMA nodes, 4 of them HBM beside DRAM
  EXPECT_TRUE(assumes(f, "NUMA node 7 (HBM) shares its CPUs with node 0"));
}

TEST(HwlocXml, PortsOfOneCardAreOnePlace) {
  const fabric::Fabric f = import_data("hwloc/96em64t.xml");  // 0000:02:00.0 and .1
  EXPECT_EQ(matrix_row(f, 0), "X PIX SYS SYS SYS SYS SYS SYS");
}

TEST(HwlocXml, FormatThreeHasOtherDeviceNumbers) {
  // osdev_type 48 = 16 (network) + 32 (OpenFabrics): qib0 is the RDMA device, eth0..3 are not.
  const fabric::Fabric f = import_data("hwloc/40intel64_pcilocality.xml");
  ASSERT_EQ(count(f, DeviceKind::nic), 1u);
  EXPECT_EQ(f.label(f.of_kind(DeviceKind::nic)[0], "nic_name"), "qib0");
}

TEST(HwlocXml, VersionOneIsRefusedWithAWayOut) {
  const Diagnostic fault = fault_of("<topology>\n<object type=\"Machine\"/></topology>");
  EXPECT_NE(fault.what.find("hwloc 1.x"), std::string::npos);
  EXPECT_NE(fault.hint.find("lstopo"), std::string::npos);
}

}  // namespace
}  // namespace weft::import
