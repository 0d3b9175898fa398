#include "validate/score.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace weft::validate {
namespace {

// The smallest value that at least `share` of the sorted values do not exceed.
double percentile(const std::vector<double>& sorted, double share) {
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())));
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

}  // namespace

Score score_of(std::vector<double> errors) {
  Score score;
  score.rows = errors.size();
  if (errors.empty()) return score;
  for (double& error : errors) {
    score.mean_error += error / static_cast<double>(errors.size());
    error = std::abs(error);
  }
  std::sort(errors.begin(), errors.end());
  score.median_abs_error = percentile(errors, 0.5);
  score.p90_abs_error = percentile(errors, 0.9);
  return score;
}

std::vector<PeerScore> score_peers(const Map& map, const std::vector<Point>& points) {
  struct Errors {
    std::vector<double> peer, own;
  };
  std::map<std::pair<std::string, std::size_t>, Errors> by_row;
  for (const Point& point : points) {
    // A run that the host holds back shows neither model.
    if (!map.sets[point.set].judged() || point.chosen == "host") continue;
    for (std::size_t p = 0; p < kPeerCount; ++p) {
      if (point.peers[p] <= 0) continue;
      for (const std::string& name : {point.measure_class, std::string("every row")}) {
        Errors& errors = by_row[{name, p}];
        errors.peer.push_back(point.peers[p] / point.measured - 1);
        errors.own.push_back(point.error());
      }
    }
  }
  std::vector<PeerScore> out;
  for (auto& [key, errors] : by_row) {
    const std::size_t rows = errors.peer.size();
    out.push_back({key.first, std::string(kPeerNames[key.second]), rows,
                   score_of(std::move(errors.peer)).median_abs_error,
                   score_of(std::move(errors.own)).median_abs_error});
  }
  return out;
}

Scores score(const Map& map, const std::vector<Point>& points) {
  std::vector<std::vector<double>> by_set(map.sets.size());
  std::map<std::string, std::pair<std::vector<double>, std::vector<double>>> by_class;
  std::vector<double> all;
  for (const Point& point : points) {
    const double error = point.error();
    by_set[point.set].push_back(error);
    auto& [rows, judged] = by_class[point.measure_class];
    rows.push_back(error);
    if (map.sets[point.set].judged()) judged.push_back(error);
    all.push_back(error);
  }
  Scores scores;
  for (std::size_t s = 0; s < map.sets.size(); ++s) {
    const Set& set = map.sets[s];
    scores.sets.push_back({set.name, std::string(set.kind->name()), set.tier, set.excuse,
                           score_of(std::move(by_set[s]))});
  }
  for (auto& [name, rows] : by_class)
    scores.classes.push_back({name, score_of(rows.first), score_of(rows.second)});
  scores.total = score_of(std::move(all));
  return scores;
}

}  // namespace weft::validate
