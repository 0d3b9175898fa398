#include "report/run_report.h"

#include <fmt/format.h>

#include "base/json.h"

namespace weft::report {
namespace {

void write_spread(JsonWriter& json, std::string_view key, const result::Spread& spread) {
  json.key(key).begin_object();
  json.member("mean", spread.mean).member("p50", spread.p50).member("p95", spread.p95);
  json.member("p99", spread.p99).member("p999", spread.p999).member("max", spread.max);
  json.end_object();
}

void write_flows(JsonWriter& json, const result::Result& result) {
  const result::Spread times = result::completion_spread(result.flows);
  json.key("flows").begin_object();
  json.member("count", static_cast<std::uint64_t>(times.count));
  write_spread(json, "fct_us", times);
  const result::Spread slowdown = result::slowdown_spread(result.flows);
  if (slowdown.count > 0) write_spread(json, "slowdown_ratio", slowdown);
  json.end_object();
}

void write_packets(JsonWriter& json, const result::PacketCounters& packets) {
  json.key("packets").begin_object();
  json.member("sent", packets.sent).member("retransmitted", packets.retransmitted);
  json.member("acks", packets.acks).member("nacks", packets.nacks);
  json.member("notifications", packets.notifications).member("marks", packets.marks);
  json.member("drops", packets.drops).member("timeouts", packets.timeouts);
  json.member("pauses", packets.pauses).member("credit_waits", packets.credit_waits);
  json.member("peak_in_flight", packets.peak_packets).end_object();
}

std::string flow_table(const result::Result& result) {
  const result::Spread times = result::completion_spread(result.flows);
  if (times.count == 0) return {};
  std::string out = fmt::format("\n{:<24} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}\n",
                                fmt::format("{} flow{}", times.count, times.count == 1 ? "" : "s"),
                                "mean", "p50", "p95", "p99", "p99.9", "max");
  const auto row = [&](std::string_view name, const result::Spread& s, int decimals) {
    out += fmt::format("{:<24} {:>9.{}f} {:>9.{}f} {:>9.{}f} {:>9.{}f} {:>9.{}f} {:>9.{}f}\n", name,
                       s.mean, decimals, s.p50, decimals, s.p95, decimals, s.p99, decimals, s.p999,
                       decimals, s.max, decimals);
  };
  row("completion time, us", times, 1);
  const result::Spread slowdown = result::slowdown_spread(result.flows);
  if (slowdown.count > 0) row("times the time alone", slowdown, 2);
  return out;
}

std::string packet_lines(const result::PacketCounters& p) {
  if (p.sent == 0) return {};
  return fmt::format(
      "\npackets: {} sent, of them {} again; {} acknowledgements, {} nacks, {} timeouts\n"
      "queues:  {} marks, {} drops, {} pauses, {} congestion notifications, {} waits for credit\n",
      p.sent, p.retransmitted, p.acks, p.nacks, p.timeouts, p.marks, p.drops, p.pauses,
      p.notifications, p.credit_waits);
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
  write_flows(json, result);
  if (result.packets.sent > 0) write_packets(json, result.packets);
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
  std::string out =
      "op,from,to,size_bytes,start_us,end_us,fct_us,bandwidth_gb_per_s,slowdown_ratio\n";
  for (const result::FlowRecord& flow : result.flows) {
    const Duration time = flow.end - flow.start;
    const double rate = time.ps() > 0 ? flow.size.to_double() / (time.to_seconds() * 1e9) : 0;
    const std::string slowdown =
        flow.alone.ps() == 0 ? ""
                             : fmt::format("{:.6g}", static_cast<double>(time.ps()) /
                                                         static_cast<double>(flow.alone.ps()));
    out += fmt::format(
        "{},{},{},{},{},{},{},{},{}\n", flow.op.value, fabric.name(flow.from), fabric.name(flow.to),
        flow.size.count(), flow.start.since_start().to_microseconds(),
        flow.end.since_start().to_microseconds(), time.to_microseconds(), rate, slowdown);
  }
  return out;
}

std::string run_text(const fabric::Fabric& fabric, const result::Result& result,
                     const RunEcho& echo) {
  std::string out = fmt::format("{}: done after {}\n", echo.source, to_text(result.completion));
  out += result.bottleneck.sentence + "\n";
  out += flow_table(result);
  out += packet_lines(result.packets);
  out += fmt::format("\n{:<52} {:>12} {:>12}\n", "busiest links", "utilisation", "wire bytes");
  for (const result::LinkLoad& load : result::top_links(result.links, 5)) {
    out += fmt::format("{:<52} {:>10.1f} % {:>12.4g}\n", fabric.link_name(load.link),
                       load.utilisation * 100, load.wire_bytes);
  }
  const bool packets = result.engine.packet_hops > 0;
  out += fmt::format(
      "\n{} engine: {} events, {} {}, {:.3f} s, {:.0f} MB\n", result.engine.name,
      result.engine.events, packets ? result.engine.packet_hops : result.engine.rate_solves,
      packets ? "packet-hops" : "rate solves", result.engine.wall_s, result.engine.peak_rss_mb);
  return out;
}

}  // namespace weft::report
