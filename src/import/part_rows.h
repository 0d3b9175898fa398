// The fields of each kind of record, one function a kind: the rows of the table of
// import/part_fields.h. Units here are those in which figures are kept.
#pragma once

#include <vector>

#include "import/part_fields.h"

namespace weft::import {

using PartRows = std::vector<PartField>;

PartRows gpu_rows();
PartRows cpu_rows();
PartRows nic_rows();
PartRows switch_rows();
PartRows link_rows();
PartRows optic_rows();
PartRows server_rows();
PartRows supernode_rows();
PartRows scale_up_rows();
PartRows cooling_rows();
PartRows protocol_rows();
PartRows fact_rows();
PartRows network_rows();

}  // namespace weft::import
