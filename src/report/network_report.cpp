#include "report/network_report.h"

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"

namespace weft::report {

namespace {

using fabric::NetworkSurvey;

std::string range_text(const NetworkSurvey::Range& range) {
  return range.least == range.most ? std::to_string(range.most)
                                   : fmt::format("{}-{}", range.least, range.most);
}

std::string radix_text(const std::vector<int>& radixes) {
  std::vector<std::string> words;
  for (const int radix : radixes)
    words.push_back(radix == 0 ? std::string("?") : std::to_string(radix));
  return join(words, ",");
}

void write_range(JsonWriter& json, std::string_view key, const NetworkSurvey::Range& range) {
  json.key(key).begin_array().value(range.least).value(range.most).end_array();
}

}  // namespace

std::string network_text(const NetworkSurvey& survey) {
  std::string out =
      fmt::format("{} hosts, {} NICs, {} GPUs, {} switches, {} network cables\n", survey.hosts,
                  survey.nics, survey.gpus, survey.switches, survey.cables);
  out += fmt::format("\n{:<6} {:>8} {:>8} {:>11} {:>8} {:>9}\n", "tier", "switches", "radix",
                     "ports used", "hosts", "uplinks");
  for (const NetworkSurvey::Tier& tier : survey.tiers) {
    out += fmt::format("{:<6} {:>8} {:>8} {:>11} {:>8} {:>9}\n", tier.tier, tier.switches,
                       radix_text(tier.radixes), range_text(tier.ports_used),
                       range_text(tier.hosts), range_text(tier.uplinks));
  }
  out += "\nlinks\n";
  for (const NetworkSurvey::Speed& speed : survey.speeds) {
    out += fmt::format("  {:<18} {:>6} x {} ({})\n", speed.between, speed.cables, speed.link,
                       to_text(speed.rate));
  }
  if (!survey.rails.empty()) out += "\nrails\n";
  for (const NetworkSurvey::Rail& rail : survey.rails)
    out +=
        fmt::format("  NIC {:<3} {:>4} leaves, {:>6} NICs\n", rail.number, rail.leaves, rail.nics);
  if (survey.planes.size() > 1) out += fmt::format("\n{} separate parts\n", survey.planes.size());
  if (!survey.worst_leaf.empty())
    out += fmt::format("\nworst oversubscription {:.2f}:1 at {}\n", survey.worst_oversubscription,
                       survey.worst_leaf);
  out += fmt::format("\n{} findings\n", survey.findings.size());
  for (const NetworkSurvey::Finding& finding : survey.findings)
    out += fmt::format("  {:<14} {}\n", finding.kind, finding.text);
  if (!survey.missing.empty()) out += "\nmissing cables\n";
  for (const NetworkSurvey::MissingCables& pair : survey.missing) {
    out +=
        fmt::format("  {} - {}: {} of {}\n", pair.lower, pair.upper, pair.present, pair.expected);
  }
  return out;
}

std::string network_json(const NetworkSurvey& survey, const fabric::Fabric& fabric,
                         const std::string& source) {
  JsonWriter json;
  json.begin_object().member("schema", "weft/network/1").member("source", source);
  json.member("hosts", static_cast<std::int64_t>(survey.hosts));
  json.member("nics", static_cast<std::int64_t>(survey.nics));
  json.member("gpus", static_cast<std::int64_t>(survey.gpus));
  json.member("switches", static_cast<std::int64_t>(survey.switches));
  json.member("cables", static_cast<std::int64_t>(survey.cables));
  json.member("usual_nics_per_host", survey.usual_nics);
  json.key("tiers").begin_array();
  for (const NetworkSurvey::Tier& tier : survey.tiers) {
    json.begin_object().member("tier", tier.tier);
    json.member("switches", static_cast<std::int64_t>(tier.switches));
    json.key("radix").begin_array();
    for (const int radix : tier.radixes) json.value(radix);
    json.end_array();
    write_range(json, "ports_used", tier.ports_used);
    write_range(json, "hosts", tier.hosts);
    write_range(json, "uplinks", tier.uplinks);
    json.end_object();
  }
  json.end_array().key("links").begin_array();
  for (const NetworkSurvey::Speed& speed : survey.speeds) {
    json.begin_object().member("between", speed.between).member("link", speed.link);
    json.member("rate_gbps", speed.rate.gbps());
    json.member("cables", static_cast<std::int64_t>(speed.cables)).end_object();
  }
  json.end_array().key("rails").begin_array();
  for (const NetworkSurvey::Rail& rail : survey.rails) {
    json.begin_object().member("nic", rail.number);
    json.member("leaves", static_cast<std::int64_t>(rail.leaves));
    json.member("nics", static_cast<std::int64_t>(rail.nics)).end_object();
  }
  json.end_array().key("parts").begin_array();
  for (const std::size_t switches : survey.planes) json.value(static_cast<std::int64_t>(switches));
  json.end_array();
  json.member("expected_cables_between_tiers", survey.expected_cables);
  json.member("missing_cables", survey.missing_cables);
  json.member("worst_oversubscription", survey.worst_oversubscription);
  json.member("worst_leaf", survey.worst_leaf);
  json.key("missing").begin_array();
  for (const NetworkSurvey::MissingCables& pair : survey.missing) {
    json.begin_object().member("lower", pair.lower).member("upper", pair.upper);
    json.member("present", pair.present).member("expected", pair.expected).end_object();
  }
  json.end_array().key("findings").begin_array();
  for (const NetworkSurvey::Finding& finding : survey.findings)
    json.begin_object().member("kind", finding.kind).member("text", finding.text).end_object();
  json.end_array().key("assumptions").begin_array();
  for (const std::string& assumption : fabric.assumptions()) json.value(assumption);
  json.end_array().end_object();
  return json.take();
}

}  // namespace weft::report
