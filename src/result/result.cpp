#include "result/result.h"

#include <algorithm>
#include <cmath>

#include "base/histogram.h"

namespace weft::result {

namespace {

constexpr std::size_t kSortUpTo = 1'000'000;
constexpr double kSteps = 1e6;  // of the histogram to one unit of the value

Spread spread_of(std::vector<double> values) {
  Spread out;
  out.count = values.size();
  if (values.empty()) return out;
  for (const double value : values) {
    out.mean += value / static_cast<double>(values.size());
    out.max = std::max(out.max, value);
  }
  const auto fill = [&](auto&& at) {
    out.p50 = at(0.5);
    out.p95 = at(0.95);
    out.p99 = at(0.99);
    out.p999 = at(0.999);
  };
  if (values.size() > kSortUpTo) {
    Histogram histogram;
    for (const double value : values)
      histogram.add(static_cast<std::uint64_t>(std::llround(value * kSteps)));
    fill([&](double part) { return static_cast<double>(histogram.quantile(part)) / kSteps; });
    return out;
  }
  std::sort(values.begin(), values.end());
  fill([&](double part) {
    const double rank = std::ceil(part * static_cast<double>(values.size()) - 1e-9);
    return values[static_cast<std::size_t>(std::max(1.0, rank)) - 1];
  });
  return out;
}

}  // namespace

Spread completion_spread(std::span<const FlowRecord> flows) {
  std::vector<double> times;
  times.reserve(flows.size());
  for (const FlowRecord& flow : flows) times.push_back((flow.end - flow.start).to_microseconds());
  return spread_of(std::move(times));
}

Spread slowdown_spread(std::span<const FlowRecord> flows) {
  std::vector<double> values;
  for (const FlowRecord& flow : flows) {
    if (flow.alone.ps() > 0)
      values.push_back(static_cast<double>((flow.end - flow.start).ps()) /
                       static_cast<double>(flow.alone.ps()));
  }
  return spread_of(std::move(values));
}

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
