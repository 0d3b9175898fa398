// Parts of the NCCL topology reader: what a cpu element says, what a pci element is, which graphics
// a gpu element has.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/xml.h"
#include "import/server_sketch.h"
#include "import/xml_fields.h"

namespace weft::import {

ServerSketch::Cpu read_nccl_cpu(const XmlElement& element, Diagnostics& diagnostics,
                                std::vector<std::string>& notes);

// By its children, else by its class code; reports when the two contradict each other.
PciClass nccl_class_of(const XmlElement& element, XmlFields& fields,
                       std::optional<std::uint32_t> class_code);

// NVIDIA: sm; AMD: gcn ("910" or "gfx942"), for then sm counts compute units. 0 when not said.
int nccl_graphics_number(const XmlElement& gpu, XmlFields& fields);

}  // namespace weft::import
