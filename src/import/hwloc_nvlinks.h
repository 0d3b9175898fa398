// NVLinks that hwloc with NVML support writes: a matrix of rates (MB/s) named NVLinkBandwidth
// between GPUs and, on POWER, CPU packages. A rate is a number of links of the GPU's generation.
#pragma once

#include <map>
#include <string>

#include "base/errors.h"
#include "base/xml.h"
#include "import/importer.h"
#include "import/server_sketch.h"

namespace weft::import {

struct HwlocObjects {
  const std::map<std::string, std::size_t>& gpu_of_index;  // gp_index of an OS device -> node
  const std::map<std::string, int>& package_of_index;      // gp_index -> os_index
};

// Adds the links to `sketch`; nothing when the file has no such matrix.
void add_hwloc_nvlinks(const XmlElement& root, const HwlocObjects& objects,
                       const ImportInputs& context, ServerSketch& sketch, Diagnostics& diagnostics);

}  // namespace weft::import
