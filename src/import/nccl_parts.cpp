#include "import/nccl_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.h"

namespace weft::import {

namespace {

using fabric::Vendor;

// NCCL adds the extended family shifted by 4, CPUID says to add it as it is (AMD: 15 + extended).
int cpuid_family(Vendor vendor, int family) {
  return vendor == Vendor::amd && family > 127 ? 15 + (family >> 4) : family;
}

bool has_child(const XmlElement& element, std::string_view name) {
  return std::any_of(element.children.begin(), element.children.end(),
                     [name](const XmlElement& child) { return child.name == name; });
}

void read_identity(const XmlElement& element, XmlFields& fields, ServerSketch::Cpu& cpu,
                   std::vector<std::string>& notes) {
  static const std::map<std::string, Vendor, std::less<>> kVendors = {
      {"GenuineIntel", Vendor::intel},
      {"AuthenticAMD", Vendor::amd},
      {"CentaurHauls", Vendor::zhaoxin},
      {"Shanghai", Vendor::zhaoxin}};
  static const std::vector<std::string> kArchitectures = {"x86_64", "arm64", "ppc64"};
  const std::string* arch = element.attribute("arch");
  if (arch != nullptr &&
      std::find(kArchitectures.begin(), kArchitectures.end(), *arch) == kArchitectures.end()) {
    fields.complain(fmt::format("unknown arch '{}'", *arch), suggest(*arch, kArchitectures));
  } else if (arch != nullptr) {
    cpu.architecture = *arch;
  }
  if (const std::string* vendor = element.attribute("vendor")) {
    const auto known = kVendors.find(trim(*vendor));
    if (known != kVendors.end()) cpu.vendor = known->second;
    if (known == kVendors.end() && !trim(*vendor).empty()) {
      notes.push_back(fmt::format("CPU vendor '{}' is not known", *vendor));
    }
  }
  if (cpu.architecture == "arm64") cpu.vendor = Vendor::arm;
  if (cpu.architecture == "ppc64") cpu.vendor = Vendor::ibm;
  const auto family = fields.integer("familyid", 0, 4095);
  cpu.family = cpuid_family(cpu.vendor, static_cast<int>(family.value_or(0)));
  cpu.model = static_cast<int>(fields.integer("modelid", 0, 65535).value_or(0));
  if (arch == nullptr || (cpu.architecture == "x86_64" && cpu.vendor == Vendor::unknown)) {
    notes.push_back(
        fmt::format("cpu on line {} does not name arch and vendor (NCCL itself refuses a cpu "
                    "without arch): a "
                    "generic x86_64 CPU",
                    element.where.line));
  }
}

}  // namespace

ServerSketch::Cpu read_nccl_cpu(const XmlElement& element, Diagnostics& diagnostics,
                                std::vector<std::string>& notes) {
  XmlFields fields(element, diagnostics);
  fields.check_names({"numaid", "affinity", "arch", "vendor", "familyid", "modelid", "host_hash"});
  ServerSketch::Cpu cpu;
  if (const auto numa = fields.integer("numaid", -1, 32767); numa && *numa >= 0) {
    cpu.numa = static_cast<int>(*numa);
  }
  if (element.attribute("numaid") == nullptr) {
    fields.complain("cpu has no numaid", "the NUMA node number, or -1 when it has none");
  }
  cpu.cpu_affinity = fields.cpu_list("affinity").value_or("");
  read_identity(element, fields, cpu, notes);
  return cpu;
}

PciClass nccl_class_of(const XmlElement& element, XmlFields& fields,
                       std::optional<std::uint32_t> class_code) {
  const bool has_pci = has_child(element, "pci");
  const PciClass by_code = class_code ? pci_class_of(*class_code) : PciClass::other;
  if (has_child(element, "gpu")) {
    if (has_pci)
      fields.complain("pci holds both a gpu and other pci elements",
                      "a GPU is the end of a branch: close it before the next pci");
    if (by_code == PciClass::nic || by_code == PciClass::bridge) {
      fields.complain("pci holds a gpu but its class says otherwise", "GPUs have class 0x030200");
    }
    return PciClass::gpu;
  }
  if (has_child(element, "nic") && !has_pci) {
    if (by_code == PciClass::gpu) {
      fields.complain("pci holds a nic but its class is that of a GPU",
                      "NICs have class 0x020000 (Ethernet) or 0x020700 (InfiniBand)");
    }
    return PciClass::nic;
  }
  if (has_pci) {
    if (class_code && by_code != PciClass::bridge) {
      fields.complain("pci holds other pci elements but its class is not that of a bridge",
                      "bridges have class 0x060400");
    }
    return PciClass::bridge;
  }
  return by_code;
}

int nccl_graphics_number(const XmlElement& gpu, XmlFields& fields) {
  const std::string* gcn = gpu.attribute("gcn");
  if (gcn == nullptr) return static_cast<int>(fields.integer("sm", 0, 599).value_or(0));
  std::string_view digits = trim(*gcn);
  if (digits.starts_with("gfx")) digits.remove_prefix(3);
  const auto number = digits == "90a" ? std::optional<std::int64_t>(910) : parse_int(digits);
  if (!number || *number < 600 || *number > 9999) {
    fields.complain(fmt::format("gcn '{}' is no graphics number", *gcn),
                    "as in gcn=\"908\" or gcn=\"gfx942\"");
    return 0;
  }
  return static_cast<int>(*number);
}

}  // namespace weft::import
