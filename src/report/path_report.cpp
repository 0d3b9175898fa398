#include "report/path_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/json.h"

namespace weft::report {
namespace {

// The payload rate this link gives to the path: of parallel chains used at once each has its share.
BitRate effective_of(const fabric::Hop& hop, const fabric::Leg& leg) {
  std::map<int, std::int64_t> chains;  // stripe -> its narrowest raw rate
  for (const fabric::Hop& other : leg.hops) {
    const auto chain = chains.try_emplace(other.stripe, other.raw.bps()).first;
    chain->second = std::min(chain->second, other.raw.bps());
  }
  if (chains.size() < 2) return hop.effective;
  double together = 0;
  for (const auto& [stripe, raw] : chains) together += static_cast<double>(raw);
  return hop.effective.scaled(static_cast<double>(chains[hop.stripe]) / together);
}

std::string rate_text(BitRate rate) {
  return fmt::format("{:.2f} GB/s", rate.gb_per_s());
}

bool uses_rdma(const fabric::DataPath& path) {
  return path.via == fabric::Via::rdma || path.via == fabric::Via::gdr;
}

void write_hop(JsonWriter& json, const fabric::Fabric& fabric, const fabric::Hop& hop,
               const fabric::Leg& leg) {
  json.begin_object();
  json.member("link", fabric.link_name(hop.link));
  json.member("kind", fabric::to_text(fabric.link_class(hop.link).kind));
  json.member("class", fabric.link_class(hop.link).name);
  json.member("mover", fabric::to_text(leg.mover));
  json.member("raw_gb_per_s", hop.raw.gb_per_s());
  json.member("effective_gb_per_s", effective_of(hop, leg).gb_per_s());
  json.member("latency_ns", hop.latency.to_nanoseconds());
  json.member("lost_to", hop.lost_to);
  json.end_object();
}

void write_path(JsonWriter& json, const fabric::Fabric& fabric, const fabric::DataPath& path,
                const PathQuestion& question) {
  json.member("source", fabric.name(path.source))
      .member("destination", fabric.name(path.destination));
  json.member("via", fabric::to_text(path.via)).member("bytes", question.size.count());
  json.key("hops").begin_array();
  for (const fabric::Leg& leg : path.legs) {
    for (const fabric::Hop& hop : leg.hops) write_hop(json, fabric, hop, leg);
  }
  json.end_array();
  json.key("legs").begin_array();
  for (const fabric::Leg& leg : path.legs) {
    json.begin_object().member("mover", fabric::to_text(leg.mover)).member("what", leg.what);
    json.key("cap_gb_per_s");
    if (leg.cap) {
      json.value(leg.cap->gb_per_s());
    } else {
      json.null();
    }
    json.member("cap_reason", leg.cap_reason).end_object();
  }
  json.end_array();
  json.key("parts").begin_array();
  for (const fabric::LatencyPart& part : path.parts) {
    json.begin_object().member("name", part.name).member("latency_ns", part.time.to_nanoseconds());
    json.end_object();
  }
  json.end_array();
  json.member("latency_ns", path.latency.to_nanoseconds());
  json.member("bandwidth_gb_per_s", path.bandwidth.gb_per_s());
  json.member("time_us", path.time(question.size).to_microseconds());
  json.member("cpu_s_per_gb", path.cpu_s_per_gb);
  json.member("dram_bytes_per_byte", path.dram_bytes_per_byte);
  json.member("cpu_copies", path.copies);
  json.member("narrowest", path.narrowest.valid() ? fabric.link_name(path.narrowest) : path.limit);
  json.member("limit", path.limit);
  if (!path.note.empty()) json.member("note", path.note);
  if (uses_rdma(path)) {
    json.member("registration_us_once", question.registration.to_microseconds());
  }
}

}  // namespace

std::string path_text(const fabric::Fabric& fabric, const fabric::DataPath& path,
                      const PathQuestion& question) {
  std::string out = fmt::format("{} -> {} via {}\n\n", fabric.name(path.source),
                                fabric.name(path.destination), fabric::to_text(path.via));
  out += fmt::format("  {:<44} {:<16} {:>12} {:>12} {:>9}  {}\n", "link", "class", "raw",
                     "effective", "latency", "what is lost");
  int number = 0;
  for (const fabric::Leg& leg : path.legs) {
    out += fmt::format("leg {}: {} ({})", ++number, leg.what, fabric::to_text(leg.mover));
    if (leg.cap) out += fmt::format("; capped at {}: {}", rate_text(*leg.cap), leg.cap_reason);
    out += "\n";
    for (const fabric::Hop& hop : leg.hops) {
      out += fmt::format("{} {:<44} {:<16} {:>12} {:>12} {:>9}  {}\n",
                         hop.link == path.narrowest ? ">" : " ", fabric.link_name(hop.link),
                         fabric.link_class(hop.link).name, rate_text(hop.raw),
                         rate_text(effective_of(hop, leg)), to_text(hop.latency), hop.lost_to);
    }
  }
  out += "\nlatency of a small message, one way\n";
  for (const fabric::LatencyPart& part : path.parts) {
    out += fmt::format("  {:>10.1f} ns  {}\n", part.time.to_nanoseconds(), part.name);
  }
  out += fmt::format("  {:>10.1f} ns  in all\n\n", path.latency.to_nanoseconds());
  out += fmt::format("narrowest: {}\n", path.limit);
  if (uses_rdma(path)) {
    out += fmt::format("once before: registering {} with the NIC takes {}\n",
                       to_text(question.size), to_text(question.registration));
  }
  if (path.slots > 0) {
    out += fmt::format("staged through {} pinned buffers of {}\n", path.slots, to_text(path.chunk));
  }
  out += fmt::format(
      "bandwidth {}; {} take {}; CPU {:.3f} s per GB, {} CPU copies, {:.1f} B of DRAM traffic per "
      "byte\n",
      rate_text(path.bandwidth), to_text(question.size), to_text(path.time(question.size)),
      path.cpu_s_per_gb, path.copies, path.dram_bytes_per_byte);
  return out;
}

std::string paths_text(const PathAnswers& answers, const PathQuestion& question) {
  std::string out =
      fmt::format("{:<8} {:>12} {:>10} {:>12} {:>13} {:>7}  {}\n", "via", "bandwidth", "latency",
                  to_text(question.size), "CPU s per GB", "copies", "limited by");
  for (const auto& [via, answer] : answers) {
    if (!answer.path) {
      out += fmt::format("{:<8} not possible: {}\n", fabric::to_text(via), answer.refusal);
      continue;
    }
    const fabric::DataPath& path = *answer.path;
    out +=
        fmt::format("{:<8} {:>12} {:>10} {:>12} {:>13.4f} {:>7}  {}\n", fabric::to_text(via),
                    rate_text(path.bandwidth), to_text(path.latency),
                    to_text(path.time(question.size)), path.cpu_s_per_gb, path.copies, path.limit);
  }
  return out;
}

std::string path_json(const fabric::Fabric& fabric, const fabric::DataPath& path,
                      const PathQuestion& question) {
  JsonWriter json;
  json.begin_object().member("schema", "weft/path/1");
  write_path(json, fabric, path, question);
  json.end_object();
  return json.take();
}

std::string paths_json(const fabric::Fabric& fabric, const PathAnswers& answers,
                       const PathQuestion& question) {
  JsonWriter json;
  json.begin_object().member("schema", "weft/paths/1").key("paths").begin_array();
  for (const auto& [via, answer] : answers) {
    json.begin_object();
    if (answer.path) {
      write_path(json, fabric, *answer.path, question);
    } else {
      json.member("via", fabric::to_text(via)).member("refused", answer.refusal);
    }
    json.end_object();
  }
  json.end_array().end_object();
  return json.take();
}

}  // namespace weft::report
