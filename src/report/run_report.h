// A run as a folder (result.json, links.csv, flows.csv) and as a summary for people.
#pragma once

#include <string>

#include "result/result.h"

namespace weft::report {

// What produced the result, as text ready to be run again: the cluster and scenario with every
// default filled in.
struct RunEcho {
  std::string source;      // scenario file or command
  std::string setup_json;  // one JSON object: engine, stack, seed, cluster, work
  std::vector<std::string> assumptions;
};

// Schema weft/run/1: {completion_us, flows{count, fct_us{mean, p50, p95, p99, p999, max},
// slowdown_ratio{...}}, packets{sent, ...} (packet engine), bottleneck{link,
// share, sentence}, ops[], engine{name, wall_s, events, packet_hops, peak_rss_mb}, setup}.
std::string run_json(const fabric::Fabric& fabric, const result::Result& result,
                     const RunEcho& echo);
std::string links_csv(const fabric::Fabric& fabric, const result::Result& result);
std::string flows_csv(const fabric::Fabric& fabric, const result::Result& result);
std::string run_text(const fabric::Fabric& fabric, const result::Result& result,
                     const RunEcho& echo);

}  // namespace weft::report
