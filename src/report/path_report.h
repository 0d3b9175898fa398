// `weft path`: one data path hop by hop, or every legal way side by side.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "fabric/data_path.h"

namespace weft::report {

// What is asked of a path, and what RDMA pays once before its first transfer from a buffer.
struct PathQuestion {
  Bytes size;
  Duration registration;  // of a buffer of `size` with the NIC
};

using PathAnswers = std::vector<std::pair<fabric::Via, fabric::PathAnswer>>;

std::string path_text(const fabric::Fabric& fabric, const fabric::DataPath& path,
                      const PathQuestion& question);
std::string paths_text(const PathAnswers& answers, const PathQuestion& question);
// Schema weft/path/1: {hops[{link, kind, raw_gb_per_s, effective_gb_per_s, latency_ns}],
// latency_ns, bandwidth_gb_per_s, time_us, cpu_s_per_gb, parts[], ...}.
std::string path_json(const fabric::Fabric& fabric, const fabric::DataPath& path,
                      const PathQuestion& question);
std::string paths_json(const fabric::Fabric& fabric, const PathAnswers& answers,
                       const PathQuestion& question);

}  // namespace weft::report
