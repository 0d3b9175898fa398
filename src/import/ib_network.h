// From InfiniBand records to a network: which adapters make one host, what switches are called,
// what each cable's width and speed give. Hosts are known by the description of their adapters:
// "node1 mlx5_0", "node1 HCA-1", "node1/nic0". Leaves out: SHARP aggregation nodes (labelled on
// their switch), routing tables.
#pragma once

#include "import/ib_records.h"
#include "import/network_dump.h"

namespace weft::import {

NetworkDump network_of(const IbDump& dump, const Catalogue& catalogue);

// Both rows: `records` or the port list, whichever the text is.
fabric::Fabric read_ib(const Source& source, const ImportInputs& inputs);

// A line that opens a record: `Switch 36 "..."`.
bool has_ib_record(std::string_view text);

}  // namespace weft::import
