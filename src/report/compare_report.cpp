#include "report/compare_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"
#include "base/text.h"

namespace weft::report {

namespace {

// By completion; of equals the one named first.
std::vector<const ComparedRun*> by_speed(std::span<const ComparedRun> runs) {
  std::vector<const ComparedRun*> out;
  for (const ComparedRun& run : runs) out.push_back(&run);
  std::stable_sort(out.begin(), out.end(), [](const ComparedRun* a, const ComparedRun* b) {
    return a->completion < b->completion;
  });
  return out;
}

double ratio(Duration slow, Duration fast) {
  return fast.ps() > 0 ? static_cast<double>(slow.ps()) / static_cast<double>(fast.ps()) : 1;
}

}  // namespace

ComparedRun compared(const result::Result& result) {
  ComparedRun out;
  out.completion = result.completion;
  out.times = result::completion_spread(result.flows);
  out.slowdown = result::slowdown_spread(result.flows);
  out.packets = result.packets;
  out.bottleneck = result.bottleneck.name;
  return out;
}

std::string comparison_sentence(std::span<const ComparedRun> runs) {
  const auto order = by_speed(runs);
  if (order.size() < 2) return {};
  std::vector<std::string> parts;
  for (std::size_t i = 1; i < order.size(); ++i) {
    const double times = ratio(order[i]->completion, order[0]->completion);
    parts.push_back(times < 1.005
                        ? fmt::format("as fast as {}", order[i]->name)
                        : fmt::format("{:.2f} times as fast as {}", times, order[i]->name));
  }
  std::string out = order[0]->name + " is " + parts[0];
  for (std::size_t i = 1; i < parts.size(); ++i)
    out += (i + 1 == parts.size() ? " and " : ", ") + parts[i];
  return out;
}

std::string compare_text(std::span<const ComparedRun> runs) {
  int width = 8;
  for (const ComparedRun& run : runs) width = std::max(width, display_width(run.name));
  const bool packets = std::any_of(runs.begin(), runs.end(),
                                   [](const ComparedRun& run) { return run.packets.sent > 0; });
  std::string out = fmt::format("{:<{}} {:>12} {:>8} {:>11} {:>11} {:>11}", "run", width,
                                "completion", "times", "mean us", "p99 us", "max us");
  if (packets)
    out += fmt::format(" {:>9} {:>8} {:>8} {:>8} {:>10}", "marks", "pauses", "waits", "drops",
                       "sent again");
  out += "  busiest link\n";
  const auto order = by_speed(runs);
  for (const ComparedRun& run : runs) {
    out += fmt::format("{:<{}} {:>12} {:>8.2f} {:>11.1f} {:>11.1f} {:>11.1f}", run.name, width,
                       to_text(run.completion), ratio(run.completion, order[0]->completion),
                       run.times.mean, run.times.p99, run.times.max);
    if (packets)
      out += fmt::format(" {:>9} {:>8} {:>8} {:>8} {:>10}", run.packets.marks, run.packets.pauses,
                         run.packets.credit_waits, run.packets.drops, run.packets.retransmitted);
    out += fmt::format("  {}\n", run.bottleneck);
  }
  const std::string sentence = comparison_sentence(runs);
  if (!sentence.empty()) out += "\n" + sentence + "\n";
  return out;
}

std::string compare_json(std::span<const ComparedRun> runs) {
  JsonWriter json;
  json.begin_object().member("schema", "weft/compare/1").key("runs").begin_array();
  for (const ComparedRun& run : runs) {
    json.begin_object().member("name", run.name).member("scenario", run.scenario);
    json.member("cluster", run.cluster).member("stack", run.stack);
    json.member("routing", run.routing).member("engine", run.engine);
    json.member("completion_us", run.completion.to_microseconds());
    json.member("bottleneck", run.bottleneck).key("flows").begin_object();
    json.member("count", static_cast<std::uint64_t>(run.times.count));
    json.member("fct_mean_us", run.times.mean).member("fct_p50_us", run.times.p50);
    json.member("fct_p99_us", run.times.p99).member("fct_max_us", run.times.max);
    json.member("slowdown_p99_ratio", run.slowdown.p99).end_object();
    json.key("packets").begin_object().member("sent", run.packets.sent);
    json.member("retransmitted", run.packets.retransmitted).member("marks", run.packets.marks);
    json.member("drops", run.packets.drops).member("pauses", run.packets.pauses);
    json.member("credit_waits", run.packets.credit_waits);
    json.member("notifications", run.packets.notifications).end_object().end_object();
  }
  json.end_array();
  const auto order = by_speed(runs);
  if (!order.empty()) json.member("fastest", order[0]->name);
  json.member("sentence", comparison_sentence(runs)).end_object();
  return json.take();
}

}  // namespace weft::report
