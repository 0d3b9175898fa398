// The text of `nvidia-smi topo -m` as a table: device names, one cell per pair, the affinity
// columns, the NIC legend, each with its place in the text.
// Tolerant of how such texts reach us: tabs or any blanks between columns, ANSI escapes of the
// underlined header (whole, or with ESC lost on the way), shell prompts and code fences around,
// lines that a terminal wrapped, NIC columns under their own names, missing affinity columns.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/errors.h"
#include "fabric/path_class.h"

namespace weft::import {

struct TopoTable {
  struct Cell {
    fabric::PathClass path;
    std::string text;
    SourcePosition where;
  };
  struct Device {
    std::string name;  // as in the header: "GPU0", "NIC3", "mlx5_0"
    bool gpu = false;
    std::string cpu_affinity, numa_affinity, gpu_numa_id;  // "" = no such column
    std::string nic_name;                                  // from the legend, or the header
    SourcePosition where;                                  // of its row
  };
  std::vector<Device> devices;           // in the order of the columns
  std::vector<std::vector<Cell>> cells;  // [row][column], rows in that order too
  bool nic_rows_missing = false;         // NIC - NIC cells are then worked out from GPU - NIC cells
};

// True when the text has a header line of GPU columns and a row for the first of them.
bool looks_like_topo_table(std::string_view text);

// Throws InputError with every fault: cells that mean nothing, rows missing, wrong diagonal, pairs
// that disagree.
TopoTable read_topo_table(std::string_view text, const std::string& file);

}  // namespace weft::import
