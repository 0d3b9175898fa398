// NCCL and RCCL topology files as clouds ship them and machines dump them. Counts and path classes
// are written out by hand from the files; what the files leave out must be told.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "import/dump_test_support.h"

namespace weft::import {
namespace {

using fabric::DeviceId;
using fabric::DeviceKind;
using fabric::LinkKind;

std::string model(const fabric::Fabric& f, DeviceKind kind) {
  return f.device_class(f.of_kind(kind)[0]).model;
}

TEST(NcclXml, AwsP4dHasFourSwitchesOfTwoGpusAndOneNic) {
  const fabric::Fabric f = import_data("nccl/aws_p4d.xml");
  EXPECT_EQ(count(f, DeviceKind::cpu), 2u);
  EXPECT_EQ(count(f, DeviceKind::host_bridge), 2u);
  EXPECT_EQ(count(f, DeviceKind::pcie_switch), 4u);
  EXPECT_EQ(count(f, DeviceKind::gpu), 8u);
  EXPECT_EQ(count(f, DeviceKind::nic), 4u);
  EXPECT_EQ(model(f, DeviceKind::gpu), "a100-sxm4-40gb");               // 10de:20b0
  EXPECT_EQ(model(f, DeviceKind::nic), "efa-v1");                       // 1d0f:efa0
  EXPECT_EQ(model(f, DeviceKind::cpu), "intel-skylake-sp");             // family 6 model 85
  EXPECT_EQ(model(f, DeviceKind::pcie_switch), "virtual-pcie-switch");  // ffff:ff:01.0
  // GPU0: NVLink to 7 GPUs; NIC0 on its switch, NIC1 across the host bridge, others on socket 1.
  EXPECT_EQ(matrix_row(f, 0), "X NV12 NV12 NV12 NV12 NV12 NV12 NV12 PIX PHB SYS SYS");
  EXPECT_EQ(matrix_row(f, 7), "NV12 NV12 NV12 NV12 NV12 NV12 NV12 X SYS SYS PHB PIX");
  // The file says 8 GT/s, x16: 8 x 16 / 8 x 128/130 = 15.75 GB/s each way.
  const fabric::LinkClass& pcie = uplink(f, device_at(f, "0000:10:1c.0"));
  EXPECT_EQ(pcie.generation, 3);
  EXPECT_EQ(pcie.width, 16);
  EXPECT_NEAR(pcie.raw_rate.gb_per_s(), 15.754, 0.001);
  EXPECT_TRUE(assumes(f, "NVLink wiring not in the file"));
  EXPECT_FALSE(assumes(f, "GPU model not in the file"));
}

TEST(NcclXml, AwsP4deHasTheLargerGpu) {
  EXPECT_EQ(model(import_data("nccl/aws_p4de.xml"), DeviceKind::gpu), "a100-sxm4-80gb");
}

TEST(NcclXml, AzureNdv4IsRecognisedByItsTree) {
  const fabric::Fabric f = import_data("nccl/azure_ndv4_topo.xml");
  EXPECT_EQ(count(f, DeviceKind::cpu), 4u);
  EXPECT_EQ(count(f, DeviceKind::pcie_switch), 4u);
  EXPECT_EQ(count(f, DeviceKind::gpu), 8u);
  EXPECT_EQ(count(f, DeviceKind::nic), 8u);
  EXPECT_EQ(model(f, DeviceKind::gpu), "a100-sxm4-40gb");
  EXPECT_EQ(model(f, DeviceKind::nic), "connectx6");
  EXPECT_EQ(model(f, DeviceKind::cpu), "amd-rome");
  EXPECT_TRUE(assumes(f,
                      "GPU model not in the file: taken as a100-sxm4-40gb because the tree "
                      "matches Azure ND96asr_v4 (NDv4)"));
  // GPUs count by PCI address, not by their place in the file: 0001:00:00.0 sits at NUMA node 1.
  EXPECT_EQ(f.label(f.of_kind(DeviceKind::gpu)[0], "bus_id"), "0001:00:00.0");
  EXPECT_EQ(f.info(f.of_kind(DeviceKind::gpu)[0]).numa, 1);
  EXPECT_EQ(f.info(f.of_kind(DeviceKind::gpu)[2]).numa, 0);
  EXPECT_EQ(matrix_row(f, 0),
            "X NV12 NV12 NV12 NV12 NV12 NV12 NV12 PIX PIX SYS SYS SYS SYS SYS SYS");
  // Class 0x0207 is InfiniBand; the rate is that of the recognised NIC.
  const fabric::DeviceClass& nic = f.device_class(f.of_kind(DeviceKind::nic)[0]);
  EXPECT_EQ(nic.port_kind, LinkKind::infiniband);
  EXPECT_EQ(nic.port_rate, BitRate::gigabits_per_second(200));
}

TEST(NcclXml, SuperbenchsCopyOfNdv4IsTheSameServer) {
  const fabric::Fabric f = import_data("nccl/superbench_ndv4_topo.xml");
  EXPECT_EQ(model(f, DeviceKind::gpu), "a100-sxm4-40gb");
  EXPECT_EQ(matrix_row(f, 0), matrix_row(import_data("nccl/azure_ndv4_topo.xml"), 0));
}

TEST(NcclXml, AzureNdv2GetsTheHybridCubeMesh) {
  const fabric::Fabric f = import_data("nccl/azure_ndv2_topo.xml");
  EXPECT_EQ(model(f, DeviceKind::gpu), "v100-sxm2-32gb");
  EXPECT_EQ(matrix_row(f, 0), "X NV1 NV1 NV2 NV2 SYS SYS SYS PHB");
  EXPECT_EQ(matrix_row(f, 5), "SYS NV2 SYS SYS NV1 X NV2 NV1 SYS");
  EXPECT_EQ(uplink(f, device_at(f, "0001:00:00.0")).generation, 4);  // as the file says: 16 GT/s
}

TEST(NcclXml, AzureNdv5HasOneNicPerGpu) {
  const fabric::Fabric f = import_data("nccl/azure_ndv5_topo.xml");
  EXPECT_EQ(count(f, DeviceKind::pcie_switch), 8u);
  EXPECT_EQ(model(f, DeviceKind::gpu), "h100-sxm5-80gb");
  EXPECT_EQ(model(f, DeviceKind::nic), "connectx7");
  for (std::size_t i = 0; i < 8; ++i) {
    const DeviceId gpu = f.of_kind(DeviceKind::gpu)[i], nic = f.of_kind(DeviceKind::nic)[i];
    EXPECT_EQ(fabric::to_text(fabric::path_class(f, gpu, nic)), "PIX") << i;
  }
  EXPECT_EQ(uplink(f, f.of_kind(DeviceKind::gpu)[0]).generation, 5);
}

TEST(NcclXml, AwsG5NamesOnlyAddresses) {
  const fabric::Fabric f = import_data("nccl/aws_g5.xml");
  EXPECT_EQ(count(f, DeviceKind::gpu), 8u);
  EXPECT_EQ(count(f, DeviceKind::nic), 1u);
  EXPECT_EQ(model(f, DeviceKind::gpu), "a10g");
  EXPECT_EQ(matrix_row(f, 0), "X PHB PHB PHB SYS SYS SYS SYS SYS");
  EXPECT_TRUE(assumes(f, "told apart by their addresses in AWS g5.48xlarge"));
  EXPECT_TRUE(assumes(f, "NCCL itself refuses a cpu without arch"));
}

TEST(NcclXml, AzureNcv4HasNvlinkInPairs) {
  const fabric::Fabric f = import_data("nccl/azure_nc48v4_topo.xml");
  EXPECT_EQ(model(f, DeviceKind::gpu), "a100-pcie-80gb");  // 10de:20b5
  EXPECT_EQ(matrix_row(f, 0), "X NV12 PHB");
  // link_speed="" and link_width="0": what the card can do, and said.
  EXPECT_EQ(uplink(f, f.of_kind(DeviceKind::gpu)[0]).generation, 4);
  EXPECT_TRUE(assumes(f, "PCIe speed of GPUs not in the source"));
  EXPECT_TRUE(assumes(f, "has no PCI address"));  // eth0 hangs on the cpu element
}

TEST(NcclXml, NvlinksThatLeadBackToTheirOwnGpuAreLeftOut) {
  const fabric::Fabric f = import_data("nccl/azure_ncv4_topo.xml");
  EXPECT_EQ(matrix_row(f, 0), "X SYS SYS SYS PHB");
  EXPECT_TRUE(assumes(f, "leads from a GPU to itself"));
}

TEST(NcclXml, GraphFilesAreRefusedByName) {
  const std::string path = std::string(WEFT_SOURCE_DIR) + "/tests/data/nccl/azure_ncv4_graph.xml";
  const Diagnostic fault = fault_of(read_file(path));
  EXPECT_NE(fault.what.find("NCCL graph file"), std::string::npos) << fault.what;
  EXPECT_EQ(fault.where.line, 1);
}

TEST(NcclXml, OciH100HasFourChipsAndTwoPortsPerCard) {
  const fabric::Fabric f = import_data("nccl/oci_h100.xml");
  EXPECT_EQ(count(f, DeviceKind::gpu), 8u);
  EXPECT_EQ(count(f, DeviceKind::nic), 16u);               // 8 cards of 2 ports
  EXPECT_EQ(count(f, DeviceKind::nvswitch), 4u);           // targets 1a to 1d
  EXPECT_EQ(count(f, DeviceKind::pcie_switch), 24u + 8u);  // 3 a GPU, and the link of each card
  const DeviceId gpu = f.of_kind(DeviceKind::gpu)[0];
  int links = 0;
  for (const fabric::LinkId link : f.out_links(gpu)) {
    if (f.link_class(link).kind == LinkKind::nvlink) links += f.link_class(link).width;
  }
  EXPECT_EQ(links, 18);  // 5 + 5 + 4 + 4
  const DeviceId port0 = f.of_kind(DeviceKind::nic)[0], port1 = f.of_kind(DeviceKind::nic)[1];
  EXPECT_EQ(f.label(port0, "nic_name"), "mlx5_18");
  EXPECT_EQ(f.device_class(port0).port_rate, BitRate::gigabits_per_second(200));
  EXPECT_EQ(fabric::to_text(fabric::path_class(f, port0, port1)), "PIX");
  // 0f:00 - 0d:00 - 08:00 - 0a:00 - 0c:00: three switches, no host bridge.
  EXPECT_EQ(fabric::to_text(fabric::path_class(f, gpu, port0)), "PXB");
  EXPECT_EQ(f.label(gpu, "cpu_affinity"), "0-55,112-167");
}

TEST(NcclXml, OciFlattenedA100IsRecognised) {
  const fabric::Fabric f = import_data("nccl/oci_b4_flattened.xml");
  EXPECT_EQ(model(f, DeviceKind::gpu), "a100-sxm4-40gb");
  EXPECT_EQ(f.device_class(f.of_kind(DeviceKind::nic)[0]).port_kind, LinkKind::ethernet);
}

TEST(NcclXml, Mi300xGuestIsAFullMeshOfXgmi) {
  const fabric::Fabric f = import_data("nccl/rccl_8p_940vm.xml");
  EXPECT_EQ(model(f, DeviceKind::gpu), "mi300x");  // 1002:74b5, the virtual function
  EXPECT_EQ(matrix_row(f, 0),
            "X XGMI XGMI XGMI XGMI XGMI XGMI XGMI PHB PHB PHB PHB SYS SYS SYS SYS");
  std::size_t xgmi = 0;
  for (std::size_t i = 0; i < f.link_count(); i += 2) {
    const fabric::LinkClass& c = f.link_class(fabric::LinkId(i));
    if (c.kind != LinkKind::xgmi) continue;
    ++xgmi;
    EXPECT_EQ(c.raw_rate.gb_per_s(), 64);  // MI300X: 128 GB/s both ways a link
  }
  EXPECT_EQ(xgmi, 28u);  // 8 x 7 / 2
  EXPECT_EQ(f.device_class(f.of_kind(DeviceKind::gpu)[0]).compute_capability, 942);
}

TEST(NcclXml, RcclModelsThatRepeatAddressesAreRead) {
  EXPECT_EQ(count(import_data("nccl/rccl_4p4h.xml"), DeviceKind::gpu), 16u);
  EXPECT_TRUE(assumes(import_data("nccl/rccl_8p1h_1.xml"), "busid 0000:a1:00.0 is used twice"));
  EXPECT_TRUE(assumes(import_data("nccl/rccl_8p_rome_n2_1.xml"), "a second net with dev 0"));
}

TEST(NcclXml, GpusWithoutADeviceIdAreNamedByGraphicsNumber) {
  EXPECT_EQ(model(import_data("nccl/rccl_8p6l_4nic.xml"), DeviceKind::gpu), "mi100");  // gcn 908
  EXPECT_EQ(model(import_data("nccl/rccl_8p_90a.xml"), DeviceKind::gpu), "mi250x");    // gcn 910
}

// ---- what the rules say, on files small enough to read

std::string pci(std::string_view address, std::string_view rest, std::string_view inside = "") {
  return fmt::format("<pci busid=\"{}\" {}>{}</pci>", address, rest, inside);
}

constexpr const char* kGpuClass = R"(class="0x030200" link_speed="16 GT/s" link_width="16")";
constexpr const char* kNicClass = R"(class="0x020700" link_speed="16 GT/s" link_width="16")";
constexpr const char* kBridgeClass = R"(class="0x060400" link_speed="16 GT/s" link_width="16")";

std::string one_cpu(const std::string& inside, std::string_view more = "") {
  return fmt::format(
      R"(<system version="1"><cpu numaid="0" affinity="ff" arch="x86_64" vendor="GenuineIntel" )"
      R"(familyid="6" modelid="106" {}>{}</cpu></system>)",
      more, inside);
}

TEST(NcclXml, ABridgeKeepsTheSpeedTheFileGivesIt) {
  // NVIDIA/nccl#749: a hand-made file with a generation 1 x1 bridge above everything.
  const fabric::Fabric f = import_dump(
      one_cpu(pci("ffff:ff:00.0", R"(class="0x060400" link_speed="2.5 GT/s" link_width="1")",
                  pci("0000:00:04.0", kGpuClass, R"(<gpu dev="0" sm="80" rank="0" gdr="0"/>)"))));
  const fabric::LinkClass& up = uplink(f, f.of_kind(DeviceKind::pcie_switch)[0]);
  EXPECT_EQ(up.generation, 1);
  EXPECT_EQ(up.width, 1);
  EXPECT_NEAR(up.raw_rate.gb_per_s(), 0.25, 1e-9);  // 2.5 GT/s x 8/10 / 8
  EXPECT_FALSE(f.device_class(f.of_kind(DeviceKind::gpu)[0]).gpu_direct_rdma);  // gdr="0"
}

TEST(NcclXml, TwoFunctionsOfOneCardShareItsLink) {
  const fabric::Fabric f =
      import_dump(one_cpu(pci("0000:41:00.0", kNicClass) + pci("0000:41:00.1", kNicClass) +
                          pci("0000:42:00.0", kNicClass)));
  EXPECT_EQ(count(f, DeviceKind::nic), 3u);
  EXPECT_EQ(count(f, DeviceKind::pcie_switch), 1u);
  EXPECT_EQ(matrix_row(f, 0), "X PIX PHB");
}

TEST(NcclXml, ACardBesideAGpuStaysPix) {
  const fabric::Fabric f = import_dump(one_cpu(pci(
      "0000:40:00.0", kBridgeClass,
      pci("0000:41:00.0", kGpuClass) + pci("0000:42:00.0", kNicClass,
                                           R"(<nic><net name="a" dev="0" speed="100000"/>)"
                                           R"(<net name="b" dev="1" speed="100000"/></nic>)"))));
  EXPECT_EQ(matrix_row(f, 0), "X PIX PIX");  // one real switch between GPU and either port
}

TEST(NcclXml, EighteenLinksToAHiddenNvswitchSpreadOverFourChips) {
  const fabric::Fabric f = import_dump(
      one_cpu(pci("0000:18:00.0", R"(class="0x030200" vendor="0x10de" device="0x2330")",
                  R"(<gpu dev="0" sm="90" rank="0" gdr="1">)"
                  R"(<nvlink target="fffffff:ffff:ff" count="18" tclass="0x068000"/></gpu>)")));
  EXPECT_EQ(count(f, DeviceKind::nvswitch), 4u);
}

TEST(NcclXml, Power9ReachesItsCpuOverNvlink) {
  const fabric::Fabric f =
      import_dump(R"(<system version="1"><cpu numaid="0" arch="ppc64">)" +
                  pci("0004:04:00.0", R"(class="0x030200" vendor="0x10de" device="0x1db1")",
                      R"(<gpu dev="0" sm="70" rank="0" gdr="1">)"
                      R"(<nvlink target="0004:00:00.0" count="3" tclass="0x068001"/></gpu>)") +
                  "</cpu></system>");
  bool found = false;
  for (const fabric::LinkId link : f.out_links(f.of_kind(DeviceKind::gpu)[0])) {
    if (f.link_class(link).kind != LinkKind::nvlink) continue;
    found = true;
    EXPECT_EQ(f.kind(f.to(link)), DeviceKind::cpu);
    EXPECT_EQ(f.link_class(link).width, 3);
  }
  EXPECT_TRUE(found);
}

TEST(NcclXml, C2cGoesToTheCpuWithItsOwnRate) {
  const fabric::Fabric f = import_dump(
      R"(<system version="1"><cpu numaid="0" arch="arm64">)" +
      pci("0009:01:00.0", kGpuClass,
          R"(<gpu dev="0" sm="90" rank="0" gdr="1"><c2c bw="44712" count="10"/></gpu>)") +
      "</cpu></system>");
  for (const fabric::LinkId link : f.out_links(f.of_kind(DeviceKind::gpu)[0])) {
    if (f.link_class(link).kind != LinkKind::c2c) continue;
    EXPECT_NEAR(f.link_class(link).raw_rate.gb_per_s(), 447.12, 0.01);  // 10 x 44712 MB/s
    return;
  }
  FAIL() << "no C2C link";
}

TEST(NcclXml, HostsOfOneNvlinkDomainShareItsSwitch) {
  const auto host = [](std::string_view hash) {
    return fmt::format(
        R"(<cpu host_hash="{}" numaid="0" arch="arm64">{}</cpu>)", hash,
        pci("0009:01:00.0", R"(class="0x030200" vendor="0x10de" device="0x2941")",
            R"(<gpu dev="0" sm="100" rank="0" gdr="1">)"
            R"(<nvlink target="fffffff:ffff:ff" count="18" tclass="0x068000"/></gpu>)"));
  };
  const fabric::Fabric f =
      import_dump("<system version=\"1\">" + host("0xa1") + host("0xb2") + "</system>");
  EXPECT_EQ(f.server_count(), 2u);
  EXPECT_TRUE(f.find("host0/gpu0"));
  EXPECT_TRUE(f.find("host1/gpu0"));
  const auto cell = fabric::path_class(f, *f.find("host0/gpu0"), *f.find("host1/gpu0"));
  EXPECT_EQ(fabric::to_text(cell), "NV18");
}

TEST(NcclXml, ALinkThatOneGpuDoesNotKnowIsAFault) {
  const auto gpu = [](int dev, std::string_view address, std::string_view link) {
    return pci(address, kGpuClass, fmt::format(R"(<gpu dev="{}" sm="80">{}</gpu>)", dev, link));
  };
  const Diagnostic fault = fault_of(one_cpu(
      gpu(0, "0000:01:00.0", R"(<nvlink target="0000:02:00.0" count="4" tclass="0x030200"/>)") +
      gpu(1, "0000:02:00.0", "")));
  EXPECT_NE(fault.what.find("not stated by that GPU"), std::string::npos) << fault.what;
}

TEST(NcclXml, NoHintsStillImportsAndTellsWhatToDo) {
  const std::string path = std::string(WEFT_SOURCE_DIR) + "/tests/data/nccl/azure_ndv4_topo.xml";
  const fabric::Fabric f =
      import_any({path, read_file(path)}, {&shipped_catalogue(), nullptr, nullptr});
  EXPECT_EQ(model(f, DeviceKind::gpu), "unknown-gpu");
  EXPECT_EQ(count(f, DeviceKind::nvswitch), 0u);
  EXPECT_TRUE(assumes(f, "no known server matches"));
  EXPECT_TRUE(assumes(f, "name the model in a server file"));
}

}  // namespace
}  // namespace weft::import
