#include "report/run_report.h"

#include <fmt/format.h>

#include "base/json.h"

namespace weft::report {
namespace {

void write_flows(JsonWriter& json, const result::FlowTimes& times) {
  json.key("flows").begin_object();
  json.member("count", static_cast<std::uint64_t>(times.count));
  json.key("fct_us").begin_object();
  json.member("mean", times.mean.to_microseconds()).member("p50", times.p50.to_microseconds());
  json.member("p99", times.p99.to_microseconds()).member("max", times.max.to_microseconds());
  json.end_object().end_object();
}

void write_ops(JsonWriter& json, const result::Result& result) {
  json.key("ops").begin_array();
  for (const result::OpSpan& op : result.ops) {
    json.begin_object();
    json.member("start_us", op.start.since_start().to_microseconds());
    json.member("end_us", op.end.since_start().to_microseconds());
    if (!op.algorithm.empty()) {
      json.member("algorithm", op.algorithm)
          .member("protocol", op.protocol)
          .member("channels", op.channels);
    }
    json.end_object();
  }
  json.end_array();
}

}  // namespace

std::string run_json(const fabric::Fabric& fabric, const result::Result& result,
                     const RunEcho& echo) {
  JsonWriter json;
  json.begin_object().member("schema", "weft/run/1").member("source", echo.source);
  json.member("completion_us", result.completion.to_microseconds());
  write_flows(json, result::flow_times(result.flows));
  json.key("bottleneck").begin_object();
  json.member("link", result.bottleneck.name).member("share", result.bottleneck.share);
  json.member("sentence", result.bottleneck.sentence).end_object();
  json.key("top_links").begin_array();
  for (const result::LinkLoad& load : result::top_links(result.links, 10)) {
    json.begin_object().member("link", fabric.link_name(load.link));
    json.member("wire_bytes", load.wire_bytes)
        .member("utilisation_ratio", load.utilisation)
        .end_object();
  }
  json.end_array();
  write_ops(json, result);
  json.key("engine").begin_object();
  json.member("name", result.engine.name).member("wall_s", result.engine.wall_s);
  json.member("events", result.engine.events).member("packet_hops", result.engine.packet_hops);
  json.member("rate_solves", result.engine.rate_solves)
      .member("peak_rss_mb", result.engine.peak_rss_mb);
  json.end_object();
  json.key("assumptions").begin_array();
  for (const std::string& assumption : echo.assumptions) json.value(assumption);
  json.end_array();
  json.key("setup").raw(echo.setup_json);
  json.end_object();
  return json.take();
}

std::string links_csv(const fabric::Fabric& fabric, const result::Result& result) {
  std::string out = "from,to,kind,class,raw_gb_per_s,wire_bytes,utilisation_ratio\n";
  for (const result::LinkLoad& load : result.links) {
    const fabric::LinkClass& link_class = fabric.link_class(load.link);
    out += fmt::format("{},{},{},{},{},{},{}\n", fabric.name(fabric.from(load.link)),
                       fabric.name(fabric.to(load.link)), to_text(link_class.kind), link_class.name,
                       link_class.raw_rate.gb_per_s(), load.wire_bytes, load.utilisation);
  }
  return out;
}

std::string flows_csv(const fabric::Fabric& fabric, const result::Result& result) {
  std::string out = "op,from,to,size_bytes,start_us,end_us,fct_us,bandwidth_gb_per_s\n";
  for (const result::FlowRecord& flow : result.flows) {
    const Duration time = flow.end - flow.start;
    const double rate = time.ps() > 0 ? flow.size.to_double() / (time.to_seconds() * 1e9) : 0;
    out += fmt::format("{},{},{},{},{},{},{},{}\n", flow.op.value, fabric.name(flow.from),
                       fabric.name(flow.to), flow.size.count(),
                       flow.start.since_start().to_microseconds(),
                       flow.end.since_start().to_microseconds(), time.to_microseconds(), rate);
  }
  return out;
}

std::string run_text(const fabric::Fabric& fabric, const result::Result& result,
                     const RunEcho& echo) {
  std::string out = fmt::format("{}: done after {}\n", echo.source, to_text(result.completion));
  out += result.bottleneck.sentence + "\n";
  const result::FlowTimes times = result::flow_times(result.flows);
  if (times.count > 0) {
    out += fmt::format("{} flows: completion time mean {}, p50 {}, p99 {}, max {}\n", times.count,
                       to_text(times.mean), to_text(times.p50), to_text(times.p99),
                       to_text(times.max));
  }
  out += fmt::format("\n{:<52} {:>12} {:>12}\n", "busiest links", "utilisation", "wire bytes");
  for (const result::LinkLoad& load : result::top_links(result.links, 5)) {
    out += fmt::format("{:<52} {:>10.1f} % {:>12.4g}\n", fabric.link_name(load.link),
                       load.utilisation * 100, load.wire_bytes);
  }
  out += fmt::format("\n{} engine: {} events, {} rate solves, {:.3f} s, {:.0f} MB\n",
                     result.engine.name, result.engine.events, result.engine.rate_solves,
                     result.engine.wall_s, result.engine.peak_rss_mb);
  return out;
}

}  // namespace weft::report
