// Servers of which we have both a dump and a matrix that the machine printed: both importers must
// tell the same. Where a pair differs, the test says why that is right.
#include <gtest/gtest.h>

#include "import/dump_test_support.h"

namespace weft::import {
namespace {

using fabric::DeviceKind;
using fabric::PathKind;
using fabric::ServerId;

fabric::TopologyMatrix matrix_of(const fabric::Fabric& f) {
  return fabric::topology_matrix(f, ServerId(0));
}

// GPU rows of the matrix, GPU columns only.
std::vector<std::vector<std::string>> gpu_cells(const fabric::Fabric& f) {
  const auto m = matrix_of(f);
  const std::size_t gpus = count(f, DeviceKind::gpu);
  std::vector<std::vector<std::string>> cells(gpus);
  for (std::size_t i = 0; i < gpus; ++i) {
    for (std::size_t j = 0; j < gpus; ++j) cells[i].push_back(fabric::to_text(m.cells[i][j]));
  }
  return cells;
}

TEST(DumpPairs, AwsP4dXmlEqualsTheMatrixOfAP4d) {
  const fabric::Fabric xml = import_data("nccl/aws_p4d.xml");
  const fabric::Fabric text = import_data("topo_m/a100_p4d_8gpu_aws.txt");
  EXPECT_EQ(gpu_cells(xml), gpu_cells(text));  // NV12 in all pairs
  // 000000ff,ffff0000,00ffffff in the file, 0-23,48-71 in the matrix.
  EXPECT_EQ(matrix_of(xml).cpu_affinity, matrix_of(text).cpu_affinity);
  EXPECT_EQ(matrix_of(xml).numa_affinity, matrix_of(text).numa_affinity);
}

TEST(DumpPairs, AwsP4dXmlHasTheSpeedsOfTheShippedServer) {
  const fabric::Fabric xml = import_data("nccl/aws_p4d.xml");
  const std::string path = std::string(WEFT_SOURCE_DIR) + "/data/servers/aws-p4d.yaml";
  const fabric::Fabric yaml = import_any({path, read_file(path)}, dump_test_context());
  EXPECT_EQ(gpu_cells(xml), gpu_cells(yaml));
  for (std::size_t i = 0; i < 8; ++i) {
    const auto a = xml.of_kind(DeviceKind::gpu)[i], b = yaml.of_kind(DeviceKind::gpu)[i];
    EXPECT_EQ(uplink(xml, a), uplink(yaml, b));
    EXPECT_EQ(xml.device_class(a), yaml.device_class(b));
  }
}

// The file is that of a guest with one NIC, the matrix that of a bare machine of the same wiring
// with four: NVLink is the same, hyper-threads and PCIe switches are not in the guest's file.
TEST(DumpPairs, AzureNdv2XmlHasTheNvlinksOfItsMatrix) {
  const auto xml = gpu_cells(import_data("nccl/azure_ndv2_topo.xml"));
  const auto text = gpu_cells(import_data("topo_m/v100_ndv2_8gpu_4nic_tabs.txt"));
  EXPECT_EQ(xml, text);  // NV1, NV2 and SYS; the sockets agree too
}

TEST(DumpPairs, AzureNdv2ShippedServerAgreesWithItsXml) {
  const std::string path = std::string(WEFT_SOURCE_DIR) + "/data/servers/azure-ndv2.yaml";
  const fabric::Fabric yaml = import_any({path, read_file(path)}, dump_test_context());
  EXPECT_EQ(gpu_cells(import_data("nccl/azure_ndv2_topo.xml")), gpu_cells(yaml));
}

TEST(DumpPairs, AzureNdv4ShippedServerAgreesWithItsXml) {
  const std::string path = std::string(WEFT_SOURCE_DIR) + "/data/servers/azure-ndv4.yaml";
  const fabric::Fabric yaml = import_any({path, read_file(path)}, dump_test_context());
  const fabric::Fabric xml = import_data("nccl/azure_ndv4_topo.xml");
  EXPECT_EQ(gpu_cells(xml), gpu_cells(yaml));
  EXPECT_EQ(count(xml, DeviceKind::nic), count(yaml, DeviceKind::nic));
}

// g5.48xlarge in two dumps. hwloc shows one host bridge for the whole machine; AWS's NCCL file
// knows which NUMA node each GPU is at. Both see the same eight GPUs and the same adapter.
TEST(DumpPairs, AwsG5DumpsNameTheSameDevices) {
  const fabric::Fabric nccl = import_data("nccl/aws_g5.xml");
  const fabric::Fabric hwloc = import_data("hwloc/aws_g5.xml");
  for (const DeviceKind kind : {DeviceKind::gpu, DeviceKind::nic}) {
    ASSERT_EQ(count(nccl, kind), count(hwloc, kind));
    for (std::size_t i = 0; i < count(nccl, kind); ++i) {
      const auto a = nccl.of_kind(kind)[i], b = hwloc.of_kind(kind)[i];
      EXPECT_EQ(nccl.label(a, "bus_id"), hwloc.label(b, "bus_id"));
      EXPECT_EQ(nccl.device_class(a).model, hwloc.device_class(b).model);
    }
  }
}

// p3dn has 48 cores in two sockets, 0-23,48-71 and 24-47,72-95, as p4d's matrix prints them too.
TEST(DumpPairs, AwsP3dnNumaNodesAreThoseOfItsGeneration) {
  const fabric::Fabric f = import_data("hwloc/aws_p3dn.xml");
  EXPECT_EQ(f.label(f.of_kind(DeviceKind::cpu)[0], "cpu_affinity"), "0-23,48-71");
  EXPECT_EQ(f.label(f.of_kind(DeviceKind::cpu)[1], "cpu_affinity"), "24-47,72-95");
}

// p5.48xlarge and the matrix of an HGX H100 with NICs: other NICs, but the same GPUs and NVLinks,
// and in both a GPU has its NICs on its own switch.
TEST(DumpPairs, AwsP5AndAnHgxH100AgreeOnGpus) {
  const fabric::Fabric p5 = import_data("hwloc/aws_p5.xml");
  const fabric::Fabric hgx = import_data("topo_m/h100_hgx_8gpu_12nic_ndr_ib.txt");
  EXPECT_EQ(gpu_cells(p5), gpu_cells(hgx));
  EXPECT_EQ(matrix_of(p5).numa_affinity, matrix_of(hgx).numa_affinity);
  for (const fabric::Fabric* f : {&p5, &hgx}) {
    for (const auto gpu : f->of_kind(DeviceKind::gpu)) {
      const auto nics = f->of_kind(DeviceKind::nic);
      EXPECT_TRUE(std::any_of(nics.begin(), nics.end(), [&](fabric::DeviceId nic) {
        return fabric::path_class(*f, gpu, nic).kind == PathKind::pix;
      }));
    }
  }
}

}  // namespace
}  // namespace weft::import
