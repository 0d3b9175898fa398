#include "result/result.h"

#include <algorithm>

namespace weft::result {

FlowTimes flow_times(std::span<const FlowRecord> flows) {
  FlowTimes out;
  out.count = flows.size();
  if (flows.empty()) return out;
  std::vector<Duration> times;
  times.reserve(flows.size());
  double sum_ps = 0;
  for (const FlowRecord& flow : flows) {
    times.push_back(flow.end - flow.start);
    sum_ps += static_cast<double>(times.back().ps());
  }
  std::sort(times.begin(), times.end());
  const auto rank = [&](std::size_t percent) {
    return times[(times.size() * percent + 99) / 100 - 1];
  };
  out.mean = Duration::from_seconds(sum_ps / static_cast<double>(times.size()) * 1e-12);
  out.p50 = rank(50);
  out.p99 = rank(99);
  out.max = times.back();
  return out;
}

std::vector<LinkLoad> top_links(std::span<const LinkLoad> links, std::size_t count) {
  std::vector<LinkLoad> out(links.begin(), links.end());
  const auto busier = [](const LinkLoad& a, const LinkLoad& b) {
    return a.utilisation != b.utilisation ? a.utilisation > b.utilisation : a.link < b.link;
  };
  count = std::min(count, out.size());
  std::partial_sort(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(count), out.end(),
                    busier);
  out.resize(count);
  return out;
}

}  // namespace weft::result
