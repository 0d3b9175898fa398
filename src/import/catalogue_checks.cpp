#include "import/catalogue_checks.h"

#include <fmt/format.h>

#include <cmath>
#include <string_view>

#include "base/text.h"

namespace weft::import {
namespace {

// Makers round: "100T" is 102.4. Twice is never rounding.
constexpr double kRounding = 0.03;

bool about(double a, double b) {
  return std::abs(a - b) <= kRounding * std::max(std::abs(a), std::abs(b));
}

std::string ports_text(const PartRecord& record) {
  std::string text;
  for (const std::string_view key : {"ports", "more_ports"}) {  // a record may state either alone
    const PartFigure* ports = record.figure(key);
    if (ports != nullptr) text += (text.empty() ? "" : " and ") + ports->value;
  }
  return text;
}

void check_stated(const PartRecord& record, double one_way, Diagnostics& diagnostics) {
  const PartFigure* stated = record.figure("capacity");
  if (stated == nullptr || !stated->amount || about(stated->amount->typical(), one_way)) return;
  const bool twice = about(stated->amount->typical(), 2 * one_way);
  diagnostics.add(
      stated->where,
      fmt::format("capacity of '{}' is {}{}, but its ports carry {:.6g}Tbps one way ({})",
                  record.name, stated->value, stated->unit, one_way, ports_text(record)),
      twice ? "that counts both ways: write it as 'headline' with 'headline_counts: both_ways'"
            : "capacity is ports x rate, one way");
}

void check_headline(const PartRecord& record, double one_way, Diagnostics& diagnostics) {
  const PartFigure* headline = record.figure("headline");
  const PartFigure* counts = record.figure("headline_counts");
  if (headline == nullptr || !headline->amount) return;
  if (counts == nullptr) {
    diagnostics.add(headline->where,
                    fmt::format("headline of '{}' does not say how it was counted", record.name),
                    "add 'headline_counts: one_way', 'both_ways' or 'unclear'");
    return;
  }
  if (counts->value == "unclear" || one_way == 0) return;
  const double expected = counts->value == "both_ways" ? 2 * one_way : one_way;
  if (about(headline->amount->typical(), expected)) return;
  diagnostics.add(headline->where,
                  fmt::format("headline of '{}' is {}{} counted {}, but its ports carry {:.6g}Tbps "
                              "one way ({})",
                              record.name, headline->value, headline->unit, counts->value, one_way,
                              ports_text(record)),
                  fmt::format("that counting would print {:.6g}Tbps", expected));
}

}  // namespace

void check_capacity(const PartRecord& record, Diagnostics& diagnostics) {
  const double one_way = record.capacity().gbps() / 1000;
  const PartFigure* stated = record.figure("capacity");
  if (one_way > 0) check_stated(record, one_way, diagnostics);
  const double stated_one_way = stated != nullptr && stated->amount ? stated->amount->typical() : 0;
  check_headline(record, one_way > 0 || stated_one_way == 0 ? one_way : 0, diagnostics);
}

void check_sums(const PartRecord& record, Diagnostics& diagnostics) {
  const auto rate = record.number("rate");
  const auto links = record.number("links_per_gpu");
  const auto per_gpu = record.number("per_gpu");
  if (rate && links && per_gpu && !about(*per_gpu, *links * *rate / 8)) {
    diagnostics.add(record.figure("per_gpu")->where,
                    fmt::format("per_gpu of '{}' is not links_per_gpu x rate = {:.6g}GB/s",
                                record.name, *links * *rate / 8),
                    "one of the three counts both ways");
  }
  const PartFigure* power = record.figure("power");
  const PartFigure* most = record.figure("power_max");
  if (power == nullptr || most == nullptr || !power->amount || !most->amount) return;
  if (power->amount->low <= most->amount->high) return;
  diagnostics.add(most->where, fmt::format("power_max of '{}' is below its power", record.name),
                  "power is typical, power_max the most");
}

}  // namespace weft::import
