// The path matrix in the form of `nvidia-smi topo -m` (TAB separated, with its legend), and as
// JSON.
#pragma once

#include <string>

#include "fabric/path_class.h"

namespace weft::report {

std::string topo_text(const fabric::TopologyMatrix& matrix);
// Schema weft/topo/1: {devices[{name, kind, model, numa, label...}], matrix[][], nic_legend{},
// assumptions[]}.
std::string topo_json(const fabric::Fabric& fabric, const fabric::TopologyMatrix& matrix,
                      const std::string& source);
// One server as a picture: CPUs on top, the PCIe tree below, NVSwitches at the foot; SVG text.
std::string topo_svg(const fabric::Fabric& fabric, fabric::ServerId server,
                     const std::string& title);

}  // namespace weft::report
