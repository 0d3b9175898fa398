// What figures of one record must agree on. Makers count a switch's capacity one way or both ways:
// 64 ports of 400 Gb/s are 25.6 Tb/s of traffic, sold as 25.6 or as 51.2. A network needs the
// first, so ports x rate is what counts here, and a stated capacity or headline must fit it.
#pragma once

#include "base/errors.h"
#include "import/part_record.h"

namespace weft::import {

void check_capacity(const PartRecord& record, Diagnostics& diagnostics);
// Links x rate, and power and its maximum.
void check_sums(const PartRecord& record, Diagnostics& diagnostics);

}  // namespace weft::import
