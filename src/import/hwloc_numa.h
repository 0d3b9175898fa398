// NUMA nodes of an hwloc XML file, and how its objects are looked into.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/errors.h"
#include "base/xml.h"
#include "import/server_sketch.h"

namespace weft::import {

// "" when absent.
std::string_view hwloc_attribute(const XmlElement& element, std::string_view key);
// "" when the element is no object.
std::string_view hwloc_type(const XmlElement& element);

// Adds a CPU for every NUMA node with CPUs of its own. package_of_index: gp_index -> os_index of
// packages.
void read_hwloc_numa_nodes(const XmlElement& root, ServerSketch& sketch,
                           std::map<std::string, int>& package_of_index, Diagnostics& diagnostics);

}  // namespace weft::import
