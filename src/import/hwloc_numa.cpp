#include "import/hwloc_numa.h"

#include <fmt/format.h>

#include "base/text.h"
#include "import/xml_fields.h"

namespace weft::import {

std::string_view hwloc_attribute(const XmlElement& element, std::string_view key) {
  const std::string* value = element.attribute(key);
  return value == nullptr ? std::string_view() : std::string_view(*value);
}

std::string_view hwloc_type(const XmlElement& element) {
  return element.name == "object" ? hwloc_attribute(element, "type") : std::string_view();
}

namespace {

using fabric::Vendor;

constexpr std::size_t kMaxCpus = 256;

std::string_view info_of(const XmlElement& element, std::string_view name) {
  for (const XmlElement& child : element.children) {
    if (child.name == "info" && hwloc_attribute(child, "name") == name) {
      return hwloc_attribute(child, "value");
    }
  }
  return {};
}

class NumaReader {
 public:
  NumaReader(ServerSketch& sketch, std::map<std::string, int>& package_of_index,
             Diagnostics& diagnostics)
      : sketch_(sketch), package_of_index_(package_of_index), diagnostics_(diagnostics) {}

  void read(const XmlElement& root) {
    for (const XmlElement& child : root.children) find_numa_nodes(child, {});
    find_architecture(root);
  }

 private:
  struct Package {
    std::optional<int> number;
    Vendor vendor = Vendor::unknown;
    int family = 0, model = 0;
  };

  static Package package_of(const XmlElement& element) {
    Package package;
    if (const auto number = parse_int(hwloc_attribute(element, "os_index"))) {
      package.number = static_cast<int>(*number);
    }
    const std::string vendor = std::string(info_of(element, "CPUVendor")) + " " +
                               std::string(info_of(element, "CPUModel"));
    if (vendor.find("Intel") != vendor.npos) package.vendor = Vendor::intel;
    if (vendor.find("AMD") != vendor.npos) package.vendor = Vendor::amd;
    if (vendor.find("POWER") != vendor.npos) package.vendor = Vendor::ibm;
    const auto number = [&](std::string_view name) {
      const auto value = parse_int(info_of(element, name));
      return value && *value >= 0 && *value < 65536 ? static_cast<int>(*value) : 0;
    };
    package.family = number("CPUFamilyNumber");
    package.model = number("CPUModelNumber");
    return package;
  }

  void find_numa_nodes(const XmlElement& element, Package package) {
    const std::string_view type = hwloc_type(element);
    if (type == "Package") {
      package = package_of(element);
      if (package.number) {
        package_of_index_[std::string(hwloc_attribute(element, "gp_index"))] = *package.number;
      }
    }
    if (type == "NUMANode") add_numa_node(element, package);
    for (const XmlElement& child : element.children) find_numa_nodes(child, package);
  }

  void add_numa_node(const XmlElement& element, const Package& package) {
    XmlFields fields(element, diagnostics_);
    const auto number = fields.required_integer("os_index", 0, 32767);
    const auto cpus = fields.cpu_list("cpuset");
    if (!number) return;
    if (!cpus || cpus->empty()) {
      sketch_.assume(fmt::format("NUMA node {} has no CPUs: left out", *number));
      return;
    }
    for (const ServerSketch::Cpu& other : sketch_.cpus) {
      if (other.numa == static_cast<int>(*number)) {
        fields.complain(fmt::format("a second NUMANode with os_index {}", *number),
                        "every NUMA node has its own os_index");
        return;
      }
      if (other.cpu_affinity != *cpus) continue;
      sketch_.assume(fmt::format("NUMA node {} ({}) shares its CPUs with node {}: left out",
                                 *number, hwloc_attribute(element, "subtype"),
                                 other.numa.value_or(-1)));
      return;
    }
    if (sketch_.cpus.size() == kMaxCpus) {
      throw InputError(element.where, fmt::format("more than {} NUMA nodes", kMaxCpus),
                       "export one machine at a time");
    }
    ServerSketch::Cpu cpu;
    cpu.numa = static_cast<int>(*number);
    cpu.cpu_affinity = *cpus;
    cpu.package = package.number;
    cpu.vendor = package.vendor;
    cpu.family = package.family;
    cpu.model = package.model;
    sketch_.cpus.push_back(cpu);
  }

  void find_architecture(const XmlElement& root) {
    std::string_view found = info_of(root, "Architecture");
    for (const XmlElement& child : root.children) {
      if (found.empty()) found = info_of(child, "Architecture");
    }
    std::string architecture = "x86_64";
    if (found == "aarch64") architecture = "arm64";
    if (found.starts_with("ppc64")) architecture = "ppc64";
    bool unnamed = false;
    for (ServerSketch::Cpu& cpu : sketch_.cpus) {
      cpu.architecture = architecture;
      if (architecture == "arm64") cpu.vendor = Vendor::arm;
      if (architecture == "ppc64") cpu.vendor = Vendor::ibm;
      unnamed = unnamed || cpu.vendor == Vendor::unknown;
    }
    if (unnamed) sketch_.assume("CPU vendor not in the file: a generic x86_64 CPU");
  }

  ServerSketch& sketch_;
  std::map<std::string, int>& package_of_index_;
  Diagnostics& diagnostics_;
};

}  // namespace

void read_hwloc_numa_nodes(const XmlElement& root, ServerSketch& sketch,
                           std::map<std::string, int>& package_of_index, Diagnostics& diagnostics) {
  NumaReader(sketch, package_of_index, diagnostics).read(root);
}

}  // namespace weft::import
