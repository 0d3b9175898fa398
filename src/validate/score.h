// Scores of points: count, median, 90th percentile and signed mean of the relative error, by set,
// by class and in all. Percentiles by nearest rank.
#pragma once

#include <string>
#include <vector>

#include "validate/validate.h"

namespace weft::validate {

struct Score {
  std::size_t rows = 0;
  double median_abs_error = 0, p90_abs_error = 0, mean_error = 0;  // ratios: 0.05 is 5 %
};

struct SetScore {
  std::string name, kind, tier, excuse;
  Score score;
};

struct ClassScore {
  std::string name;
  Score all, judged;  // judged: without sets of tier C and sets that are excused
};

struct Scores {
  std::vector<SetScore> sets;
  std::vector<ClassScore> classes;  // by name
  Score total;                      // every row, excused ones too
};

// Of one class of measurements, on the judged rows that a peer covers.
struct PeerScore {
  std::string measure_class, peer;
  std::size_t rows = 0;
  double peer_median = 0, own_median = 0;
};

std::vector<PeerScore> score_peers(const Map& map, const std::vector<Point>& points);
Score score_of(std::vector<double> errors);
Scores score(const Map& map, const std::vector<Point>& points);

}  // namespace weft::validate
