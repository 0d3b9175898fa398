// Forms of what `weft validate` found: a table for people, CSV (one line a point), JSON (schema
// weft/validate/1), and the Markdown of docs/accuracy.md.
#pragma once

#include "validate/score.h"

namespace weft::validate {

std::string scores_table(const Scores& scores);
std::string scores_csv(const Scores& scores);
std::string scores_json(const Map& map, const Scores& scores);
// Median absolute errors on the rows that each peer covers.
std::string peers_table(const Map& map, const std::vector<Point>& points);
std::string points_csv(const Map& map, const std::vector<Point>& points);

}  // namespace weft::validate
