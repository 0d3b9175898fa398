#include "report/topo_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"

namespace weft::report {
namespace {

constexpr std::string_view kLegend =
    "\nLegend:\n\n"
    "  X    = Self\n"
    "  SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA nodes "
    "(e.g., QPI/UPI)\n"
    "  NODE = Connection traversing PCIe as well as the interconnect between PCIe Host Bridges "
    "within a NUMA node\n"
    "  PHB  = Connection traversing PCIe as well as a PCIe Host Bridge (typically the CPU)\n"
    "  PXB  = Connection traversing multiple PCIe bridges (without traversing the PCIe Host "
    "Bridge)\n"
    "  PIX  = Connection traversing at most a single PCIe bridge\n"
    "  NV#  = Connection traversing a bonded set of # NVLinks\n";
constexpr std::string_view kC2cLine =
    "  C2C  = Connection traversing a coherent chip-to-chip link between CPU and GPU\n";

bool has_c2c(const fabric::TopologyMatrix& matrix) {
  for (const auto& row : matrix.cells) {
    for (const fabric::PathClass& cell : row) {
      if (cell.kind == fabric::PathKind::c2c) return true;
    }
  }
  return false;
}

}  // namespace

std::string topo_text(const fabric::TopologyMatrix& matrix) {
  std::string out;
  for (const std::string& header : matrix.headers) out += "\t" + header;
  out += "\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n";
  for (std::size_t row = 0; row < matrix.cells.size(); ++row) {
    out += matrix.headers[row];
    for (const fabric::PathClass& cell : matrix.cells[row]) {
      out += cell.kind == fabric::PathKind::self ? "\t X " : "\t" + to_text(cell);
    }
    if (row < matrix.cpu_affinity.size()) {
      out += fmt::format("\t{}\t{}\t\t{}", matrix.cpu_affinity[row], matrix.numa_affinity[row],
                         matrix.gpu_numa_id[row]);
    }
    out += "\n";
  }
  out += kLegend;
  if (has_c2c(matrix)) out += kC2cLine;
  if (!matrix.nic_legend.empty()) {
    out += "\nNIC Legend:\n\n";
    for (const auto& [nic, name] : matrix.nic_legend) out += fmt::format("  {}: {}\n", nic, name);
  }
  return out;
}

std::string topo_json(const fabric::Fabric& fabric, const fabric::TopologyMatrix& matrix,
                      const std::string& source) {
  JsonWriter json;
  json.begin_object().member("schema", "weft/topo/1").member("source", source);
  json.key("devices").begin_array();
  for (std::size_t i = 0; i < matrix.devices.size(); ++i) {
    const fabric::DeviceId device = matrix.devices[i];
    json.begin_object();
    json.member("header", matrix.headers[i]).member("name", fabric.name(device));
    json.member("kind", to_text(fabric.kind(device)));
    json.member("model", fabric.device_class(device).model);
    json.member("numa", static_cast<std::int64_t>(fabric.info(device).numa));
    if (i < matrix.cpu_affinity.size()) {
      json.member("cpu_affinity", matrix.cpu_affinity[i]);
      json.member("numa_affinity", matrix.numa_affinity[i]);
    }
    json.end_object();
  }
  json.end_array();
  json.key("matrix").begin_array();
  for (const auto& row : matrix.cells) {
    json.begin_array();
    for (const fabric::PathClass& cell : row) json.value(to_text(cell));
    json.end_array();
  }
  json.end_array();
  json.key("nic_legend").begin_object();
  for (const auto& [nic, name] : matrix.nic_legend) json.member(nic, name);
  json.end_object();
  json.key("assumptions").begin_array();
  for (const std::string& assumption : fabric.assumptions()) json.value(assumption);
  json.end_array().end_object();
  return json.take();
}

}  // namespace weft::report
