#include "validate/validate_report.h"

#include <fmt/format.h>

#include "base/json.h"

namespace weft::validate {
namespace {

std::string cells(const Score& score) {
  if (score.rows == 0) return fmt::format("{:>7} {:>9} {:>9} {:>9}", 0, "-", "-", "-");
  return fmt::format("{:>7} {:>7.1f} % {:>7.1f} % {:>+7.1f} %", score.rows,
                     score.median_abs_error * 100, score.p90_abs_error * 100,
                     score.mean_error * 100);
}

void write(JsonWriter& json, const Score& score) {
  json.member("rows", static_cast<std::uint64_t>(score.rows));
  json.member("median_abs_error", score.median_abs_error);
  json.member("p90_abs_error", score.p90_abs_error);
  json.member("mean_error", score.mean_error);
}

// CSV cell: quoted when it must be.
std::string cell(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

}  // namespace

std::string scores_table(const Scores& scores) {
  std::string out = fmt::format("{:<44} {:<4} {:>7} {:>9} {:>9} {:>9}\n", "set", "tier", "rows",
                                "median", "p90", "mean");
  for (const SetScore& set : scores.sets) {
    out += fmt::format("{:<44} {:<4} {}{}\n", set.name, set.tier, cells(set.score),
                       set.excuse.empty() ? "" : "  *");
  }
  out += fmt::format("\n{:<49} {:>7} {:>9} {:>9} {:>9}\n", "class, tiers A and B", "rows", "median",
                     "p90", "mean");
  for (const ClassScore& row : scores.classes)
    out += fmt::format("{:<49} {}\n", row.name, cells(row.judged));
  out += fmt::format("\n{:<49} {}\n", "every row", cells(scores.total));
  for (const SetScore& set : scores.sets)
    if (!set.excuse.empty()) out += fmt::format("* {}: {}\n", set.name, set.excuse);
  return out;
}

std::string scores_csv(const Scores& scores) {
  std::string out = "set,kind,tier,rows,median_abs_error,p90_abs_error,mean_error\n";
  const auto row = [&out](const std::string& name, const std::string& kind, const std::string& tier,
                          const Score& score) {
    out += fmt::format("{},{},{},{},{:.4f},{:.4f},{:.4f}\n", cell(name), kind, tier, score.rows,
                       score.median_abs_error, score.p90_abs_error, score.mean_error);
  };
  for (const SetScore& set : scores.sets) row(set.name, set.kind, set.tier, set.score);
  for (const ClassScore& each : scores.classes) row("class " + each.name, "", "AB", each.judged);
  row("total", "", "", scores.total);
  return out;
}

std::string scores_json(const Map& map, const Scores& scores) {
  JsonWriter json;
  json.begin_object().member("schema", "weft/validate/1").member("map", map.file);
  json.key("sets").begin_array();
  for (const SetScore& set : scores.sets) {
    json.begin_object().member("name", set.name).member("class", set.kind);
    json.member("tier", set.tier);
    write(json, set.score);
    if (!set.excuse.empty()) json.member("excuse", set.excuse);
    json.end_object();
  }
  json.end_array().key("classes").begin_object();
  for (const ClassScore& row : scores.classes) {
    json.key(row.name).begin_object();
    write(json, row.judged);
    json.end_object();
  }
  json.end_object().key("total").begin_object();
  write(json, scores.total);
  json.end_object().end_object();
  return json.take();
}

std::string peers_table(const Map& map, const std::vector<Point>& points) {
  std::string out = fmt::format("{:<24} {:<12} {:>6} {:>12} {:>12}\n", "class", "peer", "rows",
                                "its median", "Weft's");
  for (const PeerScore& row : score_peers(map, points)) {
    out += fmt::format("{:<24} {:<12} {:>6} {:>10.1f} % {:>10.1f} %\n", row.measure_class, row.peer,
                       row.rows, row.peer_median * 100, row.own_median * 100);
  }
  return out;
}

std::string points_csv(const Map& map, const std::vector<Point>& points) {
  std::string out =
      "set,system,judged,fit,line,what,class,nodes,capability,nic,nic_vendor,size_bytes,unit,"
      "measured,"
      "predicted,error,"
      "chosen,nccl_model_us,astra_sim_us,simai_us\n";
  for (const Point& point : points) {
    const Set& set = map.sets[point.set];
    out += fmt::format(
        "{},{},{},{},{},{},{},{},{},{},{},{},{},{:.6g},{:.6g},{:.4f},{},{:.6g},{:.6g},{:.6g}\n",
        cell(set.name), cell(set.system), set.judged() ? "yes" : "no",
        set.fit && set.judged() ? "yes" : "no", point.line, cell(point.what), point.measure_class,
        point.nodes, point.compute_capability, point.nic, point.nic_vendor, point.size.count(),
        point.unit, point.measured, point.predicted, point.error(), cell(point.chosen),
        point.peers[0], point.peers[1], point.peers[2]);
  }
  return out;
}

}  // namespace weft::validate
